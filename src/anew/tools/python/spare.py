"""One process that has run no code yet, for the next run that has none of its own.

So that the first call of a run does not wait for a fork. Made once there is a second run: a process
that serves one run alone needs none. Does not know what a call is.
"""

from __future__ import annotations

import asyncio
import contextlib

from anew.tools.python.hosts import Hosts
from anew.tools.python.interpreter import Interpreter

# Most calls have their answer by then, and nothing of theirs waits for a fork.
_AFTER_SECONDS = 0.01


class Spare:
    """Whoever takes the process has it replaced."""

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts
        self._process: Interpreter | None = None
        self._first_run: str | None = None
        self._is_wanted = False
        self._timer: asyncio.TimerHandle | None = None

    def take(self, run: str) -> Interpreter | None:
        """A process for a run that has none; None when there is no spare one."""
        self._first_run = self._first_run or run
        self._is_wanted = self._is_wanted or run != self._first_run
        taken, self._process = self._process, None
        if self._is_wanted and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_AFTER_SECONDS, self._make)
        return taken if taken is not None and taken.is_alive else None

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._process is not None:
            await self._process.stop()

    def _make(self) -> None:
        self._timer = None
        # Without one, the next call starts a process of its own and says what is wrong.
        with contextlib.suppress(OSError):
            self._process = Interpreter(self._hosts, is_spare=True)
