"""Posts bytes to one server over HTTP/1.1, on connections that are kept.

Every commit of a worker goes through here: a request is one write, an answer is read by the parser
that the server uses. Knows when a request was never sent and when it may have been heard. Does not
know what is asked, nor whether to ask again.
"""

from __future__ import annotations

import asyncio
import select
from typing import NamedTuple, cast

from httptools import HttpParserError, HttpResponseParser

from anew.stores.remote.route import NetworkRoute, NotSent, open_line
from anew.stores.remote.wire import ANSWER_BYTES_MAX

SERVER_CONNECT_SECONDS_MAX = 5.0
# Servers close a connection that nobody used for 5 seconds.
SERVER_IDLE_SECONDS_MAX = 4.0
ANSWER_HEADER_BYTES_MAX = 64 * 1024


class NotAnswered(Exception):
    """The request may have been heard, and may have been done."""


class NotHttp(NotAnswered):
    """Something else than HTTP is spoken there."""


class ReplyTooLarge(NotAnswered):
    """The answer goes on and on."""


class HttpReply(NamedTuple):
    """The names of headers are in small letters."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes


class Line(asyncio.Protocol):
    """One connection: one request, then its answer. Whatever goes wrong closes it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._parser = HttpResponseParser(self)
        # Behind a proxy a connection can be lost before it was made.
        self._transport: asyncio.Transport | None = None
        self._asked: asyncio.Future[HttpReply] | None = None
        self._seconds = 0.0
        self._deadline = 0.0
        self._watch: asyncio.TimerHandle | None = None
        self._unsent = 0
        self._begin()
        self.lost: asyncio.Future[None] = self._loop.create_future()
        self.used_at = self._loop.time()

    def _begin(self) -> None:
        """The state of an answer of which nothing has come."""
        self._headers: dict[bytes, bytes] = {}
        self._pieces: list[bytes] = []
        self._received = 0
        self._has_headers = False

    async def ask(self, pieces: list[bytes], *, answer_seconds: float) -> HttpReply:
        """So many seconds may pass until something comes, and from then on until more does."""
        asked: asyncio.Future[HttpReply] = self._loop.create_future()
        self._asked = asked
        self._begin()
        self._seconds = answer_seconds
        try:
            self._write(pieces)
            return await asked
        finally:
            # Unless it is answered, an answer may yet come, and would be taken for the next one.
            if self._asked is not None:
                self._asked = None
                self.abort()

    def _write(self, pieces: list[bytes]) -> None:
        if self._transport is None or self._transport.is_closing():
            raise NotSent("the connection was closed")
        self._transport.writelines(pieces)
        self._expect()

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_old(self) -> bool:
        return self._loop.time() - self.used_at > SERVER_IDLE_SECONDS_MAX

    def is_fresh(self) -> bool:
        """Whether the server has neither closed it nor is about to, nor said something unasked."""
        if self._transport is None or not self.is_open or self.is_old:
            return False
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)
        return not poll.poll(0)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _unsent_bytes(self) -> int:
        return self._transport.get_write_buffer_size() if self._transport is not None else 0

    # --- what the transport says

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._asked is None:
            self.abort()  # nobody asked
            return
        self._received += len(data)
        self._deadline = self._loop.time() + self._seconds
        if self._received > ANSWER_BYTES_MAX + ANSWER_HEADER_BYTES_MAX:
            self._fail(ReplyTooLarge(f"its answer is over {ANSWER_BYTES_MAX:,} bytes"))
            return
        try:
            self._parser.feed_data(data)
        except HttpParserError as error:
            self._fail(NotHttp(str(error)))
        if not self._has_headers and self._received > ANSWER_HEADER_BYTES_MAX:
            self._fail(ReplyTooLarge(f"its headers are over {ANSWER_HEADER_BYTES_MAX:,} bytes"))

    def connection_lost(self, error: Exception | None) -> None:
        if self._asked is not None and error is None and self._ends_with_the_connection:
            self.on_message_complete()
        said = str(error) if error is not None else "it closed the connection without an answer"
        self._fail(NotAnswered(said))
        if self._watch is not None:
            self._watch.cancel()
        if not self.lost.done():
            self.lost.set_result(None)

    # --- what the parser says

    def on_message_begin(self) -> None:
        if self._asked is None:
            self.abort()  # an answer too many

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        self._has_headers = True

    def on_body(self, piece: bytes) -> None:
        self._pieces.append(piece)

    def on_message_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:
            self._begin()  # it says that the answer will come
            return
        asked, self._asked = self._asked, None
        if asked is not None and not asked.done():
            asked.set_result(HttpReply(status, self._headers, b"".join(self._pieces)))
        # What is left of the request would be taken for the beginning of the next one.
        if self._unsent_bytes() or not self._parser.should_keep_alive():
            self.abort()

    @property
    def _ends_with_the_connection(self) -> bool:
        lengths = (b"content-length", b"transfer-encoding")
        return self._has_headers and not any(name in self._headers for name in lengths)

    # --- time

    def _expect(self) -> None:
        """A timer for each piece would be dear: it looks again by itself."""
        self._deadline = self._loop.time() + self._seconds
        self._unsent = self._unsent_bytes()
        if self._watch is not None and self._watch.when() <= self._deadline:
            return
        if self._watch is not None:
            self._watch.cancel()
        self._watch = self._loop.call_at(self._deadline, self._look)

    def _look(self) -> None:
        self._watch = None
        if self._asked is None:
            return
        if self._unsent_bytes() < self._unsent:
            self._expect()  # a large request is still on its way
        elif self._loop.time() < self._deadline:
            self._watch = self._loop.call_at(self._deadline, self._look)
        else:
            self._fail(NotAnswered(f"no answer came within {self._seconds:g} s"))

    def _fail(self, error: NotAnswered) -> None:
        asked, self._asked = self._asked, None
        self.abort()
        if asked is not None and not asked.done():
            asked.set_exception(error)


