"""What a process prints, read as it comes: two pipes whose far ends are given to it.

Knows pipes and the event loop. Does not know how the process was started.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import ExitStack

from anew.tools.captured import Captured


class Streams:
    """`theirs` are the ends for the process: standard output, then standard error.

    Until `watch`, the pipes belong to `undo`.
    """

    def __init__(self, bytes_max: int, undo: ExitStack) -> None:
        self.stdout = Captured(bytes_max)
        self.stderr = Captured(bytes_max)
        (out, their_out), (err, their_err) = pipe(undo), pipe(undo)
        self.theirs = (their_out, their_err)
        self._pipes = {out: self.stdout, err: self.stderr}
        self._loop = asyncio.get_running_loop()

    def watch(self) -> None:
        """The process has its ends: close them here, and read what it prints."""
        for fd in self.theirs:
            os.close(fd)
        for fd, into in self._pipes.items():
            os.set_blocking(fd, False)
            self._loop.add_reader(fd, self._on_output, fd, into)

    def _on_output(self, fd: int, into: Captured) -> None:
        if not into.add_from(fd):
            self._loop.remove_reader(fd)

    def take(self) -> None:
        """Read what has been printed up to now."""
        for fd, into in self._pipes.items():
            into.add_rest(fd)

    def close(self) -> None:
        """Read the rest without waiting: someone else may hold the other end for ever."""
        for fd, into in self._pipes.items():
            self._loop.remove_reader(fd)
            into.add_rest(fd)
            os.close(fd)
        self._pipes = {}


def pipe(undo: ExitStack) -> tuple[int, int]:
    ends = os.pipe()
    for end in ends:
        undo.callback(os.close, end)
    return ends
