"""`anew timeline`: what happened when, as lanes or as lines."""

from __future__ import annotations

import sys

from anew.runtime.run_logs import read_log
from anew.store import Database
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.history import (
    add_run_argument,
    find_run,
    program_of,
    read,
)
from anew.surfaces.cli.lanes import lane_lines_for
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.moments import is_today, local_moment
from anew.views.lanes import lanes_of
from anew.views.timeline import timeline_lines


def run(words: list[str]) -> int:
    parser = parser_for(
        "timeline",
        purpose="Show what happened when. Lanes have one line per step, with attempts as bars and\n"
        "waits between them; lines have one line per event. Lanes are the default on a\n"
        "terminal, lines elsewhere.",
        example="anew timeline last\nanew timeline last --lines | grep error",
    )
    add_run_argument(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--lanes", action="store_true", help="one lane per step")
    form.add_argument("--lines", action="store_true", help="one line per event")
    add_place_options(parser)
    asked = parser.parse_args(words)
    is_lanes = asked.lanes or (sys.stdout.isatty() and not asked.lines)

    async def work(database: Database) -> int:
        row = await find_run(database.archive, asked.run)
        log = await read_log(database.archive, row.run)
        program = await program_of(database.catalog, row.digest)
        now = database.clock.now()
        if log and not is_today(log[0].at, now):
            print(f"started {local_moment(log[0].at)}")
        if not is_lanes:
            for line in timeline_lines(log, program):
                print(visible(line))
            return status.DONE
        for line in lane_lines_for(sys.stdout, lanes_of(program, log, now=now)):
            print(line)
        return status.DONE

    return read(asked.place, work)
