"""How much waits in each pool of the file: every part of it out of an index."""

from __future__ import annotations

from anew.store import PoolLoad
from anew.stores.sql.dialect import Row, SqlDialect, Steps

# A job that was woken is due at 0, which is no moment.
DUE_LOADS = """
SELECT
    pool,
    count(*) FILTER (WHERE due_at <= ?),
    min(due_at) FILTER (WHERE due_at > 0 AND due_at <= ?),
    count(*) FILTER (WHERE due_at > ?),
    min(due_at) FILTER (WHERE due_at > ?)
FROM jobs INDEXED BY jobs_due WHERE is_leased = 0 AND due_at IS NOT NULL GROUP BY pool
"""
ASIDE_LOADS = """
SELECT pool, count(*) FROM jobs INDEXED BY jobs_aside
WHERE is_leased = 0 AND due_at IS NULL GROUP BY pool
"""
# Workers hold few of all jobs.
LEASED_LOADS = """
SELECT pool, count(*), count(*) FILTER (WHERE leased_until < ?)
FROM jobs WHERE is_leased = 1 GROUP BY pool
"""


def pool_loads(_: SqlDialect, now: int) -> Steps[list[PoolLoad]]:
    due = _by_pool((yield DUE_LOADS, (now,) * 4))
    aside = _by_pool((yield ASIDE_LOADS, ()))
    held = _by_pool((yield LEASED_LOADS, (now,)))
    found = []
    for pool in sorted(due.keys() | aside.keys() | held.keys()):
        ready, oldest, later, next_due = due.get(pool, (0, None, 0, None))
        leased, expired = held.get(pool, (0, 0))
        [put_aside] = aside.get(pool, (0,))
        found.append(PoolLoad(pool, ready, oldest, later + put_aside, next_due, leased, expired))
    return found


def _by_pool(rows: list[Row]) -> dict[str, Row]:
    return {row[0]: row[1:] for row in rows}
