"""Hands jobs out and takes them back.

Every statement reads an index in the order jobs are wanted, so that the cost does not grow with
the number of jobs that wait. Only who asks for many runs by name looks past the jobs of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nsmallest
from itertools import islice
from typing import Any

import apsw
from msgspec.structs import replace

from anew.store import JobRef, Lease, LeaseResult, RunId
from anew.stores.sqlite.commits import VERSION, JobKey, job_key, job_ref

# More runs than this are not asked for one by one: the jobs of all are looked through instead.
ASKED_RUNS_MAX = 20
_DUE_COLUMNS = "due_at, run, step, visit, iteration, token, calls_again"
_WAITS = "is_leased = 0 AND due_at IS NOT NULL"
DUE = f"""
SELECT {_DUE_COLUMNS} FROM jobs INDEXED BY jobs_due
WHERE {_WAITS} AND pool = ? AND due_at <= ?
ORDER BY due_at, run, step, visit, iteration LIMIT ?
"""
DUE_OF_RUN = f"""
SELECT {_DUE_COLUMNS} FROM jobs INDEXED BY jobs_due_of_run
WHERE {_WAITS} AND run = ? AND pool = ? AND due_at <= ?
ORDER BY due_at, step, visit, iteration LIMIT ?
"""
NEXT = f"""
SELECT due_at FROM jobs INDEXED BY jobs_due WHERE {_WAITS} AND pool = ? ORDER BY due_at LIMIT 1
"""
NEXT_OF_ALL = f"""
SELECT due_at, run FROM jobs INDEXED BY jobs_due WHERE {_WAITS} AND pool = ? ORDER BY due_at
"""
NEXT_OF_RUN = f"""
SELECT due_at FROM jobs INDEXED BY jobs_due_of_run
WHERE {_WAITS} AND run = ? AND pool = ? ORDER BY due_at LIMIT 1
"""
# Every pool with a job that waits: from one to the next in the index, not over all jobs.
POOLS = f"""
WITH RECURSIVE found(pool) AS (
    SELECT (SELECT min(pool) FROM jobs INDEXED BY jobs_due WHERE {_WAITS})
    UNION ALL
    SELECT (SELECT min(pool) FROM jobs INDEXED BY jobs_due WHERE {_WAITS} AND pool > found.pool)
    FROM found WHERE found.pool IS NOT NULL
)
SELECT pool FROM found WHERE pool IS NOT NULL
"""
_TAKE = """
UPDATE jobs SET is_leased = 1, leased_until = ?, token = token + 1, is_woken = 0
WHERE is_leased = 0 AND run = ? AND step = ? AND visit = ? AND iteration = ?
"""
_EXTEND = """
UPDATE jobs SET leased_until = ?
WHERE is_leased = 1 AND run = ? AND step = ? AND visit = ? AND iteration = ? AND token = ?
"""
_RELEASE = """
UPDATE jobs SET
    is_leased = 0, leased_until = NULL, is_woken = 0,
    due_at = iif(is_woken, 0, ?), reason = iif(is_woken, 'ready', reason)
WHERE is_leased = 1 AND run = ? AND step = ? AND visit = ? AND iteration = ? AND token = ?
"""
EXPIRED = """
SELECT run, step, visit, iteration, token, leased_until, calls_again
FROM jobs WHERE is_leased = 1 AND leased_until < ?
ORDER BY leased_until, run, step, visit, iteration
"""


def take(
    connection: apsw.Connection,
    *,
    now: int,
    until: int,
    limit: int,
    pools: Sequence[str] | None,
    runs: Sequence[RunId] | None,
) -> LeaseResult:
    """Lease what is due, and say when the next job is."""
    if pools is None:
        pools = [row[0] for row in connection.execute(POOLS)]
    rows = _due(connection, now=now, limit=limit, pools=pools, runs=runs)
    due = nsmallest(limit, rows) if len(rows) > limit or len(pools) > 1 or runs else rows
    if due:
        connection.executemany(_TAKE, [(until, *row[1:5]) for row in due])
    leases = [
        Lease(job_ref(row[1:5]), token=row[5] + 1, until=until, was_parked=bool(row[6]))
        for row in due
    ]
    versions = _versions(connection, {lease.job.run for lease in leases})
    return LeaseResult(leases, _next_due(connection, pools, runs), versions)


def _versions(connection: apsw.Connection, runs: set[RunId]) -> dict[RunId, int]:
    return {run: connection.execute(VERSION, (run,)).get for run in runs}


def _due(
    connection: apsw.Connection,
    *,
    now: int,
    limit: int,
    pools: Sequence[str],
    runs: Sequence[RunId] | None,
) -> list[Any]:
    """The first jobs that are due, of each place that is asked for."""
    rows: list[Any] = []
    if runs is None or len(runs) <= ASKED_RUNS_MAX:
        for statement, place in _places(pools, runs, DUE, DUE_OF_RUN):
            rows += connection.execute(statement, (*place, now, limit)).fetchall()
        return rows
    wanted = frozenset(runs)
    for pool in dict.fromkeys(pools):
        due = connection.execute(DUE, (pool, now, -1))
        rows += islice((row for row in due if row[1] in wanted), limit)
    return rows


def extend(connection: apsw.Connection, leases: Sequence[Lease], until: int) -> list[Lease]:
    held = []
    for lease in leases:
        connection.execute(_EXTEND, (until, *_key(lease), lease.token))
        if connection.changes():
            held.append(replace(lease, until=until))
    return held


def release(connection: apsw.Connection, lease: Lease, due_at: int) -> None:
    connection.execute(_RELEASE, (due_at, *_key(lease), lease.token))


def expired(connection: apsw.Connection, now: int, runs: Sequence[RunId] | None) -> list[Lease]:
    """All that ran out. Only leased jobs are looked at, and workers hold few of them."""
    wanted = None if runs is None else frozenset(runs)
    return [
        Lease(job_ref(row[:4]), token=row[4], until=row[5], was_parked=bool(row[6]))
        for row in connection.execute(EXPIRED, (now,))
        if wanted is None or row[0] in wanted
    ]


def _places(
    pools: Sequence[str], runs: Sequence[RunId] | None, everywhere: str, of_run: str
) -> list[tuple[str, tuple[object, ...]]]:
    """The statement to use, and what it is asked for, once per pool or run and pool."""
    if runs is None:
        return [(everywhere, (pool,)) for pool in dict.fromkeys(pools)]
    return [(of_run, (run, pool)) for run in dict.fromkeys(runs) for pool in dict.fromkeys(pools)]


def _next_due(
    connection: apsw.Connection, pools: Sequence[str], runs: Sequence[RunId] | None
) -> int | None:
    soonest: list[int] = []
    if runs is not None and len(runs) > ASKED_RUNS_MAX:
        wanted = frozenset(runs)
        for pool in dict.fromkeys(pools):
            waiting = connection.execute(NEXT_OF_ALL, (pool,))
            soonest += islice((row[0] for row in waiting if row[1] in wanted), 1)
        return min(soonest, default=None)
    for statement, place in _places(pools, runs, NEXT, NEXT_OF_RUN):
        row = connection.execute(statement, place).fetchone()
        soonest += [row[0]] if row is not None else []
    return min(soonest, default=None)


def _key(lease: Lease) -> JobKey:
    ref: JobRef = lease.job
    return job_key(ref.run, ref.key)
