"""Two engines on one database: what one does, the other heeds; what one leaves, the other takes."""

import asyncio
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest

from anew.engine import events as e
from anew.engine.state import RunStatus
from anew.store import RunFilter
from anew.stores.memory import MemoryDatabase
from anew.stores.sqlite import SqliteDatabase
from tests.postgres_server import Database, a_database  # noqa: F401
from tests.runtime.test_control import ONE, TWO, World, _gate_is_a_kind  # noqa: F401
from tests.runtime.test_people import ASK

# Short enough for tests, and long enough that a busy machine says in time that it is alive.
LEASE_SECONDS = 1.5
# So long that nobody is ever taken for dead: what happens then was not found out by a lease.
FOREVER_SECONDS = 600.0
WIDE = """
workflow:
  - step: start
    tool: {kind: noop}
    next: [{step: each}]
  - step: each
    loop: {in: "{{ range(60) | list }}", iterator: n, spec: {mode: parallel, max_in_flight: 60}}
    tool: {kind: noop, result: "{{ iter.n }}"}
    next: [{step: sum}]
  - step: sum
    tool: {kind: noop, result: "{{ each.results | length }}"}
"""
POOLS = """
workflow:
  - step: first
    tool: {kind: noop}
    next: [{step: second}]
  - step: second
    spec: {pool: gpu}
    tool: {kind: gate}
    next: [{step: third}]
  - step: third
    tool: {kind: noop}
"""


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def places(request, tmp_path):
    """Opens the database of a test, once per engine where that is how it is shared."""
    if request.param == "postgres":
        dsn = request.getfixturevalue("database").dsn

        async def postgres(_):
            from anew.stores.postgres import PostgresDatabase

            return await PostgresDatabase.open(dsn)

        return postgres

    async def one(known):
        if known:
            return known[0]
        if request.param == "memory":
            return MemoryDatabase()
        return SqliteDatabase.open(tmp_path / "anew.db", synchronous="NORMAL")

    return one


def together(work, places, folder, *settings):
    """Have `work` with as many engines as there are settings."""

    async def play():
        async with sharing(places, folder, *settings) as worlds:
            return await work(*worlds)

    return asyncio.run(play())


@asynccontextmanager
async def sharing(places, folder, *settings):
    databases = []
    for _ in settings:
        databases.append(await places(databases))
    worlds = []
    try:
        for database, one in zip(databases, settings, strict=True):
            more = {"works_on_all": True, "lease_seconds": LEASE_SECONDS, **one}
            worlds.append(World(folder, database, **more))
        yield worlds
    finally:
        for world in worlds:
            await world.engine.stop(0)
        for database in {id(database): database for database in databases}.values():
            await database.close()


def die(world):
    """As if the process had died: it says nothing more, and nothing is handed back."""
    engine = world.engine
    tasks = [engine.worker._polling, *engine.worker._chains, *engine._coordinator._tasks]
    for task in tasks:
        task.cancel()
    engine._coordinator._stop_listening()


def test_a_wide_loop_is_worked_on_by_both_and_its_log_is_true(places, tmp_path):
    async def work(one, two):
        runs = [await one.start(WIDE) for _ in range(3)]
        for run in runs:
            state = await asyncio.wait_for(two.engine.wait(run), 30)
            assert state.status is RunStatus.DONE
            assert state.last_result == 60
            log = await one.log(run)
            outcomes = [x.iteration for x in log if isinstance(x, e.TaskProcessed)]
            assert sorted(x for x in outcomes if x is not None) == list(range(60))
            for before, after in pairwise(log):
                assert after.at >= before.at, (before, after)

    settings = {"slots": 5}
    together(work, places, tmp_path, settings, settings)


def test_whoever_waits_is_told_of_an_end_elsewhere(places, tmp_path):
    async def work(starter, worker):
        run = await starter.start(ONE)
        ending = asyncio.create_task(starter.ended(run))
        await worker.entered()
        worker.gate.answers.put_nowait({"said": 1})
        assert (await ending).last_result == {"said": 1}

    alone = {"slots": 0, "lease_seconds": FOREVER_SECONDS}
    together(work, places, tmp_path, alone, {"lease_seconds": FOREVER_SECONDS})


def test_the_jobs_of_a_worker_that_died_are_done_by_another(places, tmp_path):
    async def work(dead, heir):
        run = await dead.start(TWO)
        await dead.entered()
        die(dead)
        await heir.entered()
        heir.gate.answers.put_nowait({"said": "late"})
        state = await heir.ended(run)
        assert state.last_result == "late"
        assert len({call.idempotency_key for call in dead.gate.calls + heir.gate.calls}) == 1
        assert [call.place.attempt for call in heir.gate.calls] == [1]
        log = await heir.log(run)
        assert [event.delivery for event in log if isinstance(event, e.StepRedelivered)] == [2]

    together(work, places, tmp_path, {}, {})


