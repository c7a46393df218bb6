"""A clock that goes by what a server says."""

from __future__ import annotations

import asyncio
import time

import pytest

from anew.engine.moments import NANOSECONDS
from anew.store import StoreError
from anew.stores import following_clock
from anew.stores.following_clock import MEASURE_ANSWERS, FollowingClock

HOUR = 3600 * NANOSECONDS


class There:
    """A server whose clock is off; each answer takes as long as it is told, on the way back."""

    def __init__(self, ahead: int, *delays: float) -> None:
        self.ahead = ahead
        self.delays = list(delays)
        self.asked = 0
        self.heard = asyncio.Event()

    async def now(self) -> int:
        self.asked += 1
        self.heard.set()
        moment = time.time_ns() + self.ahead
        await asyncio.sleep(self.delays.pop(0) if self.delays else 0)
        return moment


def test_it_goes_by_the_server():
    async def go():
        for ahead in (HOUR, -HOUR):
            clock = FollowingClock(There(ahead).now)
            await clock.measure()
            assert abs(clock.now() - time.time_ns() - ahead) < NANOSECONDS

    asyncio.run(go())


def test_the_quickest_answer_counts(monkeypatch):
    # Each question takes this long on its way back; half of it is what an answer is off by.
    ticks = iter([0, 8, 10, 12, 20, 36])
    monkeypatch.setattr(following_clock.time, "monotonic_ns", lambda: next(ticks))
    answers = iter([1000, 1010, 1020])

    async def ask() -> int:
        return next(answers)

    async def go():
        clock = FollowingClock.__new__(FollowingClock)
        clock._ask, clock._latest, clock._offset, clock._following = ask, 0, 0, None
        await clock.measure()
        # Asked at 10, answered 1010 at 12: it was 1011 there at 12.
        assert clock._offset == 1011 - 12

    assert MEASURE_ANSWERS == 3
    asyncio.run(go())


def test_answers_that_took_long_move_it_no_further_than_they_must(monkeypatch):
    monkeypatch.setattr(following_clock, "ANSWER_NANOSECONDS_MAX", NANOSECONDS // 100)
    slow = [0.1] * MEASURE_ANSWERS

    async def go():
        # All of the time goes by on the way back, and it takes half of it for the way there.
        clock = FollowingClock(There(0, *slow).now)
        before = clock._offset
        await clock.measure()
        assert clock._offset == before
        there = There(HOUR)
        clock = FollowingClock(there.now)
        await clock.measure()
        before = clock._offset
        there.delays = list(slow)
        await clock.measure()
        assert clock._offset == before
        # But it is another time there by now, however long the answer took.
        there.ahead, there.delays = 2 * HOUR, list(slow)
        await clock.measure()
        assert abs(clock._offset - before - HOUR) <= NANOSECONDS

    asyncio.run(go())


def test_it_never_runs_backwards():
    async def go():
        there = There(HOUR)
        clock = FollowingClock(there.now)
        await clock.measure()
        before = clock.now()
        there.ahead = 0
        await clock.measure()
        assert clock.now() >= before
        there.ahead = 2 * HOUR
        await clock.measure()
        assert clock.now() > before + HOUR // 2

    asyncio.run(go())


def test_it_measures_again_and_survives_a_server_that_is_away(monkeypatch):
    monkeypatch.setattr(following_clock, "MEASURE_EVERY_SECONDS", 0.001)

    async def go():
        there = There(HOUR)
        asked = 0

        async def ask() -> int:
            nonlocal asked
            asked += 1
            if asked == MEASURE_ANSWERS + 1:
                raise StoreError("away")
            return await there.now()

        clock = FollowingClock(ask)
        await clock.measure()
        clock.follow()
        async with asyncio.timeout(20):
            while asked < 3 * MEASURE_ANSWERS:
                await asyncio.sleep(0.001)
        await clock.close()
        await clock.close()

    asyncio.run(go())


def test_it_sleeps_until_it_is_that_late_there():
    async def go():
        clock = FollowingClock(There(HOUR).now)
        await clock.measure()
        moment = clock.now() + NANOSECONDS // 100
        await clock.sleep_until(moment)
        assert clock.now() >= moment
        await clock.sleep_until(0)

    asyncio.run(go())


def test_who_cannot_ask_hears_why():
    async def ask() -> int:
        raise StoreError("away")

    with pytest.raises(StoreError, match="away"):
        asyncio.run(FollowingClock(ask).measure())
