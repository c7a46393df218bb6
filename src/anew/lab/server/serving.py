"""Serve the routes over the HTTP stack of the API. Nothing a client sends ends the server.

Reads a request within its limits, and writes its answer, or as much of it as the route wants
before the connection is reset. Does not know what routes do.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from functools import partial
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl

import uvicorn
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
from uvicorn.server import ServerState

from anew.http_server.connections import ConnectionLimits, ConnectionProblem, LimitedConnection
from anew.http_server.listening import address_of, bind
from anew.lab.server.ledger import CallLedger
from anew.lab.server.routes import LabProblem, LabRequest, LabResponse, response_to

LAB_CONNECTIONS_MAX = 256
# Room for any header a client really sends; a longer head is a mistake or an attack.
LAB_HEAD_BYTES_MAX = 32 << 10
LAB_HEADERS_MAX = 100
LAB_BODY_BYTES_MAX = 1 << 20
# A connection that says nothing for so long is closed.
LAB_IDLE_SECONDS_MAX = 60
_LIMITS = ConnectionLimits(
    header_bytes_max=LAB_HEAD_BYTES_MAX,
    headers_max=LAB_HEADERS_MAX,
    header_seconds_max=LAB_IDLE_SECONDS_MAX,
    body_pause_seconds_max=LAB_IDLE_SECONDS_MAX,
    connections_max=LAB_CONNECTIONS_MAX,
)
_WITHOUT_BODY = (204, 304)
_RESET = "anew.reset"


class LabServer:
    """The server while it is entered: `async with LabServer() as server: server.url`."""

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self._host = host
        self._port = port
        self._listener: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._state = ServerState()
        self._idle_since = time.monotonic()
        self._requests_open = 0
        self.ledger = CallLedger()
        self.connections_seen = 0

    @property
    def url(self) -> str:
        """Its address without a slash at the end."""
        assert self._listener is not None, "the server is not running"
        return address_of(self._listener)

    @property
    def idle_seconds(self) -> float:
        """How long no request has been under way."""
        return 0.0 if self._requests_open else time.monotonic() - self._idle_since

    async def __aenter__(self) -> LabServer:
        self._listener = bind(self._host, self._port)
        config = uvicorn.Config(
            self._serve,
            interface="asgi3",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_keep_alive=LAB_IDLE_SECONDS_MAX,
        )
        connect = partial(self._connect, config)
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(connect, sock=self._listener)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for connection in list(self._state.connections):
            connection.transport.abort()
        requests = list(self._state.tasks)
        for request in requests:
            request.cancel()
        await asyncio.gather(*requests, return_exceptions=True)
        await self._server.wait_closed()

    def _connect(self, config: uvicorn.Config) -> LimitedConnection:
        self.connections_seen += 1
        return _LabConnection(config, self._state, {}, limits=_LIMITS, respond=_refused)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._requests_open += 1
        try:
            response = await response_to(await _request(scope, receive, self.ledger))
        except LabProblem as problem:
            response = problem.response
        finally:
            self._requests_open -= 1
            self._idle_since = time.monotonic()
        if response.cut_at is None:
            await _whole(response)(scope, receive, send)
        else:
            await _cut(response, response.cut_at, scope, receive, send)


class _LabConnection(LimitedConnection):
    """A connection that a route can reset."""

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        cycle.scope["state"][_RESET] = self._reset
        super()._start_asgi_task(cycle, app)

    def _reset(self) -> None:
        """End the connection as a crashed server does: a reset instead of a farewell."""
        connection = self.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


async def _request(scope: Scope, receive: Receive, ledger: CallLedger) -> LabRequest:
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = _text(raw_name), _text(raw_value)
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    try:
        query = scope["query_string"].decode("ascii")
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=LAB_HEADERS_MAX)
    except ValueError:
        raise LabProblem(400, "the address cannot be read") from None
    body = await _body(headers, receive)
    return LabRequest(scope["method"], scope["path"], dict(pairs), headers, body, ledger)


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


async def _body(headers: dict[str, str], receive: Receive) -> bytes:
    if "transfer-encoding" in headers:
        raise LabProblem(411, "send the body with Content-Length", is_last=True)
    if int(headers.get("content-length", "0")) > LAB_BODY_BYTES_MAX:
        detail = f"the body is longer than {LAB_BODY_BYTES_MAX:,} bytes"
        raise LabProblem(413, detail, is_last=True)
    pieces, has_more = [], True
    while has_more:
        message = await receive()
        pieces.append(message.get("body", b""))
        has_more = message.get("more_body", False)
    return b"".join(pieces)


def _whole(response: LabResponse) -> Response:
    body = b"" if response.status in _WITHOUT_BODY else response.body
    # Parts of the query come back in headers: white space must not end one.
    headers = {name: " ".join(value.split()) for name, value in response.headers.items()}
    headers = {
        name: value.encode("latin-1", "replace").decode("latin-1")
        for name, value in headers.items()
    }
    return Response(body, response.status, headers)


async def _cut(
    response: LabResponse, size: int, scope: Scope, receive: Receive, send: Send
) -> None:
    """Send so much of the body and reset; of an answer that is lost as a whole, not even a head."""
    if size:
        whole = _whole(response)
        start = {
            "type": "http.response.start",
            "status": whole.status_code,
            "headers": whole.raw_headers,
        }
        await send(start)
        await send({"type": "http.response.body", "body": response.body[:size], "more_body": True})
    scope["state"][_RESET]()
    while (await receive())["type"] != "http.disconnect":
        pass


def _refused(problem: ConnectionProblem) -> Response:
    return _whole(LabProblem(problem.status, problem.detail).response)
