"""A network that can be told to misbehave: one TCP address in front of another.

Runs in a thread of its own and is told from any other what to do from now on. Knows nothing of what
it carries but the bytes a test names.

A black hole keeps what it swallows until it is healed, as a network does whose packets are sent
again: what was held then arrives late.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Literal, TypeVar

Address = tuple[str, int] | str
Way = Literal["up", "down"]
T = TypeVar("T")
CHUNK_BYTES = 64 * 1024
# What a test looks for may come in two pieces.
MARKER_BYTES_MAX = 64
# Reached only when the thread hangs.
ANSWER_SECONDS_MAX = 10.0
NO_LINGERING = struct.pack("ii", 1, 0)


class Loss:
    """Answers that get lost: what a client says first, and how the answer to it is known."""

    def __init__(self, asked: bytes, answered: bytes, *, times: int, every: int) -> None:
        self.asked = asked
        self.answered = answered
        self._times = times
        self._every = every
        self._asked_times = 0

    def is_next(self) -> bool:
        """Whether the answer to what was asked now gets lost."""
        self._asked_times += 1
        is_next = self._times > 0 and self._asked_times % self._every == 0
        self._times -= is_next
        return is_next


class _Lost(Exception):
    """The answer has come and goes no further."""


class _Link:
    """One connection of a client, and ours to the other side.

    `loss` is set once the client has said what is waited for: then its answer gets lost.
    """

    def __init__(self, client: asyncio.StreamWriter, number: int) -> None:
        self.writers = [client]
        self.number = number
        self.loss: Loss | None = None

    def reset(self) -> None:
        for writer in self.writers:
            sock = writer.get_extra_info("socket")
            if sock is not None and sock.family == socket.AF_INET:
                with suppress(OSError):
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGERING)
            writer.transport.abort()


class Proxy:
    """Listens at `port`. `upstream` is a host and a port, or the path of a socket.

    `lost` counts the answers that were swallowed, `accepted` the connections; `heard` gets every
    chunk the clients send, with the number of the connection.
    """

    def __init__(
        self, upstream: Address, *, heard: Callable[[int, bytes], None] | None = None
    ) -> None:
        self.upstream = upstream
        self.lost = 0
        self.accepted = 0
        self._heard = heard
        self._is_cut = False
        self._delay_seconds = 0.0
        self._loss: Loss | None = None
        self._links: set[_Link] = set()
        self._silent: set[_Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: dict[Way, asyncio.Event] = {"up": asyncio.Event(), "down": asyncio.Event()}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._thread.start()
        self._server = self._do(asyncio.start_server(self._carry, "127.0.0.1", 0))
        self.port: int = self._server.sockets[0].getsockname()[1]
        self.heal()

    # --- what a test tells it ------------------------------------------------------------------

    def heal(self) -> None:
        """Carry everything at once, and what was held first."""
        self._is_cut, self._delay_seconds = False, 0.0
        self._close_ways(())

    def cut(self) -> None:
        """Reset every connection, and each new one, until healed."""
        self._is_cut = True
        self.cut_once()

    def cut_once(self) -> None:
        """Reset the connections there are; new ones are carried."""
        self._do(self._reset())

    def blackhole(self, *ways: Way) -> None:
        """Carry nothing until healed: up to the server, down to the client, or neither way."""
        self._close_ways(ways or ("up", "down"))

    def silence(self) -> None:
        """Carry nothing more on the connections there are, for ever; new ones are carried."""
        self._loop.call_soon_threadsafe(self._silent.update, self._links)

    def slow(self, seconds: float) -> None:
        """Carry every chunk that much later."""
        self._delay_seconds = seconds

    def lose_answers(
        self, asked: bytes, *, answered: bytes, times: int = 1, every: int = 1
    ) -> None:
        """Whenever clients have said `asked` so often, up to so many times: let it through, and
        reset the connection when the answer comes instead of carrying it.
        """
        self._loss = Loss(asked, answered, times=times, every=every)

    def close(self) -> None:
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(ANSWER_SECONDS_MAX)
        self._loop.close()

    def _close_ways(self, ways: tuple[Way, ...]) -> None:
        for way, is_open in self._open.items():
            change = is_open.clear if way in ways else is_open.set
            self._loop.call_soon_threadsafe(change)

    def _do(self, work: Coroutine[object, object, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(ANSWER_SECONDS_MAX)

    # --- in its own thread ---------------------------------------------------------------------

    async def _reset(self) -> None:
        for link in list(self._links):
            link.reset()

    async def _end(self) -> None:
        self._server.close()
        await self._reset()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _carry(self, heard: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.accepted += 1
        link = _Link(client, self.accepted)
        self._links.add(link)
        try:
            if self._is_cut:
                raise ConnectionResetError
            await self._join(heard, link)
        except (OSError, asyncio.CancelledError, ExceptionGroup):
            link.reset()
        self._links.discard(link)
        for writer in link.writers:
            writer.close()

    async def _join(self, heard: asyncio.StreamReader, link: _Link) -> None:
        if isinstance(self.upstream, str):
            told, server = await asyncio.open_unix_connection(self.upstream)
        else:
            told, server = await asyncio.open_connection(*self.upstream)
        link.writers.append(server)
        async with asyncio.TaskGroup() as pumps:
            pumps.create_task(self._up(heard, link))
            pumps.create_task(self._down(told, link))

    async def _up(self, heard: asyncio.StreamReader, link: _Link) -> None:
        tail = b""
        while chunk := await self._next(heard, "up", link=link):
            if self._heard is not None:
                self._heard(link.number, chunk)
            tail = tail[-MARKER_BYTES_MAX:] + chunk
            if self._loss is not None and self._loss.asked in tail:
                tail = b""
                if link.loss is None and self._loss.is_next():
                    link.loss = self._loss
            await self._say(link.writers[1], chunk)
        link.writers[1].write_eof()

    async def _down(self, told: asyncio.StreamReader, link: _Link) -> None:
        tail = b""
        while chunk := await self._next(told, "down", link=link):
            if link.loss is None:
                await self._say(link.writers[0], chunk)
                continue
            tail += chunk
            if link.loss.answered in tail:
                self.lost += 1
                raise _Lost
        link.writers[0].write_eof()

    async def _next(self, reader: asyncio.StreamReader, way: Way, *, link: _Link) -> bytes:
        chunk = await reader.read(CHUNK_BYTES)
        if link in self._silent:
            await asyncio.Event().wait()
        if self._delay_seconds:
            await asyncio.sleep(self._delay_seconds)
        await self._open[way].wait()
        return chunk

    async def _say(self, writer: asyncio.StreamWriter, chunk: bytes) -> None:
        writer.write(chunk)
        await writer.drain()
