"""Leasing and listing look at what they return, however much else there is.

What PostgreSQL counted is the assertion: how many rows and index entries it has looked at.
"""

from __future__ import annotations

import asyncio
from functools import partial

import psycopg
import pytest

from anew.engine.state import RunStatus
from anew.engine.statuses import DetailedStatus
from anew.store import RunFilter, RunId
from anew.stores.contract.making import LATER, NOW, first, follows, job, lease, paused
from anew.stores.postgres import PostgresDatabase, archive, leasing
from anew.stores.postgres.session import POSTGRES
from anew.stores.postgres.values import to_text
from tests.postgres_server import Database, a_module_database  # noqa: F401

WAITING = 100_000
RUNS = 10_000
WAIT = f"""
INSERT INTO anew.jobs (run, step, visit, iteration, pool, due_at, reason, attempt, token)
SELECT n / 10, 'wait', 1, n % 10, 'default', {LATER}, 'sleep', 1, 1
FROM generate_series(1, {WAITING}) AS n
"""
BEGUN = f"""
INSERT INTO anew.runs (
    run, program, digest, status, version, created_at, updated_at, ended_at, depth
) SELECT n, 'p' || n % 50, 'd', 'done', 1, n, n, n, 0 FROM generate_series(1, {RUNS}) AS n
"""
LOOKED_AT = """
SELECT
    (SELECT coalesce(sum(seq_tup_read), 0) FROM pg_stat_xact_user_tables WHERE schemaname = 'anew')
    + (SELECT coalesce(sum(idx_tup_fetch), 0) FROM pg_stat_xact_user_tables WHERE schemaname = 'anew')
"""


@pytest.fixture(scope="module")
def crowded(module_database: Database) -> Database:
    """A database in which very many jobs wait, and a few are due."""
    asyncio.run(prepare(module_database))
    module_database.execute(WAIT)
    module_database.execute(BEGUN)
    module_database.execute("UPDATE anew.jobs SET due_at = run WHERE run IN (5, 6, 7000)")
    module_database.execute("VACUUM ANALYZE anew.jobs")
    module_database.execute("VACUUM ANALYZE anew.runs")
    return module_database


async def prepare(database: Database) -> None:
    await (await PostgresDatabase.open(database.dsn, notify=False)).close()


def looked_at(database: Database, statement: str, *values: object) -> int:
    """How many rows a statement has looked at; nothing of it stays."""
    with psycopg.connect(database.dsn) as connection:
        connection.execute(statement, values)
        row = connection.execute(LOOKED_AT).fetchone()
        connection.rollback()
    assert row is not None
    return int(row[0])


@pytest.mark.parametrize(
    ("pools", "runs"),
    [
        (["default"], None),
        (None, None),
        (["a", "default"], None),
        (None, [5, 6]),
        (["default"], [5]),
    ],
)
def test_a_lease_looks_at_the_jobs_it_hands_out(crowded: Database, pools, runs) -> None:
    for limit in (1, 10):
        rows = looked_at(
            crowded,
            "SELECT * FROM anew.lease_v1(%s, %s, %s, %s, %s::bigint[], 1)",
            *(NOW, LATER, limit, pools, runs),
        )
        # Each is found, locked and written; the next due one, and those of the asked runs.
        assert 0 < rows <= 6 * limit + 40


def test_a_lease_that_finds_nothing_looks_at_nothing(crowded: Database) -> None:
    asked = "SELECT * FROM anew.lease_v1(%s, %s, 100, %s, NULL, 1)"
    assert looked_at(crowded, asked, 1, LATER, ["default"]) <= 2


def test_leases_that_ran_out_are_looked_for_among_the_leased(crowded: Database) -> None:
    statement = leasing.EXPIRED.replace("%s::bigint[]", "NULL::bigint[]", 1)
    assert looked_at(crowded, statement, NOW, None, 100) == 0


