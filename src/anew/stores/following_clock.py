"""A clock that follows the one of a server, so that machines whose clocks differ agree.

It is asked over and over what time it is there. Between two answers this machine's monotonic clock
counts on. Knows how to tell the time from an answer; does not know how to ask.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from anew.clock import NAP_SECONDS_MAX
from anew.engine.moments import NANOSECONDS
from anew.errors import AnewError

# Quartz clocks drift apart by less than 1 ms in this time.
MEASURE_EVERY_SECONDS = 30.0
# The quickest of these answers is the one to go by: it is off by at most half of its round trip.
MEASURE_ANSWERS = 3
# An answer that took longer says too little: nobody knows where on its way the time was spent.
ANSWER_NANOSECONDS_MAX = NANOSECONDS // 2


class FollowingClock:
    """`ask` answers the moment it is at the server. Call `measure` before the first `now`.

    It never runs backwards: set back at the server, it stands still until that has caught up.
    """

    def __init__(self, ask: Callable[[], Awaitable[int]]) -> None:
        self._ask = ask
        # What to add to the monotonic clock.
        self._offset = time.time_ns() - time.monotonic_ns()
        self._latest = 0
        self._following: asyncio.Task[None] | None = None

    def now(self) -> int:
        self._latest = max(self._latest, time.monotonic_ns() + self._offset)
        return self._latest

    async def sleep_until(self, moment: int) -> None:
        while (left := (moment - self.now()) / NANOSECONDS) > 0:
            await asyncio.sleep(min(left, NAP_SECONDS_MAX))

    async def measure(self) -> None:
        """Ask what time it is there, and go by that."""
        taken, offset = min([await self._one_answer() for _ in range(MEASURE_ANSWERS)])
        if taken <= ANSWER_NANOSECONDS_MAX:
            self._offset = offset
        else:
            # It is off by at most half of the way. What lies within that may well be right.
            error = taken // 2
            self._offset = min(max(self._offset, offset - error), offset + error)

    async def _one_answer(self) -> tuple[int, int]:
        """How long it took, and the offset it tells."""
        asked_at = time.monotonic_ns()
        moment = await self._ask()
        taken = time.monotonic_ns() - asked_at
        return taken, moment + taken // 2 - (asked_at + taken)

    def follow(self) -> None:
        """Measure again and again, until it is closed."""
        self._following = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(MEASURE_EVERY_SECONDS)
            # While the server cannot be reached, this machine's clock goes on alone.
            with suppress(AnewError):
                await self.measure()

    async def close(self) -> None:
        if self._following is not None:
            self._following.cancel()
            with suppress(asyncio.CancelledError):
                await self._following
            self._following = None
