"""Where moments come from: the wall clock in production, a virtual one in tests."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

from anew.engine.moments import NANOSECONDS

# Longer sleeps are cut into pieces, so that a clock that is set right is noticed.
NAP_SECONDS_MAX = 60.0


class Clock(Protocol):
    """Moments are whole nanoseconds since 1970 in UTC."""

    def now(self) -> int: ...

    async def sleep_until(self, moment: int) -> None: ...


class WallClock:
    """The machine's own clock."""

    def now(self) -> int:
        return time.time_ns()

    async def sleep_until(self, moment: int) -> None:
        while (left := (moment - time.time_ns()) / NANOSECONDS) > 0:
            await asyncio.sleep(min(left, NAP_SECONDS_MAX))
