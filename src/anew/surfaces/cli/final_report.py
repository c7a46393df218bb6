"""Tell how a run ended: one JSON object, or a timeline and a verdict in words."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from msgspec import Struct

from anew.engine.events import Event
from anew.engine.fold import fold
from anew.engine.moments import moment_text
from anew.program.program import Program
from anew.runtime.blocked_on import blocked_on
from anew.runtime.engine import SLOTS
from anew.runtime.json_rows import more_of
from anew.runtime.run_logs import read_log
from anew.store import Database, RunId
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.hints import hinted
from anew.surfaces.cli.open_questions import asking_lines
from anew.surfaces.cli.paint import paint_for
from anew.surfaces.cli.runs import COLOURS
from anew.values import Object
from anew.views.exit_status import exit_status_of
from anew.views.progress import progress_of
from anew.views.report import report_of
from anew.views.verdict import verdict


class RunOptions(Struct, frozen=True):
    """Where the runs are, how much to do at once, and how to tell about it.

    `waits`: a run that waits for a person is waited for. `approves`: its questions are answered
    with their first choice. `preview` was shown before the run began, where there is one. `known`:
    how many events of a run the user knows, which are not told again. `pictures` the whole run at
    the end.
    """

    place: str | None
    slots: int = SLOTS
    is_json: bool = False
    is_quiet: bool = False
    words: str | None = None
    waits: bool = False
    approves: bool = False
    preview: Object | None = None
    known: Mapping[RunId, int] = {}
    pictures: bool = True


async def print_ending(
    database: Database, run: RunId, options: RunOptions, *, program: Program | None
) -> int:
    """Print what the options ask for; the exit status. `program` is the run's, if known."""
    log = await read_log(database.archive, run)
    state, progress, now = fold(log), progress_of(log, program), database.clock.now()
    exit_status = exit_status_of(state.status)
    still = None if state.is_final else await blocked_on(database, run)
    if options.is_json:
        report = report_of(progress, state, now=now) | more_of(log[0], still)
        if options.preview is not None:
            report["preview"] = options.preview
        print(json.dumps(report))
        return exit_status
    if options.words is not None:
        _print_rows(log, options.words, program)
    elif options.pictures and not options.is_quiet:
        _print_lanes(log, program, now)
    word = paint_for(sys.stdout)(COLOURS.get(state.status, "bold"), f"run {run}")
    told = verdict(progress, state, now=now).lines(now)
    for line in [*told, *asking_lines(run, still)]:
        print(f"{word}  {visible(hinted(line, options.place))}")
    return exit_status


def _print_rows(log: list[Event], words: str, program: Program | None) -> None:
    from anew.surfaces.cli.rows import row_lines
    from anew.views.words import WORDS

    for line in row_lines(WORDS[words](log, program), moment_text(log[0].at)):
        print(visible(line))


def _print_lanes(log: list[Event], program: Program | None, now: int) -> None:
    from anew.surfaces.cli.lanes import lane_lines_for
    from anew.views.lanes import lanes_of

    print()
    for line in lane_lines_for(sys.stdout, lanes_of(program, log, now=now)):
        print(line)
    print()
