"""Messages between a worker and its Python processes: a length, then that many bytes of JSON.

Both sides import this, so it must need nothing but the standard library.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

# Four bytes for each of the characters a value in the log may have.
FRAME_BYTES_MAX = 1 << 27

# The exit status of a process that cannot answer, because the code closed its channel.
LOST_STATUS = 97

_LENGTH = struct.Struct("!I")


class BadFrame(Exception):
    """What arrived is no message of ours."""


def framed(body: bytes) -> bytes:
    return _LENGTH.pack(len(body)) + body


class Frames:
    """Cuts a stream of bytes into the messages it was made of."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    @property
    def is_empty(self) -> bool:
        """Whether everything that arrived has been handed out."""
        return not self._buffer

    def add(self, data: bytes) -> Iterator[bytes]:
        """The bodies that are complete with `data`."""
        self._buffer += data
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > FRAME_BYTES_MAX:
                raise BadFrame(f"a message of {length:,} bytes")
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                return
            body = bytes(memoryview(self._buffer)[_LENGTH.size : end])
            del self._buffer[:end]
            yield body
