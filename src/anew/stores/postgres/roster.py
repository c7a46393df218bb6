"""Who works on the database, how much waits in each pool, and which jobs wait for people."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from anew.engine.moments import NANOSECONDS
from anew.store import WORKERS_KEPT_SECONDS_MAX, HeldJob, JobRow, PoolLoad, Presence, WaitReason
from anew.stores.postgres.connection import Connection
from anew.stores.postgres.pool import ConnectionPool
from anew.stores.postgres.values import from_text, job_ref, to_text

_COLUMNS = (
    "worker, host, process, kind, pools, slots, busy, leases, version, started_at, seen_at, jobs"
)
_BEAT = f"""
INSERT INTO anew.workers ({_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (worker) DO UPDATE SET
    pools = EXCLUDED.pools, slots = EXCLUDED.slots, busy = EXCLUDED.busy,
    leases = EXCLUDED.leases, seen_at = EXCLUDED.seen_at, jobs = EXCLUDED.jobs
"""
# Two who forget the same ones at once do not wait for each other.
_FORGET = """
DELETE FROM anew.workers WHERE worker IN (
    SELECT worker FROM anew.workers WHERE seen_at < %s FOR UPDATE SKIP LOCKED
)
"""
_LEAVE = "DELETE FROM anew.workers WHERE worker = %s"
_WORKERS = f"SELECT {_COLUMNS} FROM anew.workers ORDER BY seen_at DESC, worker LIMIT %s"
# A job that was woken is due at 0, which is no moment.
LOADS = """
SELECT
    pool,
    count(*) FILTER (WHERE leased_until IS NULL AND due_at <= %(now)s),
    min(due_at) FILTER (WHERE leased_until IS NULL AND due_at > 0 AND due_at <= %(now)s),
    count(*) FILTER (WHERE leased_until IS NULL AND (due_at IS NULL OR due_at > %(now)s)),
    min(due_at) FILTER (WHERE leased_until IS NULL AND due_at > %(now)s),
    count(*) FILTER (WHERE leased_until IS NOT NULL),
    count(*) FILTER (WHERE leased_until < %(now)s)
FROM anew.jobs GROUP BY pool ORDER BY pool
"""
_ASKING_COLUMNS = """
SELECT run, step, visit, iteration, reason, due_at, attempt, pool, leased_until, token
FROM anew.jobs WHERE reason = 'person' AND leased_until IS NULL
"""
# By themselves each comes in the order of the index, however many wait.
_ORDER = "run, step, visit, iteration LIMIT %s"
ASKING = f"{_ASKING_COLUMNS} AND due_at IS NOT NULL ORDER BY due_at, {_ORDER}"
ASKING_FOR_EVER = f"{_ASKING_COLUMNS} AND due_at IS NULL ORDER BY {_ORDER}"


class PostgresRoster:
    """Over the connections that read: what it writes changes no run."""

    def __init__(self, links: ConnectionPool) -> None:
        self._links = links

    async def beat(self, presence: Presence) -> None:
        await self._links.run(partial(beat, presence=presence))

    async def leave(self, worker: str) -> None:
        await self._links.run(partial(leave, worker=worker))

    async def workers(self, limit: int = 1000) -> list[Presence]:
        return await self._links.run(partial(list_workers, limit=limit))

    async def loads(self, now: int) -> list[PoolLoad]:
        return await self._links.run(partial(pool_loads, now=now))

    async def asking(self, limit: int = 1000) -> list[JobRow]:
        return await self._links.run(partial(list_asking, limit=limit))


async def beat(connection: Connection, presence: Presence) -> None:
    pools = msgspec.json.encode(presence.pools).decode()
    worker, host, process, kind, _, slots, busy, leases, version, started_at, seen_at, _ = (
        msgspec.structs.astuple(presence)
    )
    names = (to_text(worker), to_text(host), process, kind, pools)
    jobs = msgspec.json.encode(presence.jobs).decode()
    values = (*names, slots, busy, leases, to_text(version), started_at, seen_at, jobs)
    await connection.execute(_BEAT, values)
    oldest = presence.seen_at - WORKERS_KEPT_SECONDS_MAX * NANOSECONDS
    await connection.execute(_FORGET, (oldest,))


async def leave(connection: Connection, worker: str) -> None:
    await connection.execute(_LEAVE, (to_text(worker),))


async def list_workers(connection: Connection, limit: int) -> list[Presence]:
    cursor = await connection.execute(_WORKERS, (limit,), binary=True)
    return [_presence(row) for row in await cursor.fetchall()]


async def pool_loads(connection: Connection, now: int) -> list[PoolLoad]:
    cursor = await connection.execute(LOADS, {"now": now}, binary=True)
    return [PoolLoad(from_text(row[0]), *row[1:]) for row in await cursor.fetchall()]


async def list_asking(connection: Connection, limit: int) -> list[JobRow]:
    found = await (await connection.execute(ASKING, (limit,), binary=True)).fetchall()
    left = (limit - len(found),)
    found += await (await connection.execute(ASKING_FOR_EVER, left, binary=True)).fetchall()
    return [
        JobRow(
            job=job_ref(row[0], row[1], visit=row[2], iteration=row[3]),
            reason=WaitReason(row[4]),
            due_at=row[5],
            attempt=row[6],
            pool=from_text(row[7]),
            leased_until=row[8],
            token=row[9],
        )
        for row in found
    ]


def _presence(row: tuple[Any, ...]) -> Presence:
    worker, host, process, kind, pools, slots, busy, leases, version, *moments, jobs = row
    return Presence(
        *(from_text(worker), from_text(host), process, kind),
        *(msgspec.json.decode(pools, type=list[str]), slots, busy, leases),
        *(from_text(version), *moments, msgspec.json.decode(jobs, type=list[HeldJob])),
    )
