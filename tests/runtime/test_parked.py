"""Calls that are put aside: sleeps and child runs, and the orders, deaths and limits they meet."""

import asyncio

import pytest

from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.engine.state import RunStatus
from anew.runtime.run_logs import read_log
from anew.store import RunFilter, StoreError
from anew.stores.memory import MemoryDatabase
from tests.runtime.hold import (
    PARENT,
    Hold,
    _no_net_under_missed_signals,  # noqa: F401
    child_of,
    starts_a_child,
    until_ended,
    with_a_child,
)
from tests.runtime.test_control import (
    World,
    _gate_is_a_kind,  # noqa: F401
    _kill,
    _soon,
    _until,
    _until_jobs,
    in_a_world,
)
from tests.virtual import CountedDatabase, VirtualClock

DAY = 86_400 * NANOSECONDS


# --- sleeps, deadlines and the clock -------------------------------------------------------------


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_sleep_that_is_due_when_its_owner_goes_keeps_its_due_time(tmp_path, how):
    document = "workflow: [{step: nap, tool: {kind: sleep, seconds: 86400}}]"

    async def go_away(world, clock):
        if how == "killed":
            await world.database.store.lease(now=DAY, until=LAST_MOMENT, limit=9)
            _kill(world)
            return
        found = Hold(world.engine.ledger.live, "get")
        clock._jump()
        await found.reached()
        stopping = asyncio.create_task(world.engine.stop(0))
        await _soon(lambda: world.engine.worker._is_stopping)
        found.let_go()
        await stopping

    async def play():
        database = MemoryDatabase()
        clock = VirtualClock()
        world = World(tmp_path, database, clock=clock)
        run = await world.start(document)
        await _until_jobs(world, run, lambda jobs: jobs and jobs[0].due_at == DAY)
        await _soon(lambda: clock._sleepers)
        await go_away(world, clock)
        world = World(tmp_path, database, clock=VirtualClock(DAY))
        await world.engine.adopt([run])
        assert (await world.ended(run)).last_result == {"slept": 86400.0}
        assert "step.redelivered" not in await world.names(run)
        await world.engine.stop(0)

    asyncio.run(play())


@pytest.mark.parametrize("tool", ["kind: sleep, seconds: 6", "kind: playbook, file: child.yaml"])
@pytest.mark.parametrize(
    "step",
    [
        "{{step: s, tool: {{{}, spec: {{timeout: 1.5}}}}}}",
        "{{step: s, spec: {{policy: {{lifecycle: {{timeout_s: 1.5}}}}}}, tool: {{{}}}}}",
    ],
)
def test_a_call_that_is_put_aside_ends_by_its_time_limit(tmp_path, step, tool):
    with_a_child(tmp_path, "{kind: sleep, seconds: 6}")

    async def play():
        clock = VirtualClock()
        counted = CountedDatabase(MemoryDatabase())
        world = World(tmp_path, counted, clock=clock)
        driver = asyncio.create_task(clock.drive(counted.is_quiet))
        run = await world.start(f"workflow: [{step.format(tool)}]")
        state = await world.ended(run)
        driver.cancel()
        assert state.failure["kind"] == "timeout"
        assert clock.now() == 1_500_000_000
        children = await counted.archive.runs(RunFilter(parent=run))
        assert {child.status for child in children} <= {RunStatus.CANCELLED}
        assert len(children) == ("playbook" in tool)
        await world.engine.stop(0)

    asyncio.run(play())


# --- parents and children ------------------------------------------------------------------------


def test_a_parent_that_is_cancelled_while_its_child_is_started_leaves_no_child(tmp_path):
    with_a_child(tmp_path)

    async def work(world):
        writing = Hold(world.database.store, "commit", starts_a_child)
        run = await world.start(PARENT)
        await writing.reached()
        cancelling = asyncio.create_task(world.engine.cancel(run))
        await until_ended(world, run, RunStatus.CANCELLED)
        writing.let_go()
        assert await cancelling
        await _until(world, run, "run.cancelled")
        child = await child_of(world, run)
        assert child.status is RunStatus.CANCELLED
        assert await world.database.archive.jobs(child.run) == []

    in_a_world(work, tmp_path)


@pytest.mark.parametrize("how", ["cancel", "adopt_all"])
def test_a_cancellation_that_died_before_it_came_to_the_child_is_completed(tmp_path, how):
    with_a_child(tmp_path)

    async def play():
        database = MemoryDatabase()
        first = World(tmp_path, database)
        run = await first.start(PARENT)
        await first.entered()
        child = (await child_of(first, run)).run
        dead = StoreError("dead")
        Hold(database.store, "commit", lambda commit: commit.run == child, error=dead).let_go()
        with pytest.raises(StoreError, match="dead"):
            await first.engine.cancel(run)
        _kill(first)
        second = World(tmp_path, database)
        if how == "cancel":
            assert await second.engine.cancel(run)
        else:
            assert await second.engine.adopt_all() == {}
        assert (await child_of(second, run)).status is RunStatus.CANCELLED
        assert not await second.engine.cancel(run)
        await second.engine.stop(0)

    asyncio.run(play())


def test_a_child_that_ends_while_its_parent_is_being_put_aside_wakes_it(tmp_path):
    with_a_child(tmp_path)

    async def work(world):
        parking = Hold(world.database.store, "commit", lambda commit: commit.park is not None)
        run = await world.start(PARENT)
        await parking.reached()
        await world.entered()
        world.gate.answers.put_nowait({"x": 1})
        await until_ended(world, (await child_of(world, run)).run)
        parking.let_go()
        assert (await world.ended(run)).last_result == {"x": 1}

    in_a_world(work, tmp_path)


def test_a_childs_first_step_can_use_a_secret_it_is_passed(tmp_path, monkeypatch):
    monkeypatch.setenv("ANEW_CREDENTIAL_API", '{"type": "bearer", "data": {"token": "sekret-1"}}')
    with_a_child(tmp_path, "{kind: gate, args: {x: '{{ workload.t }}'}}")
    document = """
keychain: [{name: k, auth: api}]
workflow:
  - {step: p, tool: {kind: playbook, file: child.yaml, args: {t: "{{ keychain.k.token }}"}}}
"""

    async def work(world):
        run = await world.start(document)
        await world.entered()
        assert world.gate.calls[0].inputs == {"args": {"x": "sekret-1"}}
        world.gate.answers.put_nowait({})
        assert (await world.ended(run)).status is RunStatus.DONE
        for row in await world.database.archive.runs(RunFilter()):
            assert "sekret-1" not in repr(await read_log(world.database.archive, row.run))

    in_a_world(work, tmp_path)