def test_a_commit_looks_at_the_rows_it_changes(crowded: Database) -> None:
    async def play() -> None:
        db = await PostgresDatabase.open(crowded.dsn, notify=False)
        await db.store.commit(first(RunId(20_001), [job(due_at=LATER)]))
        question = (
            "SELECT seq_scan FROM pg_stat_user_tables WHERE schemaname = 'anew' "
            "AND relname IN ('runs', 'jobs') ORDER BY relname"
        )
        await flush(db)
        before = crowded.execute(question)
        for version in range(1, 30):
            commit = follows(
                version, paused(version + 1), run=RunId(20_001), jobs=[job(due_at=LATER)]
            )
            await db.store.commit(commit)
        await flush(db)
        assert crowded.execute(question) == before
        await db.close()

    async def flush(db: PostgresDatabase) -> None:
        for statement in ("SELECT pg_stat_force_next_flush()", "SELECT 1"):
            await db._writer._link.run(partial(psycopg.AsyncConnection.execute, query=statement))

    asyncio.run(play())


@pytest.mark.parametrize(
    "asked",
    [
        RunFilter(limit=10),
        RunFilter(limit=10, before=RunId(900)),
        RunFilter(limit=10, statuses=[RunStatus.FAILED]),
        RunFilter(limit=10, statuses=[RunStatus.DONE]),
        RunFilter(limit=10, parent=RunId(1)),
        RunFilter(limit=10, retrying=True),
        RunFilter(limit=10, labels={"team": "x"}),
        RunFilter(limit=10, since=RUNS - 10),
        RunFilter(limit=10, runs=[RunId(5), RunId(6)]),
        RunFilter(limit=10, states=[DetailedStatus.DONE]),
        RunFilter(limit=10, states=[DetailedStatus.DEAD]),
        RunFilter(limit=10, attempt_min=2),
        RunFilter(limit=10, due_before=LATER),
        RunFilter(limit=10, error_kind="auth"),
        RunFilter(limit=10, fingerprint="abc"),
        RunFilter(limit=10, is_retried=True),
    ],
    ids=str,
)
def test_lists_of_runs_look_at_what_they_return(crowded: Database, asked: RunFilter) -> None:
    """Ten runs, and the ten jobs of each, of which the one that says most is shown."""
    statement, values = archive.runs_query(POSTGRES, asked)
    assert looked_at(crowded, POSTGRES.translate(statement), *values) <= 60 + 100


def test_only_the_partition_of_a_run_is_looked_at(crowded: Database) -> None:
    with psycopg.connect(crowded.dsn) as connection:
        rows = connection.execute(f"EXPLAIN {archive.EVENTS}", (1 << 61, 0, 10)).fetchall()
    plan = "\n".join(str(row[0]) for row in rows)
    assert plan.count("events") >= 1
    assert "Append" not in plan
    assert "events_rest" in plan


def test_what_is_due_is_found_among_all_that_waits(crowded: Database) -> None:
    async def take() -> None:
        db = await PostgresDatabase.open(crowded.dsn, notify=False)
        batch = await lease(db, runs=[RunId(6)])
        assert [held.job.run for held in batch.leases] == [6] * 10
        batch = await lease(db, limit=15)
        assert [held.job.run for held in batch.leases] == [5] * 10 + [7000] * 5
        assert batch.next_due == 7000
        batch = await lease(db)
        assert (len(batch.leases), batch.next_due) == (5, LATER)
        assert len(await db.store.expired(LATER + 1)) == 30
        await db.close()

    asyncio.run(take())


def test_escaped_text_keeps_its_order() -> None:
    texts = ["", "\0", "\0\0", "\0a", "\1", "\1\1", "\2", "a", "a\0", "a\0b", "a\1", "ä", "😀"]
    assert sorted(texts) == texts
    kept = [to_text(text) for text in texts]
    assert sorted(kept) == kept
    assert len(set(kept)) == len(texts)
    assert not any("\0" in text for text in kept)
