"""Who works on a database that forgets, and what waits in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anew.engine.moments import NANOSECONDS
from anew.store import WORKERS_KEPT_SECONDS_MAX, JobRow, PoolLoad, Presence, WaitReason

_NEVER = 2**63


class MemoryRoster:
    """`open_jobs` gives every job there is."""

    def __init__(self, open_jobs: Callable[[], Sequence[JobRow]]) -> None:
        self._open_jobs = open_jobs
        self._workers: dict[str, Presence] = {}

    async def beat(self, presence: Presence) -> None:
        self._workers[presence.worker] = presence
        oldest = presence.seen_at - WORKERS_KEPT_SECONDS_MAX * NANOSECONDS
        kept = {name: one for name, one in self._workers.items() if one.seen_at >= oldest}
        self._workers = kept

    async def leave(self, worker: str) -> None:
        self._workers.pop(worker, None)

    async def workers(self, limit: int = 1000) -> list[Presence]:
        newest = sorted(self._workers.values(), key=lambda one: (-one.seen_at, one.worker))
        return newest[:limit]

    async def loads(self, now: int) -> list[PoolLoad]:
        by_pool: dict[str, list[JobRow]] = {}
        for job in self._open_jobs():
            by_pool.setdefault(job.pool, []).append(job)
        return [_load(pool, by_pool[pool], now) for pool in sorted(by_pool)]

    async def asking(self, limit: int = 1000) -> list[JobRow]:
        people = [job for job in self._open_jobs() if job.reason is WaitReason.PERSON]
        return sorted((job for job in people if job.leased_until is None), key=_urgency)[:limit]


def _load(pool: str, jobs: Sequence[JobRow], now: int) -> PoolLoad:
    free = [job.due_at for job in jobs if job.leased_until is None]
    ready = [due for due in free if due is not None and due <= now]
    later = [due for due in free if due is not None and due > now]
    ends = [job.leased_until for job in jobs if job.leased_until is not None]
    return PoolLoad(
        pool=pool,
        ready=len(ready),
        # A job that was woken is due at 0, which is no moment.
        oldest_ready_at=min(filter(None, ready), default=None),
        waiting=len(free) - len(ready),
        next_due_at=min(later, default=None),
        leased=len(ends),
        expired=sum(until < now for until in ends),
    )


def _urgency(job: JobRow) -> tuple[object, ...]:
    key = job.job.key
    due = _NEVER if job.due_at is None else job.due_at
    iteration = -1 if key.iteration is None else key.iteration
    return due, job.job.run, key.step, key.visit, iteration
