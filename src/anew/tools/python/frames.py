"""Messages between a worker and its Python processes: a length, a number, and the bytes of JSON.

The number is that of the call. It cannot be guessed, so that nothing that was written for another
call, or by chance, is taken for an answer. Both sides import this: it needs nothing but the
standard library.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

# Four bytes for each of the characters a value in the log may have.
FRAME_BYTES_MAX = 1 << 27

# The exit status of a process that cannot answer, because the code closed its channel.
LOST_STATUS = 97

# As many as a header has room for.
NUMBER_BITS = 64

_HEADER = struct.Struct("!IQ")


class BadFrame(Exception):
    """What arrived is no message of ours."""


def framed(body: bytes, number: int) -> bytes:
    return _HEADER.pack(len(body), number) + body


class Frames:
    """Cuts a stream of bytes into the messages it was made of."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    @property
    def is_empty(self) -> bool:
        """Whether everything that arrived has been handed out."""
        return not self._buffer

    def add(self, data: bytes, *, number: int | None = None) -> Iterator[tuple[int, bytes]]:
        """The messages that are complete with `data`; BadFrame unless all are of call `number`."""
        self._buffer += data
        while len(self._buffer) >= _HEADER.size:
            length, found = _HEADER.unpack_from(self._buffer)
            if length > FRAME_BYTES_MAX or number not in (None, found):
                raise BadFrame(f"a message of {length:,} bytes for call {found}")
            end = _HEADER.size + length
            if len(self._buffer) < end:
                return
            body = bytes(memoryview(self._buffer)[_HEADER.size : end])
            del self._buffer[:end]
            yield found, body