class Client:
    """To one server. `headers` go with every request."""

    def __init__(
        self, route: NetworkRoute, headers: dict[str, str], *, connections_max: int
    ) -> None:
        self.is_closed = False
        self._route = route
        self._target = f"POST {route.target}".encode()
        said = {**route.headers, **headers}
        lines = "".join([f"{name}: {value}\r\n" for name, value in said.items()])
        self._headers = f" HTTP/1.1\r\n{lines}".encode()
        self._room = asyncio.Semaphore(connections_max)
        self._lines: set[Line] = set()
        # The one that was used last is taken first, so that those nobody needs grow old.
        self._idle: list[Line] = []

    async def post(
        self, path: str, body: bytes, *, headers: bytes = b"", answer_seconds: float
    ) -> HttpReply:
        """`headers` are whole lines. NotSent or NotAnswered when there is no answer."""
        size = b"content-length: %d\r\n\r\n" % len(body)
        head = b"".join([self._target, path.encode(), self._headers, headers, size])
        await self._enter(answer_seconds)
        try:
            line = self._kept() or await self._connect()
            reply = await line.ask([head, body], answer_seconds=answer_seconds)
            self._keep(line)
            return reply
        finally:
            self._room.release()

    async def close(self) -> None:
        """Whoever waits for an answer gets none."""
        self.is_closed = True
        lines = list(self._lines)
        for line in lines:
            line.abort()
        if lines:
            await asyncio.wait([line.lost for line in lines])

    async def _enter(self, seconds: float) -> None:
        if not self._room.locked():
            await self._room.acquire()
            return
        try:
            async with asyncio.timeout(seconds):
                await self._room.acquire()
        except TimeoutError as error:
            raise NotSent("all connections to it are in use") from error

    def _kept(self) -> Line | None:
        while self._idle:
            line = self._idle.pop()
            if line.is_fresh():
                return line
            line.abort()
        return None

    def _keep(self, line: Line) -> None:
        if self.is_closed:
            line.abort()
        elif line.is_open:
            line.used_at = asyncio.get_running_loop().time()
            self._idle.append(line)
            if self._idle[0].is_old:
                self._idle.pop(0).abort()

    async def _connect(self) -> Line:
        try:
            async with asyncio.timeout(SERVER_CONNECT_SECONDS_MAX):
                line = await open_line(self._route, Line)
        except TimeoutError as error:
            raise NotSent(f"no connection within {SERVER_CONNECT_SECONDS_MAX:g} s") from error
        except OSError as error:
            raise NotSent(str(error)) from error
        if self.is_closed:
            line.abort()
            raise NotSent("it is closed here")
        self._lines.add(line)
        line.lost.add_done_callback(lambda _: self._lines.discard(line))
        return line
