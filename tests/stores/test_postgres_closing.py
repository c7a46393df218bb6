"""A database is closed within seconds, whatever its server does with what is under way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import psycopg
import pytest

from anew.store import Lease, RunId, StoreError
from anew.stores.contract.making import RUN, first, follows, job, lease, paused
from anew.stores.postgres import PostgresDatabase
from anew.stores.postgres import database as database_module
from anew.stores.postgres.pool import Patience
from tests.postgres_server import Database, a_module_database  # noqa: F401
from tests.stores.test_postgres_failures import Wire

LOCKS = "SELECT count(*) FROM pg_locks WHERE NOT granted"
UNANSWERED = "gave no answer before it was closed here"
# Nobody gives up because of its own patience while these tests last.
PATIENT = Patience(3600.0, 3600.0)

ASKED: dict[str, Callable[[PostgresDatabase], Awaitable[object]]] = {
    "a commit": lambda db: db.store.commit(follows(1, paused(2))),
    "a lease": lease,
    "a heartbeat": lambda db: db.store.extend(HELD, db.clock.now() + 3600 * 10**9),
    "a read": lambda db: db.archive.jobs(RUN),
    "a load": lambda db: db.store.load(RUN),
}
HELD: list[Lease] = []


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "CLOSING_SECONDS_MAX", 0.2)


@pytest.mark.parametrize("what", ASKED)
def test_what_a_locked_table_holds_up_fails_when_the_database_is_closed(
    module_database: Database, what: str
) -> None:
    module_database.empty()

    async def play() -> None:
        db = await PostgresDatabase.open(module_database.dsn, patience=PATIENT)
        await db.store.commit(first(jobs=[job()]))
        await db.store.commit(first(RunId(9), jobs=[job()]))
        HELD[:] = (await lease(db, limit=1)).leases
        other = await psycopg.AsyncConnection.connect(module_database.dsn)
        await other.execute("LOCK TABLE anew.events, anew.jobs, anew.runs")
        asking = asyncio.ensure_future(ASKED[what](db))
        while module_database.execute(LOCKS)[0][0] == 0:
            await asyncio.sleep(0.01)
        async with asyncio.timeout(20):
            await db.close()
        # The lock is held still: nobody waited for it.
        with pytest.raises(StoreError, match=UNANSWERED):
            await asking
        await other.close()

    asyncio.run(play())


def test_all_that_waits_for_a_connection_fails_with_those_that_have_one(
    module_database: Database,
) -> None:
    module_database.empty()

    async def play() -> None:
        db = await PostgresDatabase.open(module_database.dsn, patience=PATIENT)
        runs = [RunId(number) for number in range(1, 30)]
        await asyncio.gather(*(db.store.commit(first(run, jobs=[job()])) for run in runs))
        other = await psycopg.AsyncConnection.connect(module_database.dsn)
        await other.execute("LOCK TABLE anew.events, anew.jobs, anew.runs")
        asked = [db.store.commit(follows(1, paused(2), run=run)) for run in runs]
        asking = [asyncio.ensure_future(one) for one in (*asked, *map(db.archive.run, runs))]
        while module_database.execute(LOCKS)[0][0] == 0:
            await asyncio.sleep(0.01)
        async with asyncio.timeout(20):
            await db.close()
        found = await asyncio.gather(*asking, return_exceptions=True)
        assert [one for one in found if not isinstance(one, StoreError)] == []
        await other.close()

    asyncio.run(play())


@pytest.mark.parametrize("is_connected", [True, False], ids=["connected", "connecting"])
def test_a_server_that_went_silent_does_not_keep_a_database_open(
    module_database: Database, *, is_connected: bool
) -> None:
    module_database.empty()

    async def play() -> None:
        async with Wire(module_database.dsn) as wire:
            db = await PostgresDatabase.open(wire.dsn, patience=PATIENT)
            if is_connected:
                await db.store.commit(first())
            wire.is_black = True
            asked = first(key="k") if not is_connected else follows(1, paused(2))
            asking = asyncio.ensure_future(db.store.commit(asked))
            measuring = asyncio.ensure_future(db.clock.measure())
            await asyncio.sleep(0)
            async with asyncio.timeout(20):
                await db.close()
            for one in (asking, measuring):
                with pytest.raises(StoreError, match=UNANSWERED):
                    await one

    asyncio.run(play())


def test_what_is_under_way_is_done_before_a_database_is_closed(module_database: Database) -> None:
    module_database.empty()

    async def play() -> None:
        db = await PostgresDatabase.open(module_database.dsn)
        await db.store.commit(first())
        asking = [
            asyncio.ensure_future(db.store.commit(follows(1, paused(2)))),
            asyncio.ensure_future(db.archive.run(RUN)),
        ]
        await asyncio.sleep(0)
        await db.close()
        await asyncio.gather(*asking)
        with pytest.raises(StoreError, match="is closed"):
            await db.archive.run(RUN)

    asyncio.run(play())
