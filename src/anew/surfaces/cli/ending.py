"""Tell how a run ended: one JSON object, or a timeline and a verdict in words."""

from __future__ import annotations

import json
import sys
import time

from msgspec import Struct

from anew.engine.fold import fold
from anew.engine.moments import moment_text
from anew.engine.state import RunStatus
from anew.runtime.embedded import SLOTS
from anew.store import Database, RunId
from anew.surfaces.cli import status
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.history import program_of, read_log
from anew.surfaces.cli.lanes import lane_lines_for
from anew.surfaces.cli.paint import paint_for
from anew.surfaces.cli.rows import row_lines
from anew.surfaces.cli.runs import COLOURS
from anew.surfaces.cli.simulate import WORDS
from anew.views.lanes import lanes_of
from anew.views.progress import progress_of
from anew.views.report import report_of
from anew.views.verdict import verdict

EXIT_STATUS = {
    RunStatus.DONE: status.DONE,
    RunStatus.FAILED: status.FAILED,
    RunStatus.CANCELLED: status.CANCELLED,
}


class Manner(Struct, frozen=True):
    """Where the database is, how much to do at once, and how to tell about it."""

    url: str | None
    slots: int = SLOTS
    is_json: bool = False
    is_quiet: bool = False
    words: str | None = None


async def print_ending(database: Database, run: RunId, manner: Manner) -> int:
    """Print what the manner asks for; the exit status."""
    row = await database.archive.run(run)
    log = await read_log(database.archive, run)
    program = await program_of(database.catalog, row.digest) if row else None
    state, progress, now = fold(log), progress_of(log, program), time.time_ns()
    exit_status = EXIT_STATUS.get(state.status, status.WAITING)
    if manner.is_json:
        print(json.dumps(report_of(progress, state, now=now)))
        return exit_status
    if manner.words is not None:
        for line in row_lines(WORDS[manner.words](log), moment_text(log[0].at)):
            print(visible(line))
    elif not manner.is_quiet:
        print()
        for line in lane_lines_for(sys.stdout, lanes_of(program, log, now=now)):
            print(line)
        print()
    word = paint_for(sys.stdout)(COLOURS.get(state.status, "bold"), f"run {run}")
    for line in verdict(progress, state, now=now).lines(now):
        print(f"{word}  {visible(line)}")
    return exit_status
