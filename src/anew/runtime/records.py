"""A run as people look at it: its row, its whole log, and what both amount to.

Reads only, from whatever database it is given: the command line and the HTTP API tell the same of a
run because both read it here.
"""

from __future__ import annotations

import asyncio

from msgspec import Struct

from anew.engine.events import Event
from anew.engine.fold import fold
from anew.engine.state import FINAL, RunState
from anew.program.program import Program
from anew.runtime.lost import lost_workers
from anew.runtime.questions import OpenQuestion
from anew.runtime.rows import more_of
from anew.runtime.standing import Still, what_is_open
from anew.store import Archive, Database, JobRow, RunFilter, RunId, RunRow
from anew.values import Object
from anew.views.lost import LostWorker
from anew.views.progress import Progress, progress_of
from anew.views.report import report_of

PAGE_EVENTS = 5_000
CHILDREN_MAX = 100
# A log this long is folded beside the event loop, which others wait for.
EVENTS_FOLDED_AT_ONCE = 500


class Record(Struct, frozen=True):
    """A run as it was read: its row, its log, and what both amount to."""

    row: RunRow
    log: list[Event]
    state: RunState
    progress: Progress
    jobs: list[JobRow]
    children: list[RunRow]
    still: Still | None
    lost: list[LostWorker]

    @property
    def questions(self) -> list[OpenQuestion]:
        return [] if self.still is None else self.still.questions


async def read_log(archive: Archive, run: RunId) -> list[Event]:
    """The whole log, page by page."""
    log: list[Event] = []
    while True:
        page = await archive.events(run, after=log[-1].seq if log else 0, limit=PAGE_EVENTS)
        log.extend(page)
        if len(page) < PAGE_EVENTS:
            return log


async def record_of(database: Database, row: RunRow, program: Program | None) -> Record:
    """Everything there is to tell about a run; a log can be told without its program."""
    archive = database.archive
    log = await read_log(archive, row.run)
    state, progress = await _followed(log, program)
    jobs = await archive.jobs(row.run)
    return Record(
        row=row,
        log=log,
        state=state,
        progress=progress,
        jobs=jobs,
        children=await archive.runs(RunFilter(parent=row.run, limit=CHILDREN_MAX)),
        still=None if row.status in FINAL else await what_is_open(database, row.run),
        lost=await lost_workers(database, jobs),
    )


async def _followed(log: list[Event], program: Program | None) -> tuple[RunState, Progress]:
    def follow() -> tuple[RunState, Progress]:
        return fold(log), progress_of(log, program)

    return follow() if len(log) <= EVENTS_FOLDED_AT_ONCE else await asyncio.to_thread(follow)


def report_of_record(record: Record, *, now: int) -> Object:
    """The JSON of `anew show --json` and of `GET /api/v1/runs/{run}`."""
    report = report_of(record.progress, record.state, now=now)
    lost: Object = {"lost_workers": [one.row() for one in record.lost]} if record.lost else {}
    return report | more_of(record.log[0], record.still) | lost
