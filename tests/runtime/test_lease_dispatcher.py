"""Those who wait for jobs are served in order, at no cost while there is nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count

import pytest

from anew.engine.moments import NANOSECONDS
from anew.runtime import lease_dispatcher, notice_buffer
from anew.runtime.lease_dispatcher import LeaseDispatcher
from anew.runtime.notice_buffer import NOTICES_KEPT_MAX, NoticeBuffer, merged
from anew.store import Notice, RunId, StoreError
from anew.stores.contract.making import RUN, first, follows, job, paused
from anew.stores.memory import MemoryDatabase, MemoryStore
from anew.stores.notices import LocalNotices
from anew.stores.remote.wire import LeaseRequest

LEASE = 30 * NANOSECONDS
tickets = count()


class Counting(MemoryStore):
    """Counts how often it is asked for jobs, and can be slow to give them."""

    looks = 0
    gate: asyncio.Event | None = None

    async def lease(self, **asked):
        self.looks += 1
        batch = await super().lease(**asked)
        if self.gate is not None and batch.leases:
            await self.gate.wait()
        return batch


def counting() -> tuple[MemoryDatabase, Counting]:
    database = MemoryDatabase()
    database.store = store = Counting(database.store._runs, database.notices, database.guards)
    return database, store


async def never() -> None:
    await asyncio.Event().wait()


def asks(dispatcher: LeaseDispatcher, gone=never, **more) -> asyncio.Task:
    now = dispatcher._database.clock.now()
    asked = {"limit": 1, "ticket": f"t{next(tickets)}", "wait_seconds": 20.0, **more}
    return asyncio.create_task(dispatcher.lease(LeaseRequest(now, now + LEASE, **asked), gone))


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not is_so():
            await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def _no_net(monkeypatch):
    """Nothing is found because of the slow poll."""
    monkeypatch.setattr(lease_dispatcher, "POLL_SECONDS", 3600.0)


def test_a_thousand_wait_for_one_look_and_three_jobs_for_three_more():
    async def go():
        database, store = counting()
        dispatcher = LeaseDispatcher(database)
        asking = [asks(dispatcher) for _ in range(1000)]
        await until(lambda: len(dispatcher._waiting) == 1000 and store.looks > 0)
        assert store.looks == 1
        await store.commit(first(jobs=[job("a", n) for n in range(3)]))
        await until(lambda: sum(task.done() for task in asking) == 3)
        assert [task.done() for task in asking[:4]] == [True, True, True, False]
        assert [len(task.result().leases) for task in asking[:3]] == [1, 1, 1]
        assert store.looks == 4
        await store.commit(follows(1, paused(2)))
        await asyncio.sleep(0)
        assert store.looks == 4
        await dispatcher.close()
        assert {len(task.result().leases) for task in asking[3:]} == {0}

    asyncio.run(go())


def test_a_job_that_becomes_due_is_handed_out_then():
    async def go():
        database, store = counting()
        dispatcher = LeaseDispatcher(database)
        due_at = database.clock.now() + NANOSECONDS // 20
        await store.commit(first(jobs=[job(due_at=due_at)]))
        batch = await asks(dispatcher)
        assert len(batch.leases) == 1
        assert database.clock.now() >= due_at
        assert batch.leases[0].until >= due_at + LEASE
        assert store.looks == 2
        await dispatcher.close()

    asyncio.run(go())


def test_what_a_lost_notice_was_about_is_found_by_looking(monkeypatch):
    monkeypatch.setattr(lease_dispatcher, "POLL_SECONDS", 0.01)

    async def go():
        database, store = counting()
        dispatcher = LeaseDispatcher(database)
        asking = asks(dispatcher)
        await until(lambda: store.looks > 0)
        database.notices.tell = lambda notices: None
        await store.commit(first(jobs=[job()]))
        assert len((await asking).leases) == 1
        await dispatcher.close()

    asyncio.run(go())


def test_a_line_is_looked_at_though_another_hears_of_jobs_all_the_time(monkeypatch):
    monkeypatch.setattr(lease_dispatcher, "POLL_SECONDS", 0.05)

    async def go():
        database, store = counting()
        dispatcher = LeaseDispatcher(database)
        asks(dispatcher, pools=["busy"])
        found = asks(dispatcher, pools=["quiet"])
        await until(lambda: store.looks >= 2)
        tell, database.notices.tell = database.notices.tell, lambda notices: None
        await store.commit(first(jobs=[job(pool="quiet")]))
        async with asyncio.timeout(20):
            while not found.done():
                # Others are quicker to take it.
                tell([Notice(RunId(99), due={"busy": 1})])
                await asyncio.sleep(0)
        assert len(found.result().leases) == 1
        await dispatcher.close()

    asyncio.run(go())


@pytest.mark.parametrize("wait_seconds", [20.0, 0.0])
def test_a_request_that_was_long_under_way_gets_a_lease_of_the_whole_time(wait_seconds):
    async def go():
        database, store = counting()
        dispatcher = LeaseDispatcher(database)
        await store.commit(first(jobs=[job()]))
        now = database.clock.now()
        asked = LeaseRequest(
            now - 2 * LEASE, now - LEASE, limit=1, ticket="t", wait_seconds=wait_seconds
        )
        for _ in range(2):
            # The second time because the first answer got lost.
            now = database.clock.now()
            [held] = (await dispatcher.lease(asked, never)).leases
            [row] = await database.archive.jobs(RUN)
            assert now + LEASE <= held.until == row.leased_until
        await dispatcher.close()

    asyncio.run(go())


def test_each_pool_has_a_line_of_its_own():
    async def go():
        database, store = counting()
        dispatcher = LeaseDispatcher(database)
        gpu, other = asks(dispatcher, pools=["gpu"]), asks(dispatcher, pools=["default"])
        await until(lambda: store.looks == 2)
        await store.commit(first(jobs=[job()]))
        assert len((await other).leases) == 1
        assert not gpu.done()
        assert store.looks == 3
        await store.commit(follows(1, paused(2), jobs=[job("b", pool="gpu")]))
        assert len((await gpu).leases) == 1
        await dispatcher.close()

    asyncio.run(go())


def test_who_came_first_is_served_first_whatever_line():
    async def go():
        database, store = counting()
        dispatcher = LeaseDispatcher(database)
        anything, default = asks(dispatcher), asks(dispatcher, pools=["default"])
        await until(lambda: store.looks == 2)
        await store.commit(first(jobs=[job()]))
        assert len((await anything).leases) == 1
        assert not default.done()
        await dispatcher.close()

    asyncio.run(go())


def test_the_versions_of_the_runs_come_along():
    async def go():
        database, store = counting()
        dispatcher = LeaseDispatcher(database)
        await store.commit(first(jobs=[job()]))
        await store.commit(follows(1, paused(2)))
        assert (await asks(dispatcher)).versions == {RUN: 2}
        await dispatcher.close()

    asyncio.run(go())


def test_nothing_is_leased_for_who_has_gone():
    async def go():
        database, store = counting()
        dispatcher = LeaseDispatcher(database)
        hung_up = asyncio.Event()
        gone, stays = asks(dispatcher, hung_up.wait), asks(dispatcher)
        await until(lambda: len(dispatcher._waiting) == 2)
        hung_up.set()
        assert (await gone).leases == []
        await store.commit(first(jobs=[job()]))
        held = (await stays).leases
        assert [lease.token for lease in held] == [1]
        await dispatcher.close()

    asyncio.run(go())


@pytest.mark.parametrize("wait_seconds", [20.0, 0.001])
def test_what_was_being_leased_for_who_has_gone_is_handed_back(wait_seconds):
    async def go():
        database, store = counting()
        dispatcher = LeaseDispatcher(database)
        store.gate, hung_up = asyncio.Event(), asyncio.Event()
        await store.commit(first(jobs=[job()]))
        gone = asks(dispatcher, hung_up.wait, wait_seconds=wait_seconds)
        await until(lambda: store.looks > 0)
        hung_up.set()
        assert (await gone).leases == []
        store.gate.set()
        assert len((await asks(dispatcher)).leases) == 1
        await dispatcher.close()

    asyncio.run(go())


def test_the_same_ticket_gets_the_same_leases():
    async def go():
        database, store = counting()
        dispatcher = LeaseDispatcher(database)
        await store.commit(first(jobs=[job(), job("b")]))
        one, again = await asks(dispatcher, ticket="t"), await asks(dispatcher, ticket="t")
        assert [lease.job for lease in one.leases] == [lease.job for lease in again.leases]
        assert store.looks == 1
        await dispatcher.leave("t")
        assert (await asks(dispatcher, ticket="t")).leases == []
        assert len((await asks(dispatcher, limit=5)).leases) == 2
        await dispatcher.close()

    asyncio.run(go())


def test_a_ticket_that_is_asked_again_while_it_waits_waits_once():
    async def go():
        database, store = counting()
        dispatcher = LeaseDispatcher(database)
        old = asks(dispatcher, ticket="t")
        await until(lambda: len(dispatcher._waiting) == 1)
        new = asks(dispatcher, ticket="t")
        assert (await old).leases == []
        await store.commit(first(jobs=[job()]))
        assert len((await new).leases) == 1
        await dispatcher.close()

    asyncio.run(go())


def test_a_store_that_fails_is_told_to_who_waits():
    async def go():
        database, store = counting()
        dispatcher = LeaseDispatcher(database)

        async def fails(**asked):
            raise StoreError("the disk is full")

        store.lease = fails
        with pytest.raises(StoreError, match="the disk is full"):
            await asks(dispatcher)
        del store.lease
        await store.commit(first(jobs=[job()]))
        assert len((await asks(dispatcher)).leases) == 1
        await dispatcher.close()

    asyncio.run(go())


def test_a_closed_desk_sends_everyone_away():
    async def go():
        database, _ = counting()
        dispatcher = LeaseDispatcher(database)
        asking = asks(dispatcher)
        hearing = asyncio.create_task(dispatcher.board.after(dispatcher.board.cursor, 20.0))
        await until(lambda: len(dispatcher._waiting) == 1)
        await dispatcher.close()
        assert (await asking).leases == []
        assert (await hearing)[1] == []
        with pytest.raises(StoreError, match="the server is stopping"):
            await asks(dispatcher)
        await dispatcher.close()

    asyncio.run(go())


def test_a_desk_that_closes_while_it_leases_hands_back():
    async def go():
        database, store = counting()
        dispatcher = LeaseDispatcher(database)
        store.gate = asyncio.Event()
        await store.commit(first(jobs=[job()]))
        asking = asks(dispatcher)
        await until(lambda: store.looks > 0)
        closing = asyncio.create_task(dispatcher.close())
        assert (await asking).leases == []
        store.gate.set()
        await closing
        assert [row.leased_until for row in await database.archive.jobs(RUN)] == [None]

    asyncio.run(go())


def test_the_board_tells_what_came_after_a_cursor():
    async def go():
        notices = LocalNotices()
        board = NoticeBuffer(notices)
        start = board.cursor
        notices.tell([Notice(RunId(1), 1), Notice(RunId(2), 1)])
        middle, told = await board.after(start, 0.0)
        assert [notice.run for notice in told] == [1, 2]
        waiting = asyncio.create_task(board.after(middle, 20.0))
        await asyncio.sleep(0)
        notices.tell([Notice(RunId(3), 1)])
        _, told = await waiting
        assert [notice.run for notice in told] == [3]
        assert (await board.after("another-life", 0.0))[1] == []
        assert (await board.after("", 0.0))[1] == []

    asyncio.run(go())


def test_the_board_tells_who_was_just_answered_of_many_commits_at_once(monkeypatch):
    async def go():
        notices = LocalNotices()
        board = NoticeBuffer(notices)
        monkeypatch.setattr(notice_buffer, "GATHER_SECONDS", 0.2)
        waiting = asyncio.create_task(board.after(board.cursor, 20.0))
        for version in range(1, 4):
            await asyncio.sleep(0)
            notices.tell([Notice(RUN, version)])
        cursor, told = await waiting
        assert told == [Notice(RUN, 3)]
        monkeypatch.setattr(notice_buffer, "GATHER_SECONDS", 3600.0)
        waiting = asyncio.create_task(board.after(cursor, 3600.0))
        await asyncio.sleep(0)
        notices.tell([Notice(RUN, 4)])
        await asyncio.sleep(0)
        assert not waiting.done()
        notices.tell([Notice(RunId(9), 1, has_turned=True)])
        async with asyncio.timeout(20):
            assert len((await waiting)[1]) == 2

    asyncio.run(go())


def test_the_board_keeps_a_bounded_number():
    async def go():
        notices = LocalNotices()
        board = NoticeBuffer(notices)
        start = board.cursor
        notices.tell([Notice(RunId(n)) for n in range(NOTICES_KEPT_MAX + 5)])
        _, told = await board.after(start, 0.0)
        assert len(told) == NOTICES_KEPT_MAX
        assert told[0].run == 5

    asyncio.run(go())


def test_notices_of_one_run_become_one():
    told = merged(
        [
            Notice(RUN, 2, {"a": 5, "b": 7}),
            Notice(RunId(9), 1),
            Notice(RUN, 3, {"a": 4}, has_turned=True),
        ]
    )
    assert told == [Notice(RUN, 3, {"a": 4, "b": 7}, has_turned=True), Notice(RunId(9), 1)]
