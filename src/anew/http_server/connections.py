"""One connection: how much it may send before it is known who sends it, and how slowly.

Everything here holds before the token is looked at, so that strangers can fill neither the memory
nor the file descriptors of a server. Knows neither routes nor how a problem is written.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from enum import Enum, auto
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from msgspec import Struct
from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from anew.http_server.write_coalescing import CoalescedWrites
from anew.posix import open_files_max

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
    from uvicorn.config import Config
    from uvicorn.server import ServerState

# The target and all headers of a request; trailers count with them.
HEADER_BYTES_MAX = 64 * 1024
HEADERS_MAX = 100
# From the first byte of a request, or from the connection's beginning, to the end of its headers.
HEADER_SECONDS_MAX = 10.0
# From one piece of a body to the next.
BODY_PAUSE_SECONDS_MAX = 30.0
# The other half of the file descriptors is for the database and for tools.
CLIENT_CONNECTIONS_MAX = 4_000
_CONNECTIONS_PER_DESCRIPTOR = 0.5
# Who is refused while sending hears why only if we read on for a moment.
_LINGER_SECONDS = 2.0
_LINGER_BYTES_MAX = 1024 * 1024
_AUTHORITY_END = re.compile(rb"[/?#]")


class ConnectionProblem(Struct, frozen=True):
    """Why a connection is closed: a word for machines, a sentence for people."""

    kind: Literal["bad-request", "headers-too-large", "too-slow", "unavailable"]
    detail: str
    headers: Mapping[str, str] = {}

    @property
    def status(self) -> int:
        return _STATUSES[self.kind]


_STATUSES = {"bad-request": 400, "too-slow": 408, "headers-too-large": 431, "unavailable": 503}
STOPPING = ConnectionProblem(
    "unavailable", "the server is stopping. Try again, or ask another.", {"Retry-After": "1"}
)
# How a problem is written.
Respond: TypeAlias = Callable[[ConnectionProblem], Response]


class ConnectionLimits(Struct, frozen=True, kw_only=True):
    header_bytes_max: int = HEADER_BYTES_MAX
    headers_max: int = HEADERS_MAX
    header_seconds_max: float = HEADER_SECONDS_MAX
    body_pause_seconds_max: float = BODY_PAUSE_SECONDS_MAX
    connections_max: int = CLIENT_CONNECTIONS_MAX


def own_limits() -> ConnectionLimits:
    """Those of this process: it has no more connections than half of what it may open."""
    files = open_files_max()
    if files is None:
        return ConnectionLimits()
    most = max(1, int(files * _CONNECTIONS_PER_DESCRIPTOR))
    return ConnectionLimits(connections_max=min(most, CLIENT_CONNECTIONS_MAX))


class _Part(Enum):
    """What the connection sends next."""

    NOTHING = auto()
    HEADER = auto()
    BODY = auto()


class _Refused(Exception):
    """Ends the parsing of a request."""


class LimitedConnection(HttpToolsProtocol):
    """uvicorn's, with limits. `_deadline` is when the part that is being sent has to be there."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        limits: ConnectionLimits,
        respond: Respond,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._limits = limits
        self._respond = respond
        self._part = _Part.NOTHING
        self._deadline = 0.0
        self._watch: asyncio.TimerHandle | None = None
        self._header_bytes = 0
        self._unused_bytes = 0
        self._has_moved = False
        self._why: ConnectionProblem | None = None
        self._lingers_for: int | None = None
        self._answer: CoalescedWrites | None = None

    # --- what the transport says

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        most, count = self._limits.connections_max, len(self.connections)
        if count > most + most // 4:
            transport.abort()  # too many even to be told so
        elif count > most:
            detail = f"{most:,} connections are open here; there can be no more"
            self._refuse(ConnectionProblem("unavailable", detail, {"Retry-After": "1"}))
        else:
            self._expect(_Part.HEADER, self._limits.header_seconds_max)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def data_received(self, data: bytes) -> None:
        if self._lingers_for is not None:
            self._throw_away(data)
            return
        if self._part is _Part.NOTHING:
            self._expect(_Part.HEADER, self._limits.header_seconds_max)
        self._has_moved = False
        super().data_received(data)
        if self._lingers_for is None:
            self._look_at_what_is_left(data)

    def _look_at_what_is_left(self, data: bytes) -> None:
        """The parser keeps a header until it is whole: what came to nothing yet is counted, too."""
        self._unused_bytes = 0 if self._has_moved else self._unused_bytes + len(data)
        if self._unused_bytes > self._limits.header_bytes_max:
            self._refuse(self._too_much())
        elif self._part is _Part.NOTHING and self._is_idle and not self.timeout_keep_alive_task:
            # The rest of a request that was answered before it was whole.
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    # --- what the parser says

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._header_bytes = 0
        self._expect(_Part.HEADER, self._limits.header_seconds_max)

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        super().on_header(name, value)
        if len(self.headers) > self._limits.headers_max:
            self._why = self._too_much()
            raise _Refused

    def on_headers_complete(self) -> None:
        self._has_moved = True
        self._check_target()
        self._check_framing()
        self._expect(_Part.BODY, self._limits.body_pause_seconds_max)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._has_moved = True
        self._expect(_Part.BODY, self._limits.body_pause_seconds_max)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._has_moved = True
        self._part = _Part.NOTHING
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """What cannot be parsed, or was refused while it was."""
        del msg
        self._refuse(
            self._why or ConnectionProblem("bad-request", "this is not HTTP as it should be")
        )

    def _check_target(self) -> None:
        """A target with a host must not say another than the header that is looked at."""
        scheme, has_host, rest = self.url.partition(b"://")
        if not has_host or b"/" in scheme:
            return
        host = _AUTHORITY_END.split(rest, maxsplit=1)[0].lower()
        if any(name == b"host" and value.lower() != host for name, value in self.headers):
            self._why = ConnectionProblem(
                "bad-request", "the target has another host than the Host header"
            )
            raise _Refused

    def _check_framing(self) -> None:
        """Where a body ends must be plain to everyone who passes it on, not to our parser only."""
        encodings = [value for name, value in self.headers if name == b"transfer-encoding"]
        if encodings and [value.strip().lower() for value in encodings] != [b"chunked"]:
            detail = "the Transfer-Encoding of a request can be `chunked`, once, and nothing else"
            self._why = ConnectionProblem("bad-request", detail)
            raise _Refused

    def _count(self, more: int) -> None:
        self._header_bytes += more
        if self._header_bytes > self._limits.header_bytes_max:
            self._why = self._too_much()
            raise _Refused

    def _too_much(self) -> ConnectionProblem:
        limits = self._limits
        detail = (
            "the target and the headers have more than "
            f"{limits.header_bytes_max:,} bytes (HEADER_BYTES_MAX), or there are more than "
            f"{limits.headers_max:,} headers (HEADERS_MAX)"
        )
        return ConnectionProblem("headers-too-large", detail)

    # --- deadlines

    def _expect(self, part: _Part, seconds: float) -> None:
        """Something of this part has to come within so many seconds."""
        self._part = part
        self._deadline = self.loop.time() + seconds
        if self._watch is not None and self._watch.when() <= self._deadline:
            return  # it looks again by itself: a timer for each piece would be dear
        if self._watch is not None:
            self._watch.cancel()
        self._watch = self.loop.call_at(self._deadline, self._look)

    def _look(self) -> None:
        self._watch = None
        if self._part is _Part.NOTHING or self.transport.is_closing():
            return
        if self._waits_for_us:
            self._expect(self._part, self._limits.body_pause_seconds_max)
        elif self.loop.time() < self._deadline:
            self._watch = self.loop.call_at(self._deadline, self._look)
        else:
            self._refuse(
                ConnectionProblem("too-slow", "the rest of the request did not come in time")
            )

    @property
    def _waits_for_us(self) -> bool:
        """Nothing can come while we do not read, or have not said that we shall."""
        request = self._request
        asks_first = request is not None and request.waiting_for_100_continue
        return self.flow.read_paused or (self._part is _Part.BODY and asks_first)

    # --- the end

    @property
    def _request(self) -> RequestResponseCycle | None:
        """The one that came last; None before the first."""
        return self.cycle

    @property
    def _is_idle(self) -> bool:
        """No request is at work."""
        return self._request is None or (not self.pipeline and self._request.response_complete)

    def _refuse(self, problem: ConnectionProblem) -> None:
        """Say why, unless an answer is under way, and close."""
        if self.transport.is_closing() or self._lingers_for is not None:
            return
        self._unset_keepalive_if_required()
        if self._may_say():
            self.transport.write(_on_the_wire(self._respond(problem)))
        self._part = _Part.NOTHING
        if not self._is_idle:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._linger()

    def _may_say(self) -> bool:
        if self._is_idle:
            return True
        # The refused request is the one that is at work, and has no answer yet.
        is_own = self._part is not _Part.HEADER and not self.pipeline
        return is_own and not self.cycle.response_started

    def _linger(self) -> None:
        self._lingers_for = _LINGER_BYTES_MAX
        if self._answer is not None:
            self._answer.flush()
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        if self._watch is not None:
            self._watch.cancel()
        self._watch = self.loop.call_later(_LINGER_SECONDS, self.transport.abort)

    def _throw_away(self, data: bytes) -> None:
        assert self._lingers_for is not None
        self._lingers_for -= len(data)
        if self._lingers_for < 0:
            self.transport.abort()

    # --- the answer

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answer = CoalescedWrites(self.transport, self.loop)
        cycle.transport = cast(asyncio.Transport, self._answer)
        super()._start_asgi_task(cycle, partial(self._run_app, app, cycle))

    async def _run_app(
        self, app: ASGIApp, cycle: RequestResponseCycle, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Only a server that stops cancels a request: who waits is told, and nobody else."""
        try:
            await app(scope, receive, send)
        except asyncio.CancelledError:
            if cycle.response_started:
                cycle.disconnected = True
                cycle.transport.abort()
            else:
                answer = self._respond(STOPPING)
                answer.headers["Connection"] = "close"
                await answer(scope, receive, send)


def _on_the_wire(answer: Response) -> bytes:
    """An answer that no application gives."""
    answer.headers["Connection"] = "close"
    status = HTTPStatus(answer.status_code)
    lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode()]
    lines += [name + b": " + value for name, value in answer.raw_headers]
    return b"\r\n".join([*lines, b"", bytes(answer.body)])


def connections(limits: ConnectionLimits, respond: Respond) -> Callable[..., LimitedConnection]:
    """What uvicorn makes its connections with."""
    return partial(LimitedConnection, limits=limits, respond=respond)
