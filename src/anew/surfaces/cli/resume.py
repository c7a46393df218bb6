"""`anew resume`: go on with every unfinished run, or with one."""

from __future__ import annotations

import asyncio
import sys

from msgspec.structs import replace

from anew.engine.state import FINAL, RunStatus
from anew.errors import ConfigError
from anew.runtime.commands import ResumeAll, ResumeRun
from anew.runtime.databases import open_database
from anew.runtime.engine import Engine
from anew.runtime.families import unfinished_runs
from anew.runtime.run_logs import successor
from anew.store import RunId, RunRow
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.final_report import RunOptions, print_ending
from anew.surfaces.cli.hints import hinted
from anew.surfaces.cli.history import find_run
from anew.surfaces.cli.run_execution import (
    Intent,
    add_run_options,
    attend,
    carry_out,
    continuing,
    run_options_of,
)
from anew.surfaces.cli.screen import Screen
from anew.values import Object
from anew.views.exit_status import exit_status_of


def run(words: list[str]) -> int:
    parser = parser_for(
        "resume",
        purpose="Resume a run: one that is paused, or whose process was stopped or died.\n"
        "Without RUN, resume every run that is not finished, except paused ones.",
        example="anew resume\nanew resume last",
    )
    parser.add_argument(
        "run", metavar="RUN", nargs="?", help="its id, its first or last digits, or `last`"
    )
    add_run_options(parser)
    asked = parser.parse_args(words)
    if asked.run is None:
        rows = asyncio.run(_unfinished(asked.place))
        return _resume_all([row.run for row in rows], run_options_of(asked, known=rows))
    row, has_ended = asyncio.run(_named(asked.place, asked.run))
    run = row.run
    if has_ended:
        remedy = hinted(
            f"`anew retry {run}` makes a new run that continues from a step", asked.place
        )
        print(f"anew: run {run} has ended: nothing to resume; {remedy}", file=sys.stderr)
    return _resume(run, run_options_of(asked, known=[row]))


def _resume(run: RunId, options: RunOptions) -> int:
    return carry_out(Intent(ResumeRun(run=str(run)), run=run), options)


def _resume_all(runs: list[RunId], options: RunOptions) -> int:
    """One run after the other is followed; all of them are worked on from the first moment."""
    if not runs:
        print("nothing to resume: every run has ended or is paused", file=sys.stderr)
        return status.DONE

    untold = dict.fromkeys(runs[:-1])  # those whose ending is still to be told
    quiet = replace(options, is_quiet=True)

    async def here(engine: Engine) -> Object:
        for run, problem in (await engine.adopt_all()).items():
            print(f"anew: run {run} cannot continue: {visible(str(problem))}", file=sys.stderr)
            untold.pop(run, None)
            if run in runs:
                runs.remove(run)
        if not runs:
            raise ConfigError("no other run is unfinished")
        for run in runs[:-1]:
            screen = Screen(quiet)
            ended = await attend(engine, run, options, screen)
            await print_ending(engine.database, ended, options, program=screen.program)
            untold.pop(run, None)
        return {"run": str(runs[-1])}

    last = carry_out(Intent(ResumeAll(), here, runs[-1]), options)
    # Another process that owns the database may end with its own run: what is left is taken over.
    while untold and last != status.CANCELLED:
        last = carry_out(continuing(untold.popitem()[0]), options)
    return max(last, asyncio.run(_worst(options.place, runs)))


async def _named(place: str | None, said: str) -> tuple[RunRow, bool]:
    """The run someone means, and whether it has ended, with no other in its place."""
    async with open_database(place, read_only=True) as database:
        row = await find_run(database.archive, said)
        has_ended = row.status in FINAL
        return row, has_ended and await successor(database.archive, row.run) is None


async def _unfinished(place: str | None) -> list[RunRow]:
    async with open_database(place, read_only=True) as database:
        rows = await unfinished_runs(database.archive)
    # Children follow their parents.
    found = [row for row in rows if row.parent is None and row.status is not RunStatus.PAUSED]
    return sorted(found, key=lambda row: row.run)


async def _worst(place: str | None, runs: list[RunId]) -> int:
    async with open_database(place, read_only=True) as database:
        rows = [await database.archive.run(run) for run in runs]
    return max(exit_status_of(row.status) for row in rows if row is not None)
