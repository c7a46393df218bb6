"""Short waits: slept in place while nothing else is ready for their slot, put aside otherwise."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from anew.engine.moments import NANOSECONDS
from anew.runtime.naps import Naps
from anew.runtime.slots import Slots
from anew.stores.memory import MemoryDatabase
from tests.runtime.hold import _no_net_under_missed_signals  # noqa: F401
from tests.runtime.test_control import (
    _gate_is_a_kind,  # noqa: F401
    _soon,
    in_a_world,
)
from tests.virtual import CountedDatabase, VirtualClock

RETRIED = "{kind: noop, spec: {policy: {rules: [" + (
    '{when: "{{ _attempt < 3 }}", then: {do: retry, attempts: 3, delay: 0.5}}, '
    "{else: {then: {do: continue}}}]}}}"
)
LOOP = (
    "loop: {{in: '{{{{ range({}) }}}}', iterator: n, spec: {{mode: parallel, max_in_flight: {}}}}}"
)


def _played(folder, step, **settings):
    """After how many seconds a run of one step has ended, and how many executions it took."""

    async def work(world):
        run = await world.start(f"workflow: [{{step: s, {step}}}]")
        async with _driven(world):
            await world.ended(run)
        names = await world.names(run)
        return world.database.clock.now() / NANOSECONDS, names.count("task.started")

    return in_a_world(work, folder, database=_virtual(), **settings)


def _virtual():
    database = CountedDatabase(MemoryDatabase())
    database.clock = VirtualClock()
    return database


@asynccontextmanager
async def _driven(world):
    """Let time pass whenever nothing else can happen."""
    driver = asyncio.create_task(world.database.clock.drive(world.database.is_quiet))
    try:
        yield
    finally:
        driver.cancel()


@pytest.mark.parametrize("slots", [1, 2, 40])
def test_a_loop_with_short_retries_takes_as_long_as_one_item_however_few_the_slots(tmp_path, slots):
    step = f"{LOOP.format(20, 20)}, tool: {RETRIED}"
    assert _played(tmp_path, step, slots=slots) == (1.0, 60)


@pytest.mark.parametrize("slots", [1, 40])
def test_short_sleeps_hold_no_slot_that_others_could_use(tmp_path, slots):
    step = f"{LOOP.format(20, 20)}, tool: {{kind: sleep, seconds: 0.5}}"
    assert _played(tmp_path, step, slots=slots) == (0.5, 20)


def test_work_that_comes_while_a_short_wait_is_slept_gets_its_slot(tmp_path):
    async def work(world):
        jobs_of, clock = world.database.archive.jobs, world.database.clock
        await _soon(lambda: not world.engine.worker.poller.someone_waits)
        waiting = await world.start(f"workflow: [{{step: s, tool: {RETRIED}}}]")
        await _soon(lambda: world.engine.worker._naps._asleep)
        (job,) = await jobs_of(waiting)
        assert job.leased_until is not None
        other = await world.start("workflow: [{step: s, tool: {kind: noop}}]")
        await world.ended(other)
        assert clock.now() == 0
        (job,) = await jobs_of(waiting)
        assert (job.due_at, job.leased_until, job.attempt) == (NANOSECONDS // 2, None, 2)
        async with _driven(world):
            await world.ended(waiting)
        assert clock.now() == NANOSECONDS

    in_a_world(work, tmp_path, database=_virtual(), slots=1)


def test_a_nap_ends_early_only_for_others():
    async def play():
        clock, slots = VirtualClock(), Slots(1)
        naps = Naps(clock, slots)
        slots.take(1)
        slept = asyncio.create_task(naps.until(5))
        await asyncio.sleep(0)
        naps.end()
        assert await slept is False
        slots.is_work_waiting = lambda: True
        assert await naps.until(5) is False
        slots.give_back()
        slept = asyncio.create_task(naps.until(5))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        clock._jump()
        assert await slept is True

    asyncio.run(play())
