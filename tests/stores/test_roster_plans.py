"""What people see of workers and questions costs little, however many jobs wait."""

from __future__ import annotations

import asyncio

import apsw
import psycopg
import pytest

from anew.stores.contract.making import LATER, NOW
from anew.stores.postgres import PostgresDatabase
from anew.stores.postgres.session import POSTGRES
from anew.stores.sql.roster import asking_queries
from anew.stores.sqlite import SqliteDatabase, roster
from anew.stores.sqlite.session import SQLITE
from tests.postgres_server import Database, a_module_database  # noqa: F401

WITH_DEADLINE, WITHOUT = asking_queries(SQLITE)
ASKING = 20_000
FEW = 10
ASK = f"""
INSERT INTO anew.jobs (run, step, visit, iteration, pool, due_at, reason, attempt, token)
SELECT n, 'ask', 1, -1, 'default', CASE n % 2 WHEN 0 THEN {LATER} + n END, 'person', 1, 1
FROM generate_series(1, {ASKING}) AS n
"""
LOOKED_AT = """
SELECT sum(seq_tup_read) + sum(idx_tup_fetch) FROM pg_stat_xact_user_tables
WHERE schemaname = 'anew' AND relname = 'jobs'
"""


@pytest.mark.parametrize(
    ("statement", "values", "index"),
    [
        (WITH_DEADLINE, (FEW,), "SEARCH jobs USING INDEX jobs_asking (due_at>?)"),
        (WITHOUT, (FEW,), "SEARCH jobs USING INDEX jobs_asking (due_at=?)"),
        (roster.DUE_LOADS, (NOW,) * 4, "SCAN jobs USING COVERING INDEX jobs_due"),
        (roster.ASIDE_LOADS, (), "SCAN jobs USING COVERING INDEX jobs_aside"),
        (roster.LEASED_LOADS, (NOW,), "SEARCH jobs USING PRIMARY KEY (is_leased=?)"),
    ],
)
def test_sqlite_follows_an_index(tmp_path, statement, values, index) -> None:
    path = tmp_path / "runs.db"
    asyncio.run(SqliteDatabase.open(path).close())
    connection = apsw.Connection(str(path))
    rows = connection.execute(
        f"EXPLAIN QUERY PLAN {SQLITE.translate(statement)}", values
    ).fetchall()
    connection.close()
    assert rows[0][3] == index
    assert not any(row[3] == "USE TEMP B-TREE FOR ORDER BY" for row in rows)


def test_postgres_looks_at_no_more_questions_than_it_lists(module_database: Database) -> None:
    async def prepare() -> None:
        await (await PostgresDatabase.open(module_database.dsn, notify=False)).close()

    asyncio.run(prepare())
    module_database.execute(ASK)
    module_database.execute("VACUUM ANALYZE anew.jobs")
    for statement in map(POSTGRES.translate, asking_queries(POSTGRES)):
        with psycopg.connect(module_database.dsn) as connection:
            assert len(connection.execute(statement, (FEW,)).fetchall()) == FEW
            row = connection.execute(LOOKED_AT).fetchone()
        assert row is not None
        # Those of one deadline are put in order some at a time.
        assert row[0] <= 10 * FEW
