"""An MCP server with one tool, on standard input and output."""

import json
import sys

PRICES = {"pen": 2.5, "ink": 11}


def answer(method: str, params: dict) -> dict:
    if method == "initialize":
        about = {"name": "prices", "version": "1"}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [{"name": "price", "inputSchema": {"type": "object"}}]}
    item = params["arguments"]["item"]
    if item not in PRICES:
        return {"content": [{"type": "text", "text": f"there is no {item}"}], "isError": True}
    text = {"type": "text", "text": str(PRICES[item])}
    return {"content": [text], "structuredContent": {"price": PRICES[item]}}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request["method"], request["params"])
        reply = {"jsonrpc": "2.0", "id": request["id"], "result": result}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
