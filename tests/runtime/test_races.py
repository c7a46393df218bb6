"""What happens between two awaits: refusals, endings, orders and deaths at the worst moment.

Each test holds one operation at the point that matters, lets the rest of the world go on, and then
lets it through.
"""

import asyncio
from unittest.mock import DEFAULT, AsyncMock

import pytest

from anew.engine import events as e
from anew.engine.fold import fold
from anew.engine.outcome import outcome_of
from anew.engine.state import RunStatus
from anew.errors import ConfigError
from anew.runtime.command_executor import execute
from anew.runtime.forks import ForkPoint
from anew.runtime.keys import made_key
from anew.runtime.programs import read_document
from anew.store import StoreError
from anew.stores.memory import MemoryDatabase
from anew.stores.sqlite import SqliteDatabase
from anew.surfaces.cli.identity import RunIdentity
from anew.surfaces.cli.run import start_intent
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
    ONE,
    TWO,
    World,
    _gate_is_a_kind,  # noqa: F401
    _kill,
    _soon,
    _until,
    in_a_world,
)

NOOP = "workflow: [{step: o, tool: {kind: noop}}]"
FORK = """
workflow:
  - {step: first, tool: {kind: gate}, next: [{step: a}, {step: b}, {step: c}]}
  - {step: a, tool: {kind: gate}}
  - {step: b, tool: {kind: gate}}
  - {step: c, tool: {kind: gate}}
"""
FAN = """
workflow:
  - step: fan
    loop: {in: "{{ range(8) | list }}", iterator: i, spec: {mode: parallel}}
    tool: {kind: gate}
"""


# --- changes that are refused --------------------------------------------------------------------


def test_a_turn_is_not_decided_on_what_was_refused_while_it_waited(tmp_path, monkeypatch):
    monkeypatch.setenv("ANEW_CREDENTIAL_API", '{"type": "bearer", "data": {"token": "sekret-1"}}')
    document = """
keychain: [{name: k, auth: api}]
workflow:
  - {step: start, tool: {kind: noop}, next: [{step: a}, {step: b}, {step: c}]}
  - {step: a, tool: {kind: gate}, next: [{step: d}]}
  - {step: b, tool: {kind: gate}, next: [{step: d}]}
  - {step: c, tool: {kind: gate}}
  - {step: d, spec: {join: all}, tool: {kind: noop}}
"""

    async def work(world):
        run = await world.start(document)
        await _soon(lambda: len(world.gate.calls) == 3)
        assert [call.place.step for call in world.gate.calls] == ["a", "b", "c"]
        refused = Hold(world.database.store, "commit", error=StoreError("disk full"))
        world.gate.answers.put_nowait({"who": "a"})
        await refused.reached()
        slow_vault = Hold(world.engine.ledger.live, "refresh_secrets")
        world.gate.answers.put_nowait({"who": "b"})
        await slow_vault.reached()
        refused.let_go()
        await _soon(world.engine.worker.failure.done)
        # As many events as the refused turn had, so that a version alone would not tell.
        world.gate.answers.put_nowait({"who": "c"})
        await _until(world, run, "step.done", times=2)
        slow_vault.let_go()
        await _until(world, run, "step.done", times=3)
        done = [x.step for x in await world.log(run) if isinstance(x, e.StepDone)]
        assert done == ["start", "c", "b"]

    in_a_world(work, tmp_path)


def test_jobs_leased_ahead_get_the_slot_of_a_start_that_is_refused(tmp_path):
    async def work(world):
        run = await world.start(ONE, key="nightly")
        await world.entered()
        other = await world.start(NOOP)
        store = world.database.store
        looking = Hold(store, "lease", after=True)
        world.gate.answers.put_nowait({})
        await looking.reached()
        starting = Hold(store, "commit", lambda commit: commit.new is not None)
        again = asyncio.create_task(world.start(ONE, key="nightly"))
        await starting.reached()
        looking.let_go()
        await _soon(lambda: world.engine.worker.poller._ahead)
        starting.let_go()
        assert await again == run
        assert (await world.ended(other)).status is RunStatus.DONE

    in_a_world(work, tmp_path, slots=1)


