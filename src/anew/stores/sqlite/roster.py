"""Who works on the file, how much waits in each pool, and which jobs wait for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw
import msgspec

from anew.engine.moments import NANOSECONDS
from anew.store import WORKERS_KEPT_SECONDS_MAX, HeldJob, JobRow, PoolLoad, Presence, WaitReason
from anew.stores.sqlite.commits import job_ref
from anew.stores.sqlite.reader import Reader

if TYPE_CHECKING:
    from anew.stores.sqlite.database import Writes

_BEAT = "INSERT OR REPLACE INTO workers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_FORGET = "DELETE FROM workers WHERE seen_at < ?"
_LEAVE = "DELETE FROM workers WHERE worker = ?"
_WORKERS = """
SELECT worker, host, process, kind, pools, slots, busy, leases, version, started_at, seen_at, jobs
FROM workers ORDER BY seen_at DESC, worker LIMIT ?
"""
# A job that was woken is due at 0, which is no moment.
DUE_LOADS = """
SELECT
    pool,
    count(*) FILTER (WHERE due_at <= ?1),
    min(due_at) FILTER (WHERE due_at > 0 AND due_at <= ?1),
    count(*) FILTER (WHERE due_at > ?1),
    min(due_at) FILTER (WHERE due_at > ?1)
FROM jobs INDEXED BY jobs_due WHERE is_leased = 0 AND due_at IS NOT NULL GROUP BY pool
"""
ASIDE_LOADS = """
SELECT pool, count(*) FROM jobs INDEXED BY jobs_aside
WHERE is_leased = 0 AND due_at IS NULL GROUP BY pool
"""
# Workers hold few of all jobs.
LEASED_LOADS = """
SELECT pool, count(*), count(*) FILTER (WHERE leased_until < ?1)
FROM jobs WHERE is_leased = 1 GROUP BY pool
"""
_ASKING_COLUMNS = """
SELECT run, step, visit, iteration, reason, due_at, attempt, pool, leased_until, token
FROM jobs INDEXED BY jobs_asking WHERE reason = 'person' AND is_leased = 0
"""
# By themselves each comes in the order of the index, however many wait.
_ORDER = "run, step, visit, iteration LIMIT ?"
ASKING = f"{_ASKING_COLUMNS} AND due_at IS NOT NULL ORDER BY due_at, {_ORDER}"
ASKING_FOR_EVER = f"{_ASKING_COLUMNS} AND due_at IS NULL ORDER BY {_ORDER}"


class SqliteRoster:
    """Written by the owner, read by anyone."""

    def __init__(self, writer: Writes, reader: Reader) -> None:
        self._writer = writer
        self._reader = reader

    async def beat(self, presence: Presence) -> None:
        await self._writer.do(lambda db: beat(db, presence))

    async def leave(self, worker: str) -> None:
        await self._writer.do(lambda db: db.execute(_LEAVE, (worker,)).fetchall())

    async def workers(self, limit: int = 1000) -> list[Presence]:
        return await self._reader.ask(lambda db: list_workers(db, limit))

    async def loads(self, now: int) -> list[PoolLoad]:
        return await self._reader.ask(lambda db: pool_loads(db, now))

    async def asking(self, limit: int = 1000) -> list[JobRow]:
        return await self._reader.ask(lambda db: list_asking(db, limit))


def beat(connection: apsw.Connection, presence: Presence) -> None:
    pools = msgspec.json.encode(presence.pools).decode()
    jobs = msgspec.json.encode(presence.jobs).decode()
    values = msgspec.structs.astuple(presence)
    connection.execute(_BEAT, (*values[:4], pools, *values[5:-1], jobs))
    oldest = presence.seen_at - WORKERS_KEPT_SECONDS_MAX * NANOSECONDS
    connection.execute(_FORGET, (oldest,))


def list_workers(connection: apsw.Connection, limit: int) -> list[Presence]:
    return [_presence(row) for row in connection.execute(_WORKERS, (limit,))]


def pool_loads(connection: apsw.Connection, now: int) -> list[PoolLoad]:
    due: dict[str, Any] = {row[0]: row[1:] for row in connection.execute(DUE_LOADS, (now,))}
    aside: dict[str, Any] = {row[0]: row[1] for row in connection.execute(ASIDE_LOADS)}
    held: dict[str, Any] = {row[0]: row[1:] for row in connection.execute(LEASED_LOADS, (now,))}
    found = []
    for pool in sorted(due.keys() | aside.keys() | held.keys()):
        ready, oldest, later, next_due = due.get(pool, (0, None, 0, None))
        leased, expired = held.get(pool, (0, 0))
        waiting = later + aside.get(pool, 0)
        found.append(PoolLoad(pool, ready, oldest, waiting, next_due, leased, expired))
    return found


def list_asking(connection: apsw.Connection, limit: int) -> list[JobRow]:
    found: list[Any] = connection.execute(ASKING, (limit,)).fetchall()
    found += connection.execute(ASKING_FOR_EVER, (limit - len(found),)).fetchall()
    return [
        JobRow(
            job=job_ref(row[:4]),
            reason=WaitReason(row[4]),
            due_at=row[5],
            attempt=row[6],
            pool=row[7],
            leased_until=row[8],
            token=row[9],
        )
        for row in found
    ]


def _presence(row: tuple[Any, ...]) -> Presence:
    worker, host, process, kind, pools, slots, busy, leases, version, *moments, jobs = row
    return Presence(
        *(worker, host, process, kind),
        *(msgspec.json.decode(pools, type=list[str]), slots, busy, leases),
        *(version, *moments, msgspec.json.decode(jobs, type=list[HeldJob])),
    )
