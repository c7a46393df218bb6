"""Short waits that are slept in place: only while nothing else is ready for their slot.

Knows the clock and the slots. Does not know what is waited for, nor how a job is put aside.
"""

from __future__ import annotations

import asyncio

from anew.clock import Clock
from anew.runtime.slots import Slots


class Naps:
    """Of one worker."""

    def __init__(self, clock: Clock, slots: Slots) -> None:
        self._clock = clock
        self._slots = slots
        self._asleep: set[asyncio.Task[None]] = set()

    async def until(self, moment: int) -> bool:
        """Sleep; False as soon as other work could use the slot, before the moment has come."""
        if self._slots.are_contended:
            return False
        nap = asyncio.create_task(self._clock.sleep_until(moment))
        self._asleep.add(nap)
        try:
            await asyncio.wait({nap})
            return not nap.cancelled()
        finally:
            self._asleep.discard(nap)
            nap.cancel()

    def end(self) -> None:
        """There is work, and no slot for it: whoever only waits gives theirs up."""
        for nap in self._asleep:
            nap.cancel()