@pytest.mark.parametrize("error", [None, StoreError("the disk is full")])
def test_the_slot_of_a_start_that_is_refused_is_used_by_who_waits_for_it(tmp_path, error):
    async def work(world):
        await world.ended(await world.start(NOOP, key="nightly"))
        starting = Hold(world.database.store, "commit", error=error)
        again = asyncio.create_task(world.start(NOOP, key="nightly"))
        await starting.reached()
        other = await world.start(NOOP)
        world.engine.worker.poller.adopt([other])
        await _feeder_waits(world)
        starting.let_go()
        await asyncio.wait({again})
        assert again.exception() is error
        assert (await world.ended(other)).status is RunStatus.DONE

    in_a_world(work, tmp_path, slots=1)


async def _feeder_waits(world):
    worker = world.engine.worker
    await _soon(lambda: worker.poller._next_due == 0 and not worker.poller._signal.is_set())


def test_a_store_that_fails_inside_a_call_is_not_the_calls_outcome(tmp_path):
    with_a_child(tmp_path, "{kind: noop}")

    async def play():
        database = MemoryDatabase()
        first = World(tmp_path, database)
        full = StoreError("the disk is full")
        Hold(database.store, "commit", starts_a_child, error=full).let_go()
        run = await first.start(PARENT)
        with pytest.raises(StoreError, match="disk is full"):
            await first.ended(run)
        assert "task.processed" not in await first.names(run)
        await first.engine.stop(0)
        second = World(tmp_path, database)
        await second.engine.adopt([run])
        assert (await second.ended(run)).status is RunStatus.DONE
        await second.engine.stop(0)

    asyncio.run(play())


# --- orders about a run this engine works on -----------------------------------------------------


def test_adopting_a_run_that_is_at_work_here_delivers_nothing_again(tmp_path):
    async def work(world):
        run = await world.start(FAN, key="nightly")
        for _ in range(8):
            await world.engine.resume(run)
            await world.engine.adopt([run])
            assert await world.start(FAN, key="nightly") == run
            world.gate.answers.put_nowait({})
        await world.ended(run)
        assert len(world.gate.calls) == 8
        assert "step.redelivered" not in await world.names(run)

    in_a_world(work, tmp_path)


def test_adopting_a_parent_delivers_nothing_again_in_a_child_that_is_at_work(tmp_path):
    with_a_child(tmp_path)

    async def work(world):
        run = await world.start(PARENT)
        await world.entered()
        await world.engine.adopt([run])
        world.gate.answers.put_nowait({})
        await world.ended(run)
        assert len(world.gate.calls) == 1

    in_a_world(work, tmp_path)


def test_adopting_a_parent_whose_child_is_just_being_started_delivers_nothing_again(tmp_path):
    with_a_child(tmp_path)

    async def work(world):
        written = Hold(world.database.store, "commit", starts_a_child, after=True)
        run = await world.start(PARENT)
        await written.reached()
        await _begin_and_let_go(world.engine.adopt([run]), written)
        await world.entered()
        world.gate.answers.put_nowait({})
        child = (await child_of(world, run)).run
        await world.ended(run)
        assert len(world.gate.calls) == 1
        assert "step.redelivered" not in await world.names(child)

    in_a_world(work, tmp_path)


def test_two_starts_with_one_key_at_the_same_time_deliver_once(tmp_path):
    async def work(world):
        written = Hold(world.database.store, "commit", after=True)
        first = asyncio.create_task(world.start(ONE, key="nightly"))
        await written.reached()
        await _begin_and_let_go(world.start(ONE, key="nightly"), written)
        await world.entered()
        world.gate.answers.put_nowait({})
        await world.ended(await first)
        assert len(world.gate.calls) == 1
        assert "step.redelivered" not in await world.names(await first)

    in_a_world(work, tmp_path)


async def _begin_and_let_go(order, held):
    """Have an order come as far as it can while an operation is held, and then to its end."""
    ordered = asyncio.create_task(order)
    for _ in range(20):
        await asyncio.sleep(0)
    held.let_go()
    await ordered


