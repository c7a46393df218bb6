"""Whether anyone works on a run, and what to do when nobody does.

A database file has an owner or it has none. What many processes share has no owner: there a job
that is due and not taken tells that its pool has no worker, or too few.
"""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from anew.engine.moments import LAST_MOMENT
from anew.runtime.databases import database_file, kind_of
from anew.runtime.ownership import dead_owner, is_owned
from anew.store import DEFAULT_POOL, Database, JobRow, RunId
from anew.surfaces.cli.hints import hinted
from anew.views.interruptions import InterruptedRun
from anew.views.verdict import unattended


class OwnerGone(Exception):
    """Nobody works on the run any more, and it has not ended."""


def is_left_alone(place: str | None) -> bool:
    """Whether this is a database file that no process works on."""
    return kind_of(place).is_file and not is_owned(database_file(place))


def interruption_of(place: str | None) -> InterruptedRun | None:
    """That nobody works on the unfinished runs of a database file; None where someone does."""
    return InterruptedRun(dead_owner(database_file(place))) if is_left_alone(place) else None


async def neglect_of(database: Database, run: RunId, *, last_at: int, place: str | None) -> str:
    """That nobody takes a job of a run that is due, and what to do; nothing when all is well."""
    jobs = await database.archive.jobs(run)
    if unattended(jobs, last_at, database.clock.now()) is None:
        return ""
    if not database.is_shared:
        remedy = f"if no process is working on this run, `anew resume {run}` resumes it"
        return hinted(f"no worker takes it; {remedy}", place)
    return hinted(_missing_worker(jobs), place)


def _missing_worker(jobs: Sequence[JobRow]) -> str:
    """Which worker would take what has been due longest."""
    pool = min(jobs, key=lambda job: LAST_MOMENT if job.due_at is None else job.due_at).pool
    if pool == DEFAULT_POOL:
        return "no worker takes it; `anew worker` starts one"
    return f"no worker of pool {pool} takes it; `anew worker --pool {quote(pool)}` starts one"
