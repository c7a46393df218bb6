"""Warm processes between calls. Each belongs to one run: no other run's code gets into it.

Decides which are kept and for how long. Does not know what a call is.
"""

from __future__ import annotations

import asyncio

from msgspec import Struct

from anew.tools.python.interpreter import Interpreter

# Idle processes of all runs together; the one used longest ago is ended first. Each has the
# libraries that its run's code imported, so more of them cost memory for little: a fork is quick.
PYTHON_IDLE_PROCESSES_MAX = 8
# A run that is still going on may wait for hours; its process need not.
PYTHON_IDLE_SECONDS_MAX = 60.0


class _Kept(Struct, frozen=True, eq=False):
    run: str
    process: Interpreter
    until: float


class Pool:
    """Idle processes, the one used last at the end."""

    def __init__(self) -> None:
        self._kept: list[_Kept] = []
        self._stopping: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def take(self, run: str) -> Interpreter | None:
        """The process that this run used last: its caches are the warmest."""
        for kept in reversed(self._kept):
            if kept.run == run:
                self._kept.remove(kept)
                if kept.process.is_alive:
                    return kept.process
                self._stop(kept.process)
        return None

    def give(self, run: str, process: Interpreter) -> None:
        """Keep a process for the next call of this run."""
        until = asyncio.get_running_loop().time() + PYTHON_IDLE_SECONDS_MAX
        self._kept.append(_Kept(run, process, until))
        if len(self._kept) > PYTHON_IDLE_PROCESSES_MAX:
            self._stop(self._kept.pop(0).process)
        if self._timer is None:
            self._set_timer()

    def release(self, run: str) -> None:
        """The run has ended."""
        over = [kept for kept in self._kept if kept.run == run]
        self._kept = [kept for kept in self._kept if kept.run != run]
        for kept in over:
            self._stop(kept.process)

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for kept in self._kept:
            self._stop(kept.process)
        self._kept = []
        await asyncio.gather(*self._stopping)

    def _set_timer(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_at(self._kept[0].until, self._on_time) if self._kept else None

    def _on_time(self) -> None:
        now = asyncio.get_running_loop().time()
        while self._kept and self._kept[0].until <= now:
            self._stop(self._kept.pop(0).process)
        self._set_timer()

    def _stop(self, process: Interpreter) -> None:
        """Nobody waits for it: it runs no code, and no one else gets it."""
        task = asyncio.ensure_future(process.stop())
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)
