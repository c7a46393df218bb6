"""The head of an answer leaves together with the beginning of its body.

Each write to a socket is a call of the kernel here, and wakes whoever waits at the other end. Knows
bytes. Does not know what they say.
"""

from __future__ import annotations

import asyncio


class CoalescedWrites:
    """What an answer is written to: holds the first write back until the second.

    A head whose body does not follow at once leaves when the event loop comes round.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head: bytes | None = None
        self._flushing: asyncio.Handle | None = None
        self._has_begun = False

    def write(self, data: bytes) -> None:
        if not self._has_begun:
            self._has_begun, self._head = True, data
            self._flushing = self._loop.call_soon(self.flush)
        elif not data:
            self.flush()
        elif self._head is None:
            self._transport.write(data)
        else:
            self._transport.writelines([self._take(), data])

    def flush(self) -> None:
        if self._head is not None:
            self._transport.write(self._take())

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        self._take()
        self._transport.abort()

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def _take(self) -> bytes:
        head, self._head = self._head, None
        if self._flushing is not None:
            self._flushing.cancel()
            self._flushing = None
        return head or b""
