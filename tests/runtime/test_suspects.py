"""A step-run that may kill its worker is executed with nothing beside it."""

import asyncio

from anew.clock import WallClock
from anew.engine.state import StepRunKey
from anew.runtime.slots import Slots
from anew.runtime.suspects import Suspects
from anew.store import JobRef

JOB = JobRef(1, StepRunKey("a", 1))


def suspects_of(worked_on, *, slots=None, is_shared=True, may_reopen=True):
    return Suspects(
        slots or Slots(4),
        WallClock(),
        is_shared=is_shared,
        count=lambda: len(worked_on),
        may_reopen=lambda: may_reopen,
    )


def test_a_busy_worker_leaves_it_to_another_and_an_idle_one_does_not():
    async def play():
        assert suspects_of(["itself", "another"]).is_better_elsewhere(JOB)
        assert not suspects_of(["itself"]).is_better_elsewhere(JOB)
        assert not suspects_of(["itself", "another"], is_shared=False).is_better_elsewhere(JOB)

    asyncio.run(play())


def test_nobody_gets_a_slot_until_it_has_ended():
    async def play():
        slots, worked_on = Slots(4), ["itself", "another"]
        suspects = suspects_of(worked_on, slots=slots)
        async with suspects.one_at_a_time():
            assert slots.free < 0
            alone = asyncio.create_task(suspects.until_alone())
            await asyncio.sleep(0)
            assert not alone.done()
            worked_on.remove("another")
            suspects.look_again()
            await alone
        assert slots.free == 4

    asyncio.run(play())


def test_a_worker_that_stops_meanwhile_gives_no_more_slots():
    async def play():
        slots = Slots(4)
        async with suspects_of(["itself"], slots=slots, may_reopen=False).one_at_a_time():
            pass
        assert slots.free < 0

    asyncio.run(play())