def test_calls_that_begin_just_when_their_run_is_cancelled_are_stopped_too(tmp_path):
    async def work(world):
        run = await world.start(FORK)
        await world.entered()
        # One flush of a disk makes both durable, and tells one after the other.
        store = world.database.store
        going_on = Hold(store, "commit", after=True)
        world.gate.answers.put_nowait({})
        await going_on.reached()
        ending = Hold(store, "commit", lambda commit: commit.drop_all, after=True)
        cancelling = asyncio.create_task(world.engine.cancel(run))
        await ending.reached()
        going_on.let_go()
        ending.let_go()
        assert await cancelling
        await _soon(lambda: len(world.gate.cancelled) == len(world.gate.calls) - 1)
        await _soon(lambda: not world.engine.worker._chains)

    in_a_world(work, tmp_path)


def test_an_adoption_that_failed_can_be_tried_again(tmp_path):
    async def play():
        database = MemoryDatabase()
        first = World(tmp_path, database)
        run = await first.start(TWO)
        await first.entered()
        _kill(first)
        second = World(tmp_path, database)
        Hold(database.store, "expired", error=StoreError("the database is busy")).let_go()
        with pytest.raises(StoreError, match="busy"):
            await second.engine.adopt([run])
        await second.engine.adopt([run])
        await second.entered()
        second.gate.answers.put_nowait({"said": "at last"})
        assert (await second.ended(run)).last_result == "at last"
        await second.engine.stop(0)

    asyncio.run(play())


def test_a_second_pause_changes_nothing_and_says_so(tmp_path):
    async def work(world):
        run = await world.start(ONE)
        await world.entered()
        assert await world.engine.pause(run)
        assert not await world.engine.pause(run)

    in_a_world(work, tmp_path)


def test_both_halves_of_a_wish_for_a_run_have_one_key(tmp_path):
    async def work(world):
        document = read_document(NOOP, str(tmp_path / "test.yaml"))
        for key in (None, "nightly"):
            identity = RunIdentity(key or made_key(), {}, None)
            wish = start_intent(document, {}, identity, has_preflight=False)
            started = await wish.here(world.engine)
            asked = await execute(world.engine, wish.there)
            assert asked == {**started, "is_new": False}
            assert key in (None, wish.there.key)

    in_a_world(work, tmp_path)


def test_a_retried_run_has_a_job_for_all_it_has_to_do_once_it_exists(tmp_path):
    document = """
workflow:
  - {step: start, tool: {kind: noop}, next: [{step: a}, {step: b}]}
  - {step: a, tool: {kind: gate}}
  - {step: b, tool: {kind: noop}, next: [{step: c}]}
  - {step: c, tool: {kind: gate}}
"""

    async def work(world):
        run = await world.start(document)
        await _soon(lambda: len(world.gate.calls) == 2)
        await world.engine.cancel(run)
        plan = await world.engine.forks.plan(run, ForkPoint(step="c"))
        beginning = plan.history(run, "again", labels={}, workload={})
        again = (await world.engine._starter.reopen(beginning)).run
        live = {step.key for step in fold(await world.log(again)).live_step_runs()}
        assert {key.step for key in live} == {"a", "c"}
        assert {row.job.key for row in await world.database.archive.jobs(again)} == live

    in_a_world(work, tmp_path)


# --- who waits, and who looks on -----------------------------------------------------------------


def test_a_run_that_ends_while_it_is_being_read_is_not_waited_for_in_vain(tmp_path):
    async def work(world):
        run = await world.start(ONE)
        await world.entered()
        world.engine.ledger.live.forget(run)
        reading = Hold(world.database.store, "load", after=True)
        waiting = asyncio.create_task(world.ended(run))
        await reading.reached()
        world.gate.answers.put_nowait({})
        await until_ended(world, run)
        reading.let_go()
        assert (await waiting).status is RunStatus.DONE
        assert (await world.ended(run)).status is RunStatus.DONE
        assert not await world.engine.cancel(run)

    in_a_world(work, tmp_path)


def test_two_who_read_a_run_while_it_ends_do_not_keep_each_other_reading(tmp_path):
    async def work(world):
        run = await world.start(ONE)
        await world.entered()
        world.engine.ledger.live.forget(run)
        store = world.database.store
        store.load = AsyncMock(wraps=store.load, side_effect=[DEFAULT] * 20)
        slow = Hold(store, "load", after=True)
        waiting = asyncio.create_task(world.ended(run))
        await slow.reached()
        slower = Hold(store, "load", after=True)
        waiting_too = asyncio.create_task(world.ended(run))
        await slower.reached()
        world.gate.answers.put_nowait({})
        await until_ended(world, run)
        slow.let_go()
        assert (await waiting).status is RunStatus.DONE
        slower.let_go()
        assert (await waiting_too).status is RunStatus.DONE

    in_a_world(work, tmp_path)


