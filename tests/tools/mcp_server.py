"""A small MCP server on standard input and output, for the tests of the tool `mcp`.

    python mcp_server.py [WORD]

The word says how it misbehaves: `silent`, `dies`, `chatter`, `asks`, `old`, `future`, `polite`,
`lingers`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any, TextIO

TOOLS = ["add", "echo", "fail", "picture", "secret", "env"]


def answer(request: dict[str, Any], how: str) -> dict[str, Any] | None:
    """What this server answers to a message; None to a notification."""
    if "id" not in request or "method" not in request:
        return None
    method, params = request["method"], request.get("params") or {}
    said: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
    if method == "initialize":
        version = {"old": "2024-11-05", "future": "2099-01-01"}.get(how, params["protocolVersion"])
        about = {"name": "lab", "version": "1"}
        said["result"] = {"protocolVersion": version, "capabilities": {}, "serverInfo": about}
    elif method == "tools/list":
        said["result"] = {"tools": [{"name": name} for name in TOOLS]}
    elif method == "tools/call" and params["name"] in TOOLS:
        said["result"] = called(params["name"], params.get("arguments") or {})
    elif method == "tools/call" and how == "polite":
        text = {"type": "text", "text": f"Unknown tool: {params['name']}"}
        said["result"] = {"content": [text], "isError": True}
    elif method == "tools/call":
        said["error"] = {"code": -32602, "message": f"Unknown tool: {params['name']}"}
    else:
        said["error"] = {"code": -32601, "message": "Method not found"}
    return said


def called(name: str, args: dict[str, Any]) -> dict[str, Any]:
    match name:
        case "add":
            total = args["a"] + args["b"]
            text = {"type": "text", "text": str(total)}
            return {"content": [text], "structuredContent": {"sum": total}}
        case "echo":
            return {"content": [{"type": "text", "text": str(one)} for one in args["texts"]]}
        case "fail":
            return {"content": [{"type": "text", "text": "no stock left"}], "isError": True}
        case "picture":
            return {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]}
        case _:
            return {"content": [{"type": "text", "text": os.environ.get(args["name"], "unset")}]}


def say(text: str, file: TextIO = sys.stdout) -> None:
    file.write(f"{text}\n")
    file.flush()


def serve(how: str) -> None:
    if how == "lingers":  # a child that would outlive it
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", sys.argv[-1]])
    for line in sys.stdin:
        request = json.loads(line)
        if request.get("method") == "tools/call":
            if how in ("silent", "lingers"):
                time.sleep(600)
            if how == "dies":
                say("out of paper", sys.stderr)
                os._exit(3)
            if how == "chatter":
                say("Listening on stdio …")
            if how == "asks":
                say(json.dumps({"jsonrpc": "2.0", "method": "notifications/message"}))
                for number, method in ((7, "ping"), (8, "roots/list")):
                    say(json.dumps({"jsonrpc": "2.0", "id": number, "method": method}))
                    say(sys.stdin.readline().strip(), sys.stderr)
        said = answer(request, how)
        if said is not None:
            say(json.dumps(said))


if __name__ == "__main__":
    serve(sys.argv[1] if len(sys.argv) > 1 else "")
