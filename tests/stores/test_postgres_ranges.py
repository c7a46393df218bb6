"""Events lie in partitions, one for each week: made ahead, and dropped with the week."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from anew.engine.state import RunStatus
from anew.runtime.ids import EPOCH_MILLISECONDS
from anew.store import RunFilter, RunHead, RunId
from anew.stores.contract.making import NOW, RUN, first, follows, log_of, processed
from anew.stores.postgres import PostgresDatabase
from anew.stores.postgres.ranges import WEEKS_AHEAD
from anew.stores.postgres.settings import PostgresSettings
from tests.postgres_server import Database, a_database  # noqa: F401

WEEK_MILLISECONDS = 7 * 24 * 3600 * 1000
DONE = RunHead(RunStatus.DONE, ended_at=NOW)
LARGE = "x" * 200_000


def id_in(week: int, number: int = 0) -> RunId:
    return RunId((week * WEEK_MILLISECONDS << 22) + number)


def weeks_of(database: Database, table: str = "events") -> dict[int, str]:
    rows = database.execute(
        "SELECT relname, relkind FROM pg_class JOIN pg_inherits ON inhrelid = pg_class.oid "
        f"WHERE inhparent = 'anew.{table}'::regclass AND relname ~ '_w'"
    )
    return {int(str(name).rpartition("_w")[2]): str(kind) for name, kind in rows}


def this_week(database: Database) -> int:
    return int(str(database.execute("SELECT anew.week_v1()")[0][0]))


def rows_in(database: Database, partition: str) -> int:
    return int(str(database.execute(f"SELECT count(*) FROM anew.{partition}")[0][0]))


async def begin(db: PostgresDatabase, run: RunId, *, ends: bool) -> None:
    await db.store.commit(first(run))
    head = DONE if ends else RunHead(RunStatus.RUNNING)
    await db.store.commit(follows(1, processed(2, LARGE), run=run, head=head))


def test_the_weeks_ahead_have_partitions_and_runs_go_there(database: Database) -> None:
    async def play() -> None:
        db = await PostgresDatabase.open(database.dsn, notify=False)
        week = this_week(database)
        milliseconds = db.clock.now() // 1_000_000 - EPOCH_MILLISECONDS
        assert week == milliseconds // WEEK_MILLISECONDS
        assert set(weeks_of(database)) == set(range(week, week + WEEKS_AHEAD + 1))
        assert set(weeks_of(database, "blobs")) == set(weeks_of(database))
        for run in (id_in(week), id_in(week + 1, -1), id_in(week + 1), RUN):
            await begin(db, run, ends=False)
            assert len(await log_of(db, run)) == 2
        assert rows_in(database, f"events_w{week}") == 4
        assert rows_in(database, f"events_w{week + 1}") == 2
        assert rows_in(database, "events_rest") == 2
        assert rows_in(database, f"blobs_w{week}") == 2
        await db.close()

    asyncio.run(play())


def test_missing_weeks_are_made_by_one_of_many(database: Database) -> None:
    async def play() -> None:
        dbs = [await PostgresDatabase.open(database.dsn, notify=False) for _ in range(4)]
        week = this_week(database)
        for table in ("events", "blobs"):
            database.execute(f"DROP TABLE anew.{table}_w{week + 2}")
        await asyncio.gather(*(db.maintain() for db in dbs))
        assert week + 2 in weeks_of(database)
        assert week + 2 in weeks_of(database, "blobs")
        for db in dbs:
            await db.close()

    asyncio.run(play())


def test_a_week_whose_runs_came_before_its_partition_stays_where_it_is(database: Database) -> None:
    async def play() -> None:
        db = await PostgresDatabase.open(database.dsn, notify=False)
        week = this_week(database) + 3
        for table in ("events", "blobs"):
            database.execute(f"DROP TABLE anew.{table}_w{week}")
        await begin(db, id_in(week), ends=False)
        await db.maintain()
        assert week not in weeks_of(database)
        assert week not in weeks_of(database, "blobs")
        assert len(await log_of(db, id_in(week))) == 2
        await db.store.commit(follows(2, replace(processed(3), at=NOW), run=id_in(week)))
        await db.close()

    asyncio.run(play())


def test_a_range_may_be_cut_by_hash(database: Database) -> None:
    async def play() -> None:
        settings = PostgresSettings(hash_partitions=4)
        db = await PostgresDatabase.open(database.dsn, notify=False, settings=settings)
        week = this_week(database)
        assert weeks_of(database)[week] == "p"
        runs = [id_in(week, number << 12) for number in range(40)]
        await asyncio.gather(*(begin(db, run, ends=True) for run in runs))
        counts = [rows_in(database, f"events_w{week}_h{n}") for n in range(4)]
        assert sum(counts) == 80
        assert all(counts)
        assert len(await log_of(db, runs[7])) == 2
        assert await db.archive.prune(ended_before=NOW + 1) == 40
        assert rows_in(database, "events") == 0
        await db.close()

    asyncio.run(play())


@pytest.mark.parametrize("limit", [1000, 2])
def test_a_week_of_which_all_runs_may_go_is_dropped(database: Database, limit: int) -> None:
    async def play() -> None:
        db = await PostgresDatabase.open(database.dsn, notify=False)
        week = this_week(database)
        for past in (10, 20):
            database.execute(f"SELECT anew.make_range_v1({week - past}, 1)")
        runs = [id_in(week - 10, number) for number in range(5)]
        stays = id_in(week - 20)
        for run in runs:
            await begin(db, run, ends=True)
        await begin(db, id_in(week - 20, 1), ends=True)
        await begin(db, stays, ends=False)
        await begin(db, id_in(week), ends=True)
        counts = []
        while count := await db.archive.prune(ended_before=NOW + 1, limit=limit):
            counts.append(count)
            for run in runs:
                row = await db.archive.run(run)
                assert len(await db.archive.events(run)) == (2 if row is not None else 0)
        assert sum(counts) == 7
        assert max(counts) <= limit
        left = [row.run for row in await db.archive.runs(RunFilter())]
        assert left == [stays]
        assert len(await log_of(db, stays)) == 2
        assert week - 10 not in weeks_of(database)
        assert week - 10 not in weeks_of(database, "blobs")
        assert week - 20 in weeks_of(database)
        assert week in weeks_of(database)
        # Row by row where a run of the week stays.
        assert rows_in(database, f"events_w{week - 20}") == 2
        assert rows_in(database, f"blobs_w{week - 20}") == 1
        await db.close()

    asyncio.run(play())


def test_a_week_in_which_a_run_has_begun_meanwhile_is_not_dropped(database: Database) -> None:
    async def play() -> None:
        db = await PostgresDatabase.open(database.dsn, notify=False)
        week = this_week(database) - 10
        database.execute(f"SELECT anew.make_range_v1({week}, 1)")
        await begin(db, id_in(week), ends=False)
        assert database.execute(f"SELECT anew.drop_range_v1({week})") == [(False,)]
        assert len(await log_of(db, id_in(week))) == 2
        await db.close()

    asyncio.run(play())
