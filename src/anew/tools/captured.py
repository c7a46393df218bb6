"""What a process printed on one stream: its beginning and its end, within a limit.

Knows bytes and text. Does not know processes or where the bytes come from.
"""

from __future__ import annotations

import os

from anew.tools.settings import whole_setting

# Of each stream of one execution; what lies between the beginning and the end is left out.
OUTPUT_BYTES_MAX = 1 << 20
# Pipes hold 64 KiB, so one read usually empties one.
_READ_BYTES = 1 << 16
# Kept of the end when output is cut: enough for the lines that say why a program failed.
_END_BYTES = 4096


def output_bytes_max() -> int:
    return whole_setting("OUTPUT_BYTES_MAX", OUTPUT_BYTES_MAX)


class Captured:
    """Grows by `add` and never past `bytes_max`, however much is added."""

    def __init__(self, bytes_max: int) -> None:
        self._end_max = min(_END_BYTES, bytes_max // 4)
        self._start_max = bytes_max - self._end_max
        self.clear()

    def clear(self) -> None:
        self._start = bytearray()
        self._end = bytearray()
        self._total = 0

    def add(self, data: bytes) -> None:
        self._total += len(data)
        room = self._start_max - len(self._start)
        self._start += data[:room]
        if len(data) > room:
            self._end += data[room:]
            del self._end[: -self._end_max or None]

    def add_from(self, fd: int) -> bool:
        """Take what a non-blocking `fd` has now; False once it has ended."""
        try:
            data = os.read(fd, _READ_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self.add(data)
        return bool(data)

    def add_rest(self, fd: int) -> None:
        """Take what is left in a non-blocking `fd`, without waiting for more."""
        # A pipe holds a mebibyte at most; someone may still be writing, and is not waited for.
        for _ in range((1 << 20) // _READ_BYTES + 1):
            before = self._total
            if not self.add_from(fd) or self._total == before:
                return

    @property
    def cut_bytes(self) -> int:
        return self._total - len(self._start) - len(self._end)

    def text(self) -> str:
        """As text, with a line that says how much is missing."""
        if not self.cut_bytes:
            return (self._start + self._end).decode(errors="replace")
        note = f"\n… {self.cut_bytes:,} bytes left out (ANEW_OUTPUT_BYTES_MAX) …\n"
        start, end = self._start.decode(errors="replace"), self._end.decode(errors="replace")
        return start + note + end

    def last_line(self, chars_max: int) -> str:
        """The last line that is not blank, cut to `chars_max`; empty when there is none.

        Of a line whose beginning is out of reach it is the end: a secret that is cut at one side
        only can still be recognised.
        """
        tail = bytes((self._start[-_END_BYTES:] + self._end)[-_END_BYTES:])
        lines = tail.decode(errors="replace").strip().splitlines()
        line = lines[-1].strip() if lines else ""
        if len(lines) == 1 and self._total > len(tail):
            return f"…{line[-chars_max:]}"
        return line if len(line) <= chars_max else f"{line[:chars_max]}…"
