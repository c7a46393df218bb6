"""Makes the partitions of the weeks to come, and removes old runs, whole weeks at once if it can.

What a week is, in run ids, is in `sql/postgres/0001_schema/4_ranges.sql`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from anew.store import RunId, StoreError
from anew.stores.postgres.connection import Connection
from anew.stores.postgres.pool import ConnectionPool, Patience
from anew.stores.postgres.values import integer_array

# So many weeks may pass without `maintain` before events go to the default partition.
WEEKS_AHEAD = 4
# Others can have their locks in between, however many runs are removed.
PRUNE_RUNS_PER_TRANSACTION = 100
# A run of ten million events takes a while to remove.
MAINTENANCE_SECONDS_MAX = 600
# Whoever waits for the lock of a whole table keeps others waiting behind it.
TABLE_LOCK_SECONDS_MAX = 1
PATIENCE = Patience(total_seconds=10.0, answer_seconds=MAINTENANCE_SECONDS_MAX)
HASH_PARTITIONS_MAX = 64
# Anybody's who locks; the number means nothing.
RANGES_LOCK = 0x414E4557_0002

_TABLES_OF_RUNS = ("events", "blobs", "snapshots", "labels", "jobs")
_MISSING = """
SELECT week FROM generate_series(anew.week_v1(), anew.week_v1() + %s) AS week
WHERE NOT EXISTS (SELECT 1 FROM anew.ranges WHERE ranges.week = week.week AND tables = 2)
ORDER BY week
"""


async def make_ranges(connection: Connection, *, hash_partitions: int) -> None:
    """Nothing, nearly always: the weeks ahead are there."""
    missing = await _weeks(connection)
    if not missing:
        return
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (RANGES_LOCK,))
        await _bound(connection)
        for week in await _weeks(connection):
            await connection.execute("SELECT anew.make_range_v1(%s, %s)", (week, hash_partitions))


async def _weeks(connection: Connection) -> list[int]:
    cursor = await connection.execute(_MISSING, (WEEKS_AHEAD,), binary=True)
    return [row[0] for row in await cursor.fetchall()]


async def prune(links: ConnectionPool, *, before: int, limit: int) -> int:
    """How many runs went."""
    weeks: list[int] = await _ask(links, "SELECT anew.old_weeks_v1(%s)", before)
    gone, few, removed = 0, 0, 0
    while gone < limit and removed == few:
        few = min(PRUNE_RUNS_PER_TRANSACTION, limit - gone)
        removed = await _ask(
            links, "SELECT anew.prune_v1(%s, %s, %s::bigint[])", before, few, integer_array(weeks)
        )
        gone += removed
    for week in weeks:
        # One that cannot be dropped now is dropped next time.
        with suppress(StoreError):
            await _ask(links, "SELECT anew.drop_range_v1(%s)", week)
    return gone


async def remove(links: ConnectionPool, run: RunId) -> bool:
    """Whether it was there."""

    async def take(connection: Connection) -> bool:
        async with connection.transaction():
            await _bound(connection)
            for table in _TABLES_OF_RUNS:
                await connection.execute(f"DELETE FROM anew.{table} WHERE run = %s", (run,))
            statement = "DELETE FROM anew.runs WHERE run = %s"
            return (await connection.execute(statement, (run,))).rowcount > 0

    return await links.run(take, PATIENCE)


async def _ask(links: ConnectionPool, statement: str, *values: object) -> Any:
    """What one statement answers that may take long, in a transaction of its own."""

    async def ask(connection: Connection) -> Any:
        async with connection.transaction():
            await _bound(connection)
            row = await (await connection.execute(statement, values, binary=True)).fetchone()
        return row[0] if row is not None else None

    return await links.run(ask, PATIENCE)


async def _bound(connection: Connection) -> None:
    """Let the statements of a transaction take long, but not while others wait for it."""
    await connection.execute(f"SET LOCAL statement_timeout = '{MAINTENANCE_SECONDS_MAX}s'")
    await connection.execute(f"SET LOCAL lock_timeout = '{TABLE_LOCK_SECONDS_MAX}s'")
