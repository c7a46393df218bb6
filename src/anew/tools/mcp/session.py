"""The Model Context Protocol, as far as one call needs it: handshake, call, answer.

JSON-RPC messages go out and come in over a link, of which nothing is known but that. No
capabilities are offered, so a server has nothing to ask of us but whether we are there.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Protocol

import msgspec

from anew import __version__
from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.values import Object, Value, json_text

# The newest revision that starts with a handshake, and those a server may choose instead.
PROTOCOL = "2025-11-25"
KNOWN_PROTOCOLS = (PROTOCOL, "2025-06-18", "2025-03-26", "2024-11-05")
# Messages that may come before the answer to a request: progress, log lines.
MCP_MESSAGES_MAX = 10_000
# How long a server may take to end, or to be told that its session is over.
MCP_GRACE_SECONDS_MAX = 2.0
# Pages of a list of tools that are looked at for a name.
_LIST_PAGES = 20
_QUOTE_CHARS = 200

_METHOD_NOT_FOUND, _INVALID_PARAMS = -32601, -32602
# How servers say it that have the failure of a tool for it, not an error of the protocol.
_NO_TOOL = re.compile(r"unknown tool|tool\b.{0,80}\bnot found", re.IGNORECASE | re.DOTALL)


class McpProblem(Exception):
    """The server broke the protocol, or refused a request; `kind` is that of the outcome."""

    def __init__(
        self,
        kind: str,
        message: str,
        code: int | None = None,
        *,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.code = code
        self.retry_after = retry_after

    def outcome(self) -> Outcome:
        said = {"code": self.code, "retry_after": self.retry_after}
        more = {name: value for name, value in said.items() if value is not None}
        return outcome_of(error=error_of(self.kind, self.message, **more))


class McpLink(Protocol):
    """Messages to and from one server. `receive` gives what came; McpProblem at the end."""

    async def send(self, message: Object) -> None: ...

    async def receive(self) -> Object: ...

    def agreed(self, protocol: str) -> None:
        """Both sides know now which revision they speak."""


class McpSession:
    def __init__(self, link: McpLink) -> None:
        self._link = link
        self._number = 0

    async def call(self, tool: str, args: Object) -> Outcome:
        """The outcome of one tool call, after the handshake."""
        await self._greet()
        try:
            result = await self._ask("tools/call", {"name": tool, "arguments": args})
        except McpProblem as problem:
            if problem.code not in (_METHOD_NOT_FOUND, _INVALID_PARAMS):
                raise
            raise await self._explained(problem, tool) from None
        outcome = _outcome(result)
        if outcome.error is not None and _NO_TOOL.search(outcome.error["message"]):
            refusal = McpProblem("tool_error", outcome.error["message"])
            explained = await self._explained(refusal, tool)
            return explained.outcome() if explained.kind == "reference" else outcome
        return outcome

    async def _greet(self) -> None:
        about = {"name": "anew", "version": __version__}
        offer = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": about}
        answer = await self._ask("initialize", offer)
        chosen = answer.get("protocolVersion")
        if chosen not in KNOWN_PROTOCOLS:
            known = ", ".join(KNOWN_PROTOCOLS)
            message = f"the MCP server speaks the protocol {chosen!r}; Anew speaks {known}"
            raise McpProblem("config", message)
        self._link.agreed(str(chosen))
        await self._link.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def _ask(self, method: str, params: Object) -> Object:
        self._number += 1
        number = self._number
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        await self._link.send(request)
        for _ in range(MCP_MESSAGES_MAX):
            message = await self._link.receive()
            if "method" in message:
                if "id" in message:
                    await self._refuse(message)
            elif message.get("id") == number:
                return _result_in(message, method)
        limit = f"more than {MCP_MESSAGES_MAX:,} messages (MCP_MESSAGES_MAX)"
        raise McpProblem("limit_exceeded", f"the MCP server sent {limit} before its answer")

    async def _refuse(self, request: Object) -> None:
        """Answer what the server asks: that we are here, and nothing else."""
        answer: Object = {"jsonrpc": "2.0", "id": request["id"]}
        if request["method"] == "ping":
            answer["result"] = {}
        else:
            answer["error"] = {"code": _METHOD_NOT_FOUND, "message": "not offered by this client"}
        await self._link.send(answer)

    async def _explained(self, problem: McpProblem, tool: str) -> McpProblem:
        """A refusal, with the names of the tools when this one is not among them."""
        names: list[str] = []
        cursor: Value = None
        for _ in range(_LIST_PAGES):
            try:
                page = await self._ask("tools/list", {"cursor": cursor} if cursor else {})
                tools = _objects_in(page, "tools", "tools/list")
            except McpProblem:
                return problem
            names += [str(one.get("name")) for one in tools]
            cursor = page.get("nextCursor")
            if not cursor:
                break
        if tool in names:
            return McpProblem("config", problem.message, problem.code)
        near = get_close_matches(tool, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(names) or 'none'}"
        message = f"the MCP server has no tool {tool!r}; {hint}"
        return McpProblem("reference", message, problem.code)


def _result_in(message: Object, method: str) -> Object:
    error = message.get("error")
    if isinstance(error, dict):
        code = error.get("code")
        text = f"the MCP server refused {method}: {error.get('message') or json_text(error)}"
        raise McpProblem("tool_error", text, code if isinstance(code, int) else None)
    result = message.get("result")
    if not isinstance(result, dict):
        raise McpProblem("tool_error", f"the MCP server's answer to {method} has no result")
    return result


def messages_in(text: bytes | str) -> list[Object]:
    """The messages of a text of JSON: one, or a list of them."""
    why = ""
    try:
        said = msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        said, why = None, f" ({error})"
    found = said if isinstance(said, list) else [said]
    if not all(isinstance(one, dict) for one in found):
        shown = text if isinstance(text, str) else text.decode(errors="replace")
        quoted = f"{shown.strip()[:_QUOTE_CHARS]!r}{why}"
        raise McpProblem(
            "tool_error", f"the MCP server sent something that is not a message: {quoted}"
        )
    return found


def _objects_in(result: Object, name: str, method: str) -> list[Object]:
    found = result.get(name) or []
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        text = f"the MCP server's answer to {method} has `{name}` that is not a list of objects"
        raise McpProblem("tool_error", text)
    return found


def _outcome(result: Object) -> Outcome:
    """What a tool gave: structured content, else its text; other content as a list."""
    content = _objects_in(result, "content", "tools/call")
    texts = [one.get("text") for one in content]
    text = "\n".join(str(one) for one in texts if one is not None)
    if result.get("structuredContent") is not None:
        given: Value = result["structuredContent"]
    else:
        given = text if all(one is not None for one in texts) else content
    if result.get("isError") is True:
        return outcome_of(given, error=error_of("tool_error", text or "the tool failed"))
    return outcome_of(given)
