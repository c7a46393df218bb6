"""`anew prune`: remove runs that ended long ago, or one run, with their logs and files."""

from __future__ import annotations

import json
import time
from argparse import Namespace

from anew.engine.moments import NANOSECONDS
from anew.errors import ConfigError
from anew.runtime.commands import DropRun, PruneRuns
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.command_sending import send_command
from anew.surfaces.cli.location import add_place_options
from anew.values import parse_seconds
from anew.views.wording import counted


def run(words: list[str]) -> int:
    parser = parser_for(
        "prune",
        purpose="Remove runs that ended longer ago than AGE: their logs, results and files. Runs\n"
        "that have not ended are kept, and so is a child whose parent has not ended. With RUN,\n"
        "only that run is removed: one that has ended, or one that is damaged.",
        example="anew prune --older-than 30d\nanew prune 7351",
    )
    parser.add_argument(
        "run", metavar="RUN", nargs="?", help="its id, its first or last digits, or `last`"
    )
    parser.add_argument("--older-than", metavar="AGE", help="how long ago, such as 30d or 12h")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_place_options(parser)
    asked = parser.parse_args(words)
    if (asked.run is None) == (asked.older_than is None):
        parser.error("say which runs to remove: RUN, or --older-than AGE")
    answer = send_command(asked.place, _command(asked))
    print(json.dumps(answer) if asked.json else f"removed {counted(answer['removed'], 'run')}")
    return status.DONE


def _command(asked: Namespace) -> DropRun | PruneRuns:
    if asked.run is not None:
        return DropRun(run=asked.run)
    seconds = parse_seconds(asked.older_than)
    if seconds is None or seconds < 0:
        raise ConfigError(f"--older-than is {asked.older_than!r}; write it like 30d, 12h or 90m")
    return PruneRuns(before=time.time_ns() - int(seconds * NANOSECONDS))
