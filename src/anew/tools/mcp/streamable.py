"""A server that is reached over HTTP: every message is a POST, answers are JSON or a stream.

Requests are made as those of the `http` tool are, with its guard, credentials and limits.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

import httpx2
from msgspec.structs import replace

from anew.engine.http_statuses import http_error_kind, http_status_text
from anew.engine.outcome import retry_after_seconds
from anew.tool import Call
from anew.tools.http.clients import Clients, Handshake
from anew.tools.http.failures import FAILURES
from anew.tools.http.request import prepare
from anew.tools.http.response import place_of, read_body
from anew.tools.mcp.servers import McpAddress
from anew.tools.mcp.session import MCP_GRACE_SECONDS_MAX, McpProblem, messages_in
from anew.values import Object

_SESSION, _PROTOCOL = "mcp-session-id", "mcp-protocol-version"
_STREAM = "text/event-stream"
_ACCEPT = f"application/json, {_STREAM}"


class HttpLink:
    """One session. A request is answered before the next one is made."""

    def __init__(self, call: Call, address: McpAddress, clients: Clients, bytes_max: int) -> None:
        self._call = call
        self._address = address
        self._client = clients.client_for(address.verify, call.folder)
        self._bytes_max = bytes_max
        self._headers: dict[str, str] = {}
        self._came: deque[Object] = deque()

    def agreed(self, protocol: str) -> None:
        self._headers[_PROTOCOL] = protocol

    async def send(self, message: Object) -> None:
        """Post a message, and keep what is answered up to the answer to it."""
        response = await self._sent("POST", message)
        try:
            await self._take(response, message)
        finally:
            await response.aclose()

    async def receive(self) -> Object:
        if not self._came:
            raise McpProblem("connection", "connection lost: the MCP server ended without answer")
        return self._came.popleft()

    async def end(self) -> None:
        """Tell the server that its session is over; one that does not care says so."""
        if _SESSION in self._headers:
            with suppress(*FAILURES):
                async with asyncio.timeout(MCP_GRACE_SECONDS_MAX):
                    response = await self._sent("DELETE", None)
                    await response.aclose()

    async def _sent(self, method: str, message: Object | None) -> httpx2.Response:
        headers = {**self._address.headers, "Accept": _ACCEPT, **self._headers}
        inputs: Object = {"url": self._address.url, "method": method, "headers": headers}
        inputs |= {"json": message, "auth": self._call.inputs.get("auth")}
        prepared = prepare(replace(self._call, kind="http", inputs=inputs))
        timeout = self._call.timeout
        request = self._client.build_request(
            prepared.method,
            prepared.url,
            content=prepared.sent,
            headers=[(name.encode("ascii"), value) for name, value in prepared.headers],
            timeout=httpx2.Timeout(timeout.read, connect=timeout.connect, pool=None),
            extensions={"trace": Handshake().watch},
        )
        return await self._client.send(request, stream=True, follow_redirects=False)

    async def _take(self, response: httpx2.Response, message: Object) -> None:
        status = response.status_code
        if not 200 <= status <= 299:
            text = f"{http_status_text(status)} from POST {place_of(response.url)}"
            told = {"http": {"headers": response.headers}}
            wait = retry_after_seconds(None, told, time.time_ns())
            raise McpProblem(http_error_kind(status), text, status, retry_after=wait)
        if _SESSION in response.headers:
            self._headers[_SESSION] = response.headers[_SESSION]
        if "id" not in message or "method" not in message:
            return  # a notification, or an answer: nothing comes back
        if response.headers.get("content-type", "").lower().startswith(_STREAM):
            await self._take_stream(response, message)
        else:
            body = await read_body(response, self._bytes_max)
            self._came.extend(messages_in(body))

    async def _take_stream(self, response: httpx2.Response, message: Object) -> None:
        """Read until the answer is there: some servers leave the stream open."""
        async with aclosing(_events(response, self._bytes_max)) as events:
            async for data in events:
                for one in messages_in(data):
                    self._came.append(one)
                    if "method" not in one and one.get("id") == message["id"]:
                        return
                    if "method" in one and "id" in one and one["method"] == "ping":
                        await self.send({"jsonrpc": "2.0", "id": one["id"], "result": {}})
                        self._came.pop()


async def _events(response: httpx2.Response, bytes_max: int) -> AsyncGenerator[str, None]:
    """The data of each event of a stream."""
    lines: list[str] = []
    size = 0
    async for line in response.aiter_lines():
        size += len(line)
        if size > bytes_max:
            limit = f"HTTP_RESPONSE_BYTES_MAX ({bytes_max:,} bytes)"
            raise McpProblem("limit_exceeded", f"the answer is longer than {limit}")
        if line.startswith("data:"):
            lines.append(line.removeprefix("data:").removeprefix(" "))
        elif not line and lines:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)
