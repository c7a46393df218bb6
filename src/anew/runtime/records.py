"""A run as people look at it: its row, its whole log, and what both amount to.

Reads only, from whatever database it is given: the command line and the HTTP API tell the same of a
run because both read it here.
"""

from __future__ import annotations

import asyncio

from msgspec import Struct

from anew.engine.events import Event
from anew.engine.state import FINAL, RunState
from anew.program.program import Program
from anew.runtime.blocked_on import BlockedOn, blocked_on
from anew.runtime.damage import Readable, check_row, damage_row, folded, readable_log
from anew.runtime.json_rows import more_of
from anew.runtime.lost_workers import lost_workers
from anew.runtime.questions import OpenQuestion
from anew.store import Database, JobRow, RunFilter, RunId, RunRow
from anew.stores.damage import DamagedRun
from anew.values import Object
from anew.views.interruptions import InterruptedRun
from anew.views.lost import LostWorker
from anew.views.progress import Progress, progress_of
from anew.views.report import report_of

CHILDREN_MAX = 100
# A log this long is folded beside the event loop, which others wait for.
EVENTS_FOLDED_AT_ONCE = 500


class Record(Struct, frozen=True):
    """A run as it was read: its row, its log, and what both amount to; up to a `damage`.

    `interrupted`: no process works on it, for whoever knows that.
    """

    row: RunRow
    log: list[Event]
    state: RunState
    progress: Progress
    jobs: list[JobRow]
    children: list[RunRow]
    blocked_on: BlockedOn | None
    lost: list[LostWorker]
    damage: DamagedRun | None = None
    interrupted: InterruptedRun | None = None

    @property
    def questions(self) -> list[OpenQuestion]:
        return [] if self.blocked_on is None else self.blocked_on.questions


async def record_of(database: Database, row: RunRow, program: Program | None) -> Record:
    """Everything there is to tell about a run; a log can be told without its program."""
    archive = database.archive
    found = await _followed(row.run, await readable_log(archive, check_row(row)), program)
    jobs = await archive.jobs(row.run)
    return Record(
        row=row,
        log=found.log,
        state=found.state,
        progress=found.progress,
        jobs=jobs,
        children=await archive.runs(RunFilter(parent=row.run, limit=CHILDREN_MAX)),
        blocked_on=None if row.status in FINAL else await blocked_on(database, row.run),
        lost=await lost_workers(database, jobs),
        damage=found.damage,
    )


class _Followed(Struct, frozen=True):
    log: list[Event]
    state: RunState
    progress: Progress
    damage: DamagedRun | None


async def _followed(run: RunId, found: Readable, program: Program | None) -> _Followed:
    def follow() -> _Followed:
        log, damage = found.events, found.damage
        try:
            state = folded(run, log)
        except DamagedRun as earlier:
            log, damage = log[: earlier.seq - 1], earlier
            state = folded(run, log)
        return _Followed(log, state, progress_of(log, program), damage)

    is_short = len(found.events) <= EVENTS_FOLDED_AT_ONCE
    return follow() if is_short else await asyncio.to_thread(follow)


def report_of_record(record: Record, *, now: int) -> Object:
    """The JSON of `anew show --json` and of `GET /api/v1/runs/{run}`."""
    report = report_of(record.progress, record.state, now=now)
    if record.log:
        report |= more_of(record.log[0], record.blocked_on)
    if record.lost:
        report["lost_workers"] = [one.row() for one in record.lost]
    if record.interrupted is not None:
        report["interrupted"] = record.interrupted.row(since=record.progress.last_at)
    if record.damage is not None:
        row = record.row
        report |= {"run": str(row.run), "program": row.program, "status": row.status.value}
        report["damage"] = damage_row(record.damage)
    return report
