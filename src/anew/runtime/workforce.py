"""Who works on a database and how much waits in each pool: for lists and for the API.

Decides nothing; what it tells may be some seconds old. In JSON moments are text in UTC.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from anew.engine.moments import moment_text
from anew.runtime.heartbeat import is_alive
from anew.store import Database, PoolLoad, Presence
from anew.values import Object

WORKERS_SHOWN_MAX = 1_000


class PoolStatus(Struct, frozen=True):
    """The open jobs of a pool, and those who take them. Who works for several counts in each."""

    load: PoolLoad
    workers: int
    slots: int
    busy: int

    def row(self) -> Object:
        load = self.load
        return {
            "pool": load.pool,
            "workers": self.workers,
            "slots": self.slots,
            "busy": self.busy,
            "ready": load.ready,
            "oldest_ready_at": _moment(load.oldest_ready_at),
            "waiting": load.waiting,
            "next_due_at": _moment(load.next_due_at),
            "leased": load.leased,
            "expired": load.expired,
        }


class Workforce(Struct, frozen=True):
    """As of `now`: every process seen within a day, and every pool that has jobs or workers."""

    now: int
    workers: list[Presence]
    pools: list[PoolStatus]

    def row(self) -> Object:
        """The JSON of `anew workers --json` and of `GET /api/v1/workers`."""
        return {
            "now": moment_text(self.now),
            "workers": [_worker_row(one, self.now) for one in self.workers],
            "pools": [pool.row() for pool in self.pools],
        }


async def workforce_of(database: Database) -> Workforce:
    now = database.clock.now()
    workers = await database.roster.workers(WORKERS_SHOWN_MAX)
    loads = {load.pool: load for load in await database.roster.loads(now)}
    alive = [one for one in workers if is_alive(one, now)]
    for name in (name for one in alive for name in one.pools):
        loads.setdefault(name, PoolLoad(name, 0, None, 0, None, leased=0, expired=0))
    pools = [_pool(loads[name], alive) for name in sorted(loads)]
    return Workforce(now, workers, pools)


def _pool(load: PoolLoad, alive: Sequence[Presence]) -> PoolStatus:
    mine = [one for one in alive if one.slots and (not one.pools or load.pool in one.pools)]
    slots, busy = sum(one.slots for one in mine), sum(one.busy for one in mine)
    return PoolStatus(load, len(mine), slots, busy)


def _worker_row(one: Presence, now: int) -> Object:
    return {
        "worker": one.worker,
        "host": one.host,
        "process": one.process,
        "kind": one.kind,
        "pools": list(one.pools),
        "slots": one.slots,
        "busy": one.busy,
        "leases": one.leases,
        "version": one.version,
        "started_at": moment_text(one.started_at),
        "seen_at": moment_text(one.seen_at),
        "is_alive": is_alive(one, now),
    }


def _moment(at: int | None) -> str | None:
    return None if at is None else moment_text(at)
