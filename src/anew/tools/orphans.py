"""Processes that the kernel gave to us because we are the first process of a container.

Nobody waits for them, so they would stay as zombies for ever, one for each sandbox that was killed.
An init process (`docker run --init`) does the same. Children in our own session are left alone:
they may have been started here by others. Does not know what the processes are for.
"""

from __future__ import annotations

import asyncio
import contextlib
import os

from anew.tools.descendants import children_of, session_of, state_of

# Whoever waits for a child of his own has seen its end by then.
_UNCLAIMED_SECONDS = 1.0


class Orphans:
    """Reaps them a little after something of ours has ended, which is when they come to us."""

    def __init__(self) -> None:
        self._ours: set[int] = set()
        self._loop: asyncio.AbstractEventLoop | None = None  # the one that will look
        self._dead: set[int] = set()

    def started(self, pid: int) -> None:
        """Somebody waits for this one."""
        self._ours.add(pid)

    def ended(self, pid: int) -> None:
        """It has been waited for; what was below it may come to us."""
        self._ours.discard(pid)
        if is_init():
            self._look_soon()

    def _look_soon(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop = loop
            loop.call_later(_UNCLAIMED_SECONDS, self._look)

    def _look(self) -> None:
        """Reap those that were dead at the last look as well, and look until nobody is left."""
        self._loop = None
        others = children_of(os.getpid()) - self._ours
        others = {pid for pid in others if session_of(pid) != os.getsid(0)}
        dead = {pid for pid in others if state_of(pid) == "Z"}
        reaped = dead & self._dead
        for pid in reaped:
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG)
        self._dead = dead - reaped
        if others - reaped:  # those that live will be zombies
            self._look_soon()


def is_init() -> bool:
    return os.getpid() == 1


# Of this process: it has one list of children.
ORPHANS = Orphans()
