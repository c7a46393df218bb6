"""`anew prune`: remove runs that ended long ago, or one run, with their logs and files."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser, Namespace
from collections import Counter

from anew.engine.moments import NANOSECONDS
from anew.engine.state import FINAL, RunStatus
from anew.errors import ConfigError
from anew.runtime.commands import DropRun, PruneRuns
from anew.runtime.removal import prunable_runs
from anew.store import Database
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.command_sending import send_command
from anew.surfaces.cli.history import read
from anew.surfaces.cli.location import add_place_options
from anew.values import parse_seconds
from anew.views.wording import counted

ENDED = sorted(word.value for word in FINAL)


def run(words: list[str]) -> int:
    parser = _parser()
    asked = parser.parse_args(words)
    if (asked.run is None) == (asked.older_than is None):
        parser.error("say which runs to remove: RUN, or --older-than AGE")
    if asked.run is not None and (asked.status or asked.dry_run):
        parser.error("--status and --dry-run are for --older-than, not for one RUN")
    command = _command(asked)
    if isinstance(command, PruneRuns) and asked.dry_run:
        return _preview(asked, command)
    answer = send_command(asked.place, command)
    print(json.dumps(answer) if asked.json else f"removed {counted(answer['removed'], 'run')}")
    return status.DONE


def _parser() -> ArgumentParser:
    parser = parser_for(
        "prune",
        purpose="Remove runs that ended longer ago than AGE: their logs, results and files. Runs\n"
        "that have not ended are kept, and so is a child whose parent has not ended. With RUN,\n"
        "only that run is removed: one that has ended, or one that is damaged.",
        example="anew prune --older-than 30d --dry-run\n"
        "anew prune --older-than 30d --status done --status cancelled\nanew prune 7351",
    )
    parser.add_argument(
        "run", metavar="RUN", nargs="?", help="its id, its first or last digits, or `last`"
    )
    parser.add_argument("--older-than", metavar="AGE", help="how long ago, such as 30d or 12h")
    parser.add_argument(
        "--status", action="append", default=[], choices=ENDED, help="only runs that ended so"
    )
    parser.add_argument("--dry-run", action="store_true", help="only count what would be removed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_place_options(parser)
    return parser


def _preview(asked: Namespace, command: PruneRuns) -> int:
    """Count what would go, by how it ended."""

    async def work(database: Database) -> int:
        rows = prunable_runs(database.archive, command.before, command.statuses)
        found = Counter([row.status.value async for row in rows])
        if asked.json:
            print(json.dumps({"would_remove": found.total(), "statuses": found}))
            return status.DONE
        parts = ", ".join(f"{count:,} {word}" for word, count in sorted(found.items()))
        told = f"would remove {counted(found.total(), 'run')}"
        print(f"{told}: {parts}" if parts else told)
        return status.DONE

    return read(asked.place, work)


def _command(asked: Namespace) -> DropRun | PruneRuns:
    if asked.run is not None:
        return DropRun(run=asked.run)
    seconds = parse_seconds(asked.older_than)
    if seconds is None or seconds < 0:
        raise ConfigError(f"--older-than is {asked.older_than!r}; write it like 30d, 12h or 90m")
    before = time.time_ns() - int(seconds * NANOSECONDS)
    return PruneRuns(before=before, statuses=[RunStatus(word) for word in asked.status])
