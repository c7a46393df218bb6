"""Processes hear of each other's changes, once, soon, and again after the connection was lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from anew.store import ANY_POOL, Notice, Park, RunId, WaitReason
from anew.stores.contract.making import (
    LATER,
    NOW,
    RUN,
    first,
    follows,
    job,
    only_lease,
    paused,
    ref,
)
from anew.stores.postgres import PostgresDatabase
from anew.stores.postgres.notices import PAYLOAD_BYTES_MAX, payloads_of
from tests.postgres_server import Database, a_module_database  # noqa: F401

HEARD_SECONDS_MAX = 30.0


class Ear:
    """What was heard, and a way to wait for it."""

    def __init__(self, database: PostgresDatabase) -> None:
        self.heard: list[Notice] = []
        self._changed = asyncio.Event()
        self.stop = database.notices.listen(self._hear)

    def _hear(self, notice: Notice) -> None:
        self.heard.append(notice)
        self._changed.set()

    async def until(self, is_heard: Callable[[list[Notice]], bool]) -> None:
        async with asyncio.timeout(HEARD_SECONDS_MAX):
            while not is_heard(self.heard):
                self._changed.clear()
                await self._changed.wait()


def play(scene, database: Database) -> None:
    database.empty()

    async def both() -> None:
        here = await PostgresDatabase.open(database.dsn)
        there = await PostgresDatabase.open(database.dsn)
        await scene(here, there)
        await here.close()
        await there.close()

    asyncio.run(both())


def of(run: RunId) -> Callable[[list[Notice]], bool]:
    return lambda heard: any(notice.run == run for notice in heard)


def test_a_new_job_is_heard_of_elsewhere(module_database: Database) -> None:
    async def scene(here: PostgresDatabase, there: PostgresDatabase) -> None:
        ear = Ear(there)
        await here.store.commit(first(jobs=[job(pool="gpu", due_at=LATER), job("b", due_at=NOW)]))
        await ear.until(of(RUN))
        assert ear.heard == [Notice(RUN, 1, {"gpu": LATER, "default": NOW})]

    play(scene, module_database)


def test_a_wake_up_and_a_job_handed_back_are_heard_of_elsewhere(module_database: Database) -> None:
    async def scene(here: PostgresDatabase, there: PostgresDatabase) -> None:
        await here.store.commit(first(jobs=[job()]))
        held = await only_lease(here)
        ear = Ear(there)
        await here.store.release(held, due_at=NOW + 1)
        await ear.until(lambda heard: Notice(RUN, due={ANY_POOL: NOW + 1}) in heard)
        await here.store.wake(ref(run=RunId(8)))
        await ear.until(of(RunId(8)))

    play(scene, module_database)


def test_a_park_and_what_a_commit_wakes_are_heard_of_elsewhere(module_database: Database) -> None:
    async def scene(here: PostgresDatabase, there: PostgresDatabase) -> None:
        await here.store.commit(first(jobs=[job()]))
        held = await only_lease(here)
        ear = Ear(there)
        park = Park(LATER, WaitReason.SLEEP)
        wakes = [ref(run=RunId(9))]
        await here.store.commit(follows(1, paused(2), lease=held, park=park, wakes=wakes))
        await ear.until(of(RunId(9)))
        assert Notice(RUN, 2, {ANY_POOL: LATER}, has_turned=True) in ear.heard

    play(scene, module_database)


def test_ones_own_notices_are_heard_once(module_database: Database) -> None:
    async def scene(here: PostgresDatabase, there: PostgresDatabase) -> None:
        mine, theirs = Ear(here), Ear(there)
        await here.store.commit(first(jobs=[job()]))
        await theirs.until(of(RUN))
        # An answer to it has gone the whole way there and back: so would an echo have.
        await there.store.commit(first(RunId(8), [job()]))
        await mine.until(of(RunId(8)))
        assert [notice.run for notice in mine.heard] == [RUN, RunId(8)]
        assert [notice.run for notice in theirs.heard] == [RUN, RunId(8)]

    play(scene, module_database)


def test_what_matters_only_here_stays_here(module_database: Database) -> None:
    async def scene(here: PostgresDatabase, there: PostgresDatabase) -> None:
        mine, theirs = Ear(here), Ear(there)
        await here.store.commit(first(jobs=[job(taken_until=LATER)]))
        await here.store.commit(first(RunId(8), [job()]))
        await theirs.until(of(RunId(8)))
        assert [notice.run for notice in theirs.heard] == [RunId(8)]
        assert [notice.run for notice in mine.heard] == [RUN, RunId(8)]

    play(scene, module_database)


def test_notices_are_heard_again_after_the_connection_was_lost(module_database: Database) -> None:
    async def scene(here: PostgresDatabase, there: PostgresDatabase) -> None:
        ear = Ear(there)
        module_database.terminate_backends()
        run = 100

        # Hints may get lost; they may not stay lost.
        async with asyncio.timeout(HEARD_SECONDS_MAX):
            while not ear.heard:
                run += 1
                await here.store.commit(first(RunId(run), [job()]))
                await asyncio.sleep(0.02)

    play(scene, module_database)


def test_what_listens_no_more_is_told_nothing(module_database: Database) -> None:
    async def scene(here: PostgresDatabase, there: PostgresDatabase) -> None:
        deaf, ear = Ear(there), Ear(there)
        deaf.stop()
        await here.store.commit(first(jobs=[job()]))
        await ear.until(of(RUN))
        assert deaf.heard == []

    play(scene, module_database)


def test_a_reader_may_listen(module_database: Database) -> None:
    async def scene(here: PostgresDatabase, there: PostgresDatabase) -> None:
        reader = await PostgresDatabase.open(module_database.dsn, read_only=True, notify=True)
        ear = Ear(reader)
        await here.store.commit(first(jobs=[job()]))
        await ear.until(of(RUN))
        await reader.close()

    play(scene, module_database)


def test_very_many_notices_are_cut_into_pieces_that_fit(module_database: Database) -> None:
    notices = [Notice(RunId(2**62 + n), n, {"pöol" * 5: LATER}, True) for n in range(1, 500)]
    notices.append(Notice(RUN, 1, {f"pool {n}" * 20: LATER - n for n in range(500)}))
    texts = list(payloads_of("me", notices))
    assert 5 < len(texts) < 50
    assert all(len(text.encode()) <= PAYLOAD_BYTES_MAX + 10 for text in texts)

    async def scene(here: PostgresDatabase, there: PostgresDatabase) -> None:
        ear = Ear(there)
        here.notices.tell(notices)
        await ear.until(lambda heard: len(heard) == len(notices))
        assert ear.heard[:-1] == notices[:-1]
        assert ear.heard[-1] == Notice(RUN, 1, {ANY_POOL: LATER - 499})

    play(scene, module_database)


def test_notices_of_one_run_that_wait_together_become_one(module_database: Database) -> None:
    async def scene(here: PostgresDatabase, there: PostgresDatabase) -> None:
        ear = Ear(there)
        here.notices.tell([Notice(RUN, 3, {"a": 5}), Notice(RUN, 4, {"a": 2, "b": 9}, True)])
        await ear.until(of(RUN))
        assert ear.heard == [Notice(RUN, 4, {"a": 2, "b": 9}, True)]

    play(scene, module_database)
