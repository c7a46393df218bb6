"""Two engines on one database when things go wrong: deaths, silence, outages, clocks behind."""

import asyncio
import gc

import pytest

from anew.clock import WallClock
from anew.engine import events as e
from anew.engine.fold import fold
from anew.engine.moments import NANOSECONDS
from anew.engine.state import RunStatus
from anew.runtime import suspects, turns
from anew.store import Notice, RunFilter, StoreError
from anew.stores.memory import MemoryDatabase
from tests.runtime.test_child_tool import CHILD, PARENT
from tests.runtime.test_control import ONE, World, _gate_is_a_kind  # noqa: F401
from tests.runtime.test_coordination import FOREVER_SECONDS, LEASE_SECONDS, die
from tests.runtime.test_signals import PAY


def together(work, folder, *settings):
    """Have `work` with as many engines as there are settings, all on one database."""

    async def play():
        database, worlds = MemoryDatabase(), []
        try:
            for one in settings:
                more = {"works_on_all": True, "lease_seconds": FOREVER_SECONDS, **one}
                worlds.append(World(folder, database, **more))
            return await work(*worlds)
        finally:
            for world in worlds:
                await world.engine.stop(0)

    return asyncio.run(play())


async def soon(holds, seconds=20):
    async with asyncio.timeout(seconds):
        while not (found := await holds()):
            await asyncio.sleep(0.005)
    return found


def test_children_of_a_run_cancelled_by_a_process_that_died_are_cancelled(tmp_path):
    (tmp_path / "child.yaml").write_text(CHILD)

    async def work(server, other):
        run = await server.start(PARENT)
        await other.entered()
        killed = asyncio.Event()

        async def dies():
            killed.set()
            await asyncio.Event().wait()

        server.engine._children._finish_starting = dies
        cancelling = asyncio.create_task(server.engine.cancel(run))
        await asyncio.wait_for(killed.wait(), 10)
        die(server)
        cancelling.cancel()
        del server.engine._children._finish_starting

        async def has_ended():
            [child] = await other.database.archive.runs(RunFilter(parent=run))
            return child.status is RunStatus.CANCELLED

        async def has_stopped():
            return other.gate.cancelled

        await soon(has_ended)
        await soon(has_stopped)  # its call is stopped once its end is durable, a moment later
        assert len(other.gate.cancelled) == 1

    brief = {"lease_seconds": LEASE_SECONDS}
    together(work, tmp_path, {"slots": 0, **brief}, brief)


def test_jobs_leased_ahead_of_a_long_call_go_to_an_idle_worker(tmp_path):
    async def work(starter, busy, idle):
        idle.engine.worker._slots.close()
        for _ in range(5):
            await starter.start(ONE)
        await busy.entered()

        async def is_ahead():
            return len(busy.engine.worker.poller.ahead) == 4

        await soon(is_ahead)
        idle.engine.worker._slots.open()

        async def all_begun():
            return len(idle.gate.calls) == 4

        await soon(all_begun)

    together(work, tmp_path, {"slots": 0}, {"slots": 1}, {"slots": 8})


def test_a_lease_that_ran_out_while_nobody_could_say_so_is_not_taken(tmp_path):
    async def work(busy, other):
        run = await busy.start(ONE)
        await busy.entered()
        store, sharing = busy.database.store, other.engine._coordinator
        [lease] = busy.engine.worker.leases()
        past = busy.database.clock.now() - NANOSECONDS
        await store.extend([lease], past)  # as after an outage: all are late
        await sharing._take_over()
        await sharing._take_over()  # too soon after the first look to mean anything
        await busy.engine._coordinator._say_alive()
        await sharing._take_over()
        assert await store.extend([lease], past - 1)
        await sharing._take_over()
        assert "step.redelivered" not in await busy.names(run)
        sharing._beat_seconds = 0.0  # as if a heartbeat's time had passed: that worker is dead
        await sharing._take_over()
        names = await busy.names(run)
        assert names.count("step.redelivered") == 1

    together(work, tmp_path, {}, {"slots": 0})


def test_a_notice_that_comes_as_its_listener_stops_is_dropped_in_silence(tmp_path):
    async def work(one):
        run = await one.start(ONE)
        await one.entered()
        sharing = one.engine._coordinator
        sharing._hear(Notice(run, has_turned=True))
        await sharing.stop()

    together(work, tmp_path, {})
    gc.collect()  # a coroutine that nobody awaited would say so now


def test_a_lease_that_is_extended_at_the_last_moment_is_not_taken(tmp_path):
    async def work(busy, other):
        run = await busy.start(ONE)
        await busy.entered()
        store, sharing = busy.database.store, other.engine._coordinator
        [lease] = busy.engine.worker.leases()
        past = busy.database.clock.now() - NANOSECONDS
        await store.extend([lease], past)
        [late] = await store.expired(past + 1)
        await busy.engine._coordinator._say_alive()
        await sharing._recover(late)
        assert "step.redelivered" not in await busy.names(run)

    together(work, tmp_path, {}, {"slots": 0})


