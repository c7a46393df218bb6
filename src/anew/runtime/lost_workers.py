"""Which workers that hold jobs of a run do not report, and when their work is handed out again.

For people: what is lost is decided by leases (`coordination.py`), and by nothing that is told here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.runtime.leases import BEATS_PER_LEASE, HEARTBEAT_SECONDS, lease_seconds
from anew.store import Database, HeldJob, JobRow, Presence
from anew.views.lost import LostWorker

# A heartbeat may be late for as long as it takes to write one.
SILENCE_SECONDS = 1.5 * HEARTBEAT_SECONDS


async def lost_workers(database: Database, jobs: Iterable[JobRow]) -> list[LostWorker]:
    """Those that hold these jobs. The roster is read only if someone holds one for a time."""
    held = [job for job in jobs if job.leased_until is not None and job.leased_until < LAST_MOMENT]
    if not held:
        return []
    workers = await database.roster.workers()
    return lost_among(held, workers, database.clock.now())


def lost_among(jobs: Sequence[JobRow], workers: Sequence[Presence], now: int) -> list[LostWorker]:
    """Who of the workers has one of these leased jobs and is silent, or let its lease run out."""
    holders = {held: one for one in workers for held in one.jobs}
    found: dict[str | None, list[JobRow]] = {}
    named: dict[str | None, Presence] = {}
    for job in jobs:
        holder = holders.get(HeldJob(job.job, job.token))
        is_silent = holder is not None and now - holder.seen_at > SILENCE_SECONDS * NANOSECONDS
        if is_silent or (job.leased_until or 0) < now:
            name = None if holder is None else holder.worker
            found.setdefault(name, []).append(job)
            if holder is not None:
                named[name] = holder
    return [_lost(named.get(name), theirs) for name, theirs in found.items()]


def _lost(holder: Presence | None, jobs: Sequence[JobRow]) -> LostWorker:
    # Whoever looks after leases waits a heartbeat longer: see `coordination.py`.
    beat = int(lease_seconds() / BEATS_PER_LEASE * NANOSECONDS)
    return LostWorker(
        worker=None if holder is None else holder.worker,
        host=None if holder is None else holder.host,
        process=None if holder is None else holder.process,
        seen_at=None if holder is None else holder.seen_at,
        steps=list(dict.fromkeys(job.job.key.step for job in jobs)),
        handed_out_at=min(job.leased_until or 0 for job in jobs) + beat,
    )