@pytest.mark.parametrize("is_waited_for", [True, False])
def test_a_run_that_cannot_be_read_harms_no_other(tmp_path, is_waited_for):
    async def play():
        database = MemoryDatabase()
        first = World(tmp_path, database, slots=1)
        good = await first.start(ONE)
        await first.entered()
        bad = await first.start(TWO)
        _kill(first)
        second = World(tmp_path, database)
        _make_unreadable(second, (await database.archive.run(bad)).digest)
        waiting = asyncio.create_task(second.ended(good))
        waiting_in_vain = asyncio.create_task(second.ended(bad)) if is_waited_for else None
        await second.engine.adopt([good, bad])
        await second.entered()
        await _soon(lambda: len(second.engine.worker._chains) == 1)
        second.gate.answers.put_nowait({})
        assert (await waiting).status is RunStatus.DONE
        if waiting_in_vain is not None:
            with pytest.raises(ConfigError, match="unreadable"):
                await waiting_in_vain
        await second.engine.stop(0)

    asyncio.run(play())


def _make_unreadable(world, digest):
    get = world.engine.programs.get

    async def refuse(asked):
        if asked == digest:
            raise ConfigError("unreadable")
        return await get(asked)

    world.engine.programs.get = refuse


def test_a_listener_that_fails_harms_neither_the_run_nor_other_listeners(tmp_path):
    def fail(run, events):
        raise RuntimeError("a bug of a view")

    async def work(world):
        told = []
        world.engine.listen(fail)
        world.engine.listen(lambda _, events: told.extend(event.name for event in events))
        run = await world.start(ONE)
        await world.entered()
        world.gate.answers.put_nowait({})
        assert (await world.ended(run)).status is RunStatus.DONE
        assert told == await world.names(run)

    in_a_world(work, tmp_path)


def test_a_long_run_does_not_keep_another_out_of_the_only_slot(tmp_path):
    endless = """
workflow:
  - {step: a, tool: {kind: noop}, next: [{step: b}]}
  - {step: b, tool: {kind: noop}, next: [{step: a}]}
"""

    async def play():
        database = SqliteDatabase.open(tmp_path / "anew.db", synchronous="NORMAL")
        world = World(tmp_path, database, slots=1)
        long = await world.start(endless)
        short = await world.start(NOOP)
        assert (await world.ended(short)).status is RunStatus.DONE
        assert await world.engine.cancel(long)
        await world.engine.stop(0)
        await database.close()

    asyncio.run(play())


# --- stopping ------------------------------------------------------------------------------------


def test_stopping_closes_the_tools_even_if_a_job_cannot_be_handed_back(tmp_path):
    async def play():
        world = World(tmp_path, slots=1)
        world.gate.close = AsyncMock()
        for _ in range(3):
            await world.start(ONE)
        await world.entered()
        world.gate.answers.put_nowait({})
        await _soon(lambda: world.engine.worker.poller._ahead)
        await world.entered()
        Hold(world.database.store, "release", error=StoreError("disk full")).let_go()
        with pytest.raises(StoreError, match="disk full"):
            await world.engine.stop(0)
        world.gate.close.assert_awaited_once()
        assert len(world.gate.cancelled) == 1

    asyncio.run(play())


def test_what_a_call_does_to_clean_up_is_not_cancelled_as_well(tmp_path):
    async def work(world):
        cleaning, may_end, cleaned = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def call(_):
            try:
                await asyncio.Event().wait()
            finally:
                cleaning.set()
                await may_end.wait()
                cleaned.set()
            return outcome_of({})

        world.gate.call = call
        run = await world.start(ONE)
        await _soon(lambda: world.engine.is_at_work)
        await world.engine.cancel(run)
        await cleaning.wait()
        world.engine.hurry()
        may_end.set()
        await world.engine.stop(0)
        assert cleaned.is_set()

    in_a_world(work, tmp_path)
