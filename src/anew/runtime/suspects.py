"""Step-runs that may kill their worker: they get a last chance with nothing beside them.

So that one cannot take others down with it, new work is kept out while it is executed, and calls at
work are waited for. Knows slots and how many calls there are; not what a step-run does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from anew.clock import Clock
from anew.engine.moments import NANOSECONDS
from anew.runtime.slots import Slots
from anew.store import JobRef

# How long a suspect waits for the calls beside it to end.
ALONE_SECONDS_MAX = 60.0
# It is left to a worker that is idle, for a while.
SUSPECT_PAUSE_SECONDS = 0.5
SUSPECT_SECONDS_MAX = 30
SUSPECTS_SEEN_MAX = 1_000


class Suspects:
    """Of one worker. `count` is how many step-runs it works on, suspects among them.

    `may_reopen`: whether slots are to be used again afterwards.
    """

    def __init__(
        self,
        slots: Slots,
        clock: Clock,
        *,
        is_shared: bool,
        count: Callable[[], int],
        may_reopen: Callable[[], bool],
    ) -> None:
        self._slots = slots
        self._clock = clock
        self._is_shared = is_shared
        self._count = count
        self._may_reopen = may_reopen
        self._one = asyncio.Lock()
        self._waiting = 0
        self._seen: dict[JobRef, int] = {}
        self._changed = asyncio.Event()

    def look_again(self) -> None:
        """A call has ended."""
        self._changed.set()

    def is_better_elsewhere(self, job: JobRef) -> bool:
        """Whether another worker may have nothing beside a suspect, while this one has.

        Where all are busy all the time, somebody has to make room for it in the end.
        """
        is_busy = self._count() > self._waiting + 1
        if not self._is_shared or not is_busy:
            self._seen.pop(job, None)
            return False
        now = self._clock.now()
        if len(self._seen) > SUSPECTS_SEEN_MAX:
            self._seen.clear()
        return now - self._seen.setdefault(job, now) < SUSPECT_SECONDS_MAX * NANOSECONDS

    @asynccontextmanager
    async def one_at_a_time(self) -> AsyncIterator[None]:
        """While this lasts, no slot is given to anybody else."""
        self._waiting += 1
        self._changed.set()
        try:
            async with self._one:
                self._slots.close()
                try:
                    yield
                finally:
                    if self._may_reopen():
                        self._slots.open()
        finally:
            self._waiting -= 1

    async def until_alone(self) -> None:
        """Wait for the calls beside it, but not for ever: the long ones take their chance."""
        with suppress(TimeoutError):
            async with asyncio.timeout(ALONE_SECONDS_MAX):
                while self._count() > self._waiting:
                    self._changed.clear()
                    await self._changed.wait()
