"""Hands jobs out and takes them back.

What a lease does is in `sql/postgres/0001_schema/3_leases.sql`.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from anew.engine.moments import NANOSECONDS
from anew.store import Lease, LeaseResult, RunId
from anew.stores.postgres.connection import Connection
from anew.stores.postgres.values import (
    integer,
    integer_array,
    job_key,
    job_ref,
    job_values,
    text_array,
    to_text,
)
from anew.stores.postgres.writer import WriteCall, single

# When others are about to take what is due, whoever asked looks again after this.
CONTENDED_NANOSECONDS = NANOSECONDS // 50
# Of very many leases that ran out together, the others are found by the next question.
EXPIRED_LEASES_MAX = 10_000

LEASE = "SELECT * FROM anew.lease_v1(%s, %s, %s, %s, %s, %s)"
EXTEND = "SELECT anew.extend_v1(%s, %s, %s, %s, %s, %s)"
_RELEASE = b"""
UPDATE anew.jobs SET
    leased_until = NULL, is_woken = false,
    due_at = CASE WHEN is_woken THEN 0 ELSE $6::bigint END,
    reason = CASE WHEN is_woken THEN 'ready' ELSE reason END
WHERE run = $1 AND step = $2 AND visit = $3 AND iteration = $4
    AND token = $5 AND leased_until IS NOT NULL
"""
EXPIRED = """
SELECT run, step, visit, iteration, token, leased_until, calls_again
FROM anew.jobs
WHERE leased_until IS NOT NULL AND leased_until < %s AND (%s::bigint[] IS NULL OR run = ANY (%s))
ORDER BY leased_until, run, step, visit, iteration LIMIT %s
"""
_RELEASES = single(_RELEASE)


async def take(
    connection: Connection,
    *,
    now: int,
    until: int,
    limit: int,
    pools: Sequence[str] | None,
    runs: Sequence[RunId] | None,
) -> LeaseResult:
    """Lease what is due, and say when the next job is."""
    asked = (
        *(now, until, limit),
        text_array([to_text(pool) for pool in dict.fromkeys(pools)]) if pools is not None else None,
        _integers(runs),
        CONTENDED_NANOSECONDS,
    )
    cursor = await connection.execute(LEASE, asked, binary=True)
    leases: list[Lease] = []
    versions: dict[RunId, int] = {}
    next_due: int | None = None
    for run, step, visit, iteration, token, calls_again, version, due in await cursor.fetchall():
        if run is None:
            next_due = due
            continue
        job = job_ref(run, step, visit=visit, iteration=iteration)
        leases.append(Lease(job, token, until, calls_again))
        versions[job.run] = version
    return LeaseResult(leases, next_due, versions)


async def extend(connection: Connection, leases: Sequence[Lease], until: int) -> list[Lease]:
    keyed = [(lease.job.run, *job_key(lease.job.key), lease.token) for lease in leases]
    order = sorted(range(len(leases)), key=lambda place: keyed[place])
    runs, steps, visits, iterations, tokens = zip(*(keyed[place] for place in order), strict=True)
    values = (
        *(integer_array(runs), text_array(steps), integer_array(visits), integer_array(iterations)),
        *(integer_array(tokens), until),
    )
    row = await (await connection.execute(EXTEND, values, binary=True)).fetchone()
    held = {order[number - 1] for number in (row[0] if row is not None else ())}
    return [replace(lease, until=until) for place, lease in enumerate(leases) if place in held]


async def expired(connection: Connection, now: int, *, runs: Sequence[RunId] | None) -> list[Lease]:
    asked = _integers(runs)
    values = (now, asked, asked, EXPIRED_LEASES_MAX)
    cursor = await connection.execute(EXPIRED, values, binary=True)
    return [
        Lease(job_ref(run, step, visit=visit, iteration=iteration), token, until, calls_again)
        for run, step, visit, iteration, token, until, calls_again in await cursor.fetchall()
    ]


def release_call(lease: Lease, due_at: int) -> WriteCall:
    values = (*job_values(lease.job), integer(lease.token), integer(due_at))
    return WriteCall(lease.job.run, _RELEASES, values)


def _integers(runs: Sequence[RunId] | None) -> bytes | None:
    return integer_array(runs) if runs is not None else None
