"""How much waits in each pool of the database."""

from __future__ import annotations

from anew.store import PoolLoad
from anew.stores.sql.dialect import SqlDialect, Steps

# A job that was woken is due at 0, which is no moment.
LOADS = """
SELECT
    pool,
    count(*) FILTER (WHERE leased_until IS NULL AND due_at <= ?),
    min(due_at) FILTER (WHERE leased_until IS NULL AND due_at > 0 AND due_at <= ?),
    count(*) FILTER (WHERE leased_until IS NULL AND (due_at IS NULL OR due_at > ?)),
    min(due_at) FILTER (WHERE leased_until IS NULL AND due_at > ?),
    count(*) FILTER (WHERE leased_until IS NOT NULL),
    count(*) FILTER (WHERE leased_until < ?)
FROM anew.jobs GROUP BY pool ORDER BY pool
"""


def pool_loads(dialect: SqlDialect, now: int) -> Steps[list[PoolLoad]]:
    rows = yield LOADS, (now,) * 5
    return [PoolLoad(dialect.from_text(row[0]), *row[1:]) for row in rows]