def test_a_late_report_of_a_worker_that_was_thought_dead_changes_nothing(places, tmp_path):
    async def work(slow, heir):
        run = await slow.start(TWO)
        await slow.entered()
        for task in slow.engine._coordinator._tasks:  # stopped, as by SIGSTOP: no heartbeat
            task.cancel()
        slow.engine._coordinator._stop_listening()
        await heir.entered()
        slow.gate.answers.put_nowait({"said": "from the dead"})
        heir.gate.answers.put_nowait({"said": "alive"})
        assert (await heir.ended(run)).last_result == "alive"
        log = await heir.log(run)
        firsts = [x for x in log if isinstance(x, e.TaskProcessed) and x.step == "first"]
        assert [x.outcome.result for x in firsts] == [{"said": "alive"}]

    together(work, places, tmp_path, {}, {})


def test_a_job_is_kept_for_as_long_as_its_worker_is_alive(places, tmp_path):
    async def work(busy, other):
        run = await busy.start(ONE)
        await busy.entered()
        looks = 0

        async def counted(leases, until, extend=busy.database.store.extend):
            nonlocal looks
            looks += 1
            return await extend(leases, until)

        busy.database.store.extend = counted
        async with asyncio.timeout(20):
            while looks < 5:  # longer than the lease lasts
                await asyncio.sleep(0.01)
        assert other.gate.calls == []
        busy.gate.answers.put_nowait({"said": 1})
        await busy.ended(run)
        assert len(busy.gate.calls) == 1

    together(work, places, tmp_path, {}, {})


def test_a_cancel_reaches_the_call_of_another_worker_at_once(places, tmp_path):
    async def work(server, worker):
        run = await server.start(ONE)
        await worker.entered()
        assert await server.engine.cancel(run, "enough")
        async with asyncio.timeout(10):
            while not worker.gate.cancelled:
                await asyncio.sleep(0.005)
        assert (await server.ended(run)).status is RunStatus.CANCELLED

    lasting = {"lease_seconds": FOREVER_SECONDS}
    together(work, places, tmp_path, {"slots": 0, **lasting}, lasting)


def test_a_question_is_answered_through_another_process_once(places, tmp_path):
    async def work(one, two):
        run = await one.start(ASK)
        still = await asyncio.wait_for(two.engine.people.until_blocked(run), 10)
        assert still is not None
        said = [world.engine.people.answer(run, "yes") for world in (one, two, one, two)]
        heard = await asyncio.gather(*said, return_exceptions=True)
        assert [isinstance(answer, Exception) for answer in heard].count(False) == 1
        await two.ended(run)
        answers = [x for x in await one.log(run) if isinstance(x, e.HumanAnswered)]
        assert len(answers) == 1

    lasting = {"lease_seconds": FOREVER_SECONDS}
    together(work, places, tmp_path, lasting, lasting)


def test_each_worker_takes_the_jobs_of_its_pools(places, tmp_path):
    async def work(plain, gpu):
        run = await plain.start(POOLS)
        await gpu.entered()
        assert plain.gate.calls == []
        gpu.gate.answers.put_nowait({})
        await plain.ended(run)
        log = await plain.log(run)
        assert [x.step for x in log if isinstance(x, e.StepStarted)] == ["first", "second", "third"]

    lasting = {"lease_seconds": FOREVER_SECONDS}
    together(
        work, places, tmp_path, {"pools": ["default"], **lasting}, {"pools": ["gpu"], **lasting}
    )


def test_a_child_begun_while_its_parent_is_cancelled_elsewhere_does_not_go_on(places, tmp_path):
    (tmp_path / "child.yaml").write_text("workflow: [{step: c, tool: {kind: gate}}]")
    parent = "workflow: [{step: p, tool: {kind: playbook, file: child.yaml}}]"

    async def work(server, worker):
        begun, go_on = asyncio.Event(), asyncio.Event()
        start = worker.engine._starter.start

        async def slow(order):
            if order.parent is not None:
                begun.set()
                await go_on.wait()
            return await start(order)

        worker.engine._starter.start = slow
        run = await server.start(parent)
        await asyncio.wait_for(begun.wait(), 10)
        await server.engine.cancel(run)
        go_on.set()
        async with asyncio.timeout(10):
            while True:
                children = await server.database.archive.runs(RunFilter(parent=run))
                if children and all(row.ended_at for row in children):
                    break
                await asyncio.sleep(0.005)
        assert [row.status for row in children] == [RunStatus.CANCELLED]

    lasting = {"lease_seconds": FOREVER_SECONDS}
    together(work, places, tmp_path, {"slots": 0, **lasting}, lasting)