def test_one_run_that_breaks_does_not_keep_others_from_being_taken_over(tmp_path):
    async def work(dead, heir):
        bad = await dead.start(ONE)
        await dead.entered()
        good = await dead.start(ONE)
        await dead.entered()
        die(dead)
        recover = heir.engine.worker.recover

        async def breaks(lease):
            if lease.job.run == bad:
                raise KeyError("what nobody foresaw")
            await recover(lease)

        heir.engine.worker.recover = breaks
        await heir.entered()
        assert [call.place.run for call in heir.gate.calls] == [str(good)]

    brief = {"lease_seconds": LEASE_SECONDS}
    together(work, tmp_path, brief, brief)


def test_an_engine_that_serves_others_survives_a_store_that_is_away(tmp_path):
    async def work(world):
        async def away(*_):
            raise StoreError("away")

        children = world.engine._children
        children._cancel_children = away
        children.end_branches(1, [])
        await asyncio.gather(*children._ending, return_exceptions=True)
        assert not world.engine.worker.failure.done()

    together(work, tmp_path, {})


def test_a_turn_that_breaks_leaves_nothing_in_memory_that_never_was(tmp_path, monkeypatch):
    async def work(one, two):
        run = await one.start(PAY)
        await soon(lambda: one.engine.people.until_blocked(run))
        await two.engine.ledger.live.newest(run)
        decide = turns.decide

        def breaks(*args):
            decide(*args)
            raise RecursionError("in a template, say")

        monkeypatch.setattr(turns, "decide", breaks)
        with pytest.raises(RecursionError):
            await two.engine.signals.signal(run, "ghost")
        monkeypatch.setattr(turns, "decide", decide)
        await one.engine.signals.signal(run, "real")
        await two.engine.signals.signal(run, "third")
        known = two.engine.ledger.live.known(run)
        stored = fold(await two.database.archive.events(run))
        assert known.state == stored

    together(work, tmp_path, {}, {"slots": 0})


class Behind(WallClock):
    """Of a machine whose clock is late."""

    def now(self):
        return super().now() - NANOSECONDS // 2


def test_two_equal_signals_through_late_clocks_are_two(tmp_path):
    async def work(first, *late):
        run = await first.start(PAY)
        await soon(lambda: first.engine.people.until_blocked(run))
        for world in late:
            await world.engine.ledger.live.newest(run)
        store = first.database.store
        commit, both, first_ones = store.commit, asyncio.Barrier(2), [1, 2]

        async def together_once(one):
            if first_ones:
                first_ones.pop()
                await both.wait()
            await commit(one)

        store.commit = together_once
        sent = [world.engine.signals.signal(run, "tick", {"n": 1}) for world in late]
        assert await asyncio.gather(*sent) == [True, True]
        log = await first.database.archive.events(run)
        assert len([event for event in log if isinstance(event, e.SignalReceived)]) == 2

    behind = {"clock": Behind(), "slots": 0}
    together(work, tmp_path, {}, behind, behind)


def test_who_waits_no_longer_is_forgotten_and_does_not_disturb_others(tmp_path):
    async def work(world):
        run = await world.start(ONE)
        await world.entered()
        staying, leaving = (asyncio.create_task(world.engine.wait(run)) for _ in range(2))
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        assert world.engine.ledger.endings.awaited == [run]
        world.gate.answers.put_nowait({"said": 1})
        assert (await asyncio.wait_for(staying, 10)).last_result == {"said": 1}
        assert world.engine.ledger.endings.awaited == []
        other = await world.start(ONE)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(world.engine.wait(other), 0.01)
        assert world.engine.ledger.endings.awaited == []

    together(work, tmp_path, {})


def test_a_cancelled_suspect_frees_the_worker_it_waited_in(tmp_path, monkeypatch):
    monkeypatch.setattr(suspects, "SUSPECT_SECONDS_MAX", 0)

    async def work(busy, starter):
        await busy.start(ONE)
        await busy.entered()
        suspect = None

        async def is_last_chance(chain):
            return chain.lease.job.run == suspect

        busy.engine.worker._is_last_chance = is_last_chance
        busy.engine.worker.poller.stop()  # until the suspect is known
        await busy.engine.worker._polling
        suspect = await starter.start(ONE)
        lease = (await busy.database.store.lease(now=2**62, until=2**62, limit=1)).leases[0]
        busy.engine.worker._slots.take(1)
        busy.engine.worker._begin_leased(lease, 0)

        async def waits():
            return busy.engine.worker._slots.free < 0

        await soon(waits)
        await starter.engine.cancel(suspect)

        async def is_open():
            return busy.engine.worker._slots.free > 0

        await soon(is_open)
        assert len(busy.gate.calls) == 1

    together(work, tmp_path, {"slots": 8}, {"slots": 0})
