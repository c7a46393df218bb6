"""`anew bulk`: one action on many runs, once somebody has seen how many."""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import ArgumentParser, Namespace
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from anew.errors import ConfigError
from anew.runtime.bulk import BULK_RUNS_MAX, WITH_NAME, BulkAction, BulkOperation, preview_of
from anew.runtime.commands import ChangeRuns
from anew.runtime.databases import open_database
from anew.runtime.keys import made_key
from anew.store import Database, RunFilter, RunId
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.command_sending import send_command
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.history import find_run
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.run_filters import add_filter_options, filter_said
from anew.surfaces.cli.terminal_interview import login
from anew.values import Object
from anew.views.wording import counted

# More runs than these at once are a mistake, or need a server.
BULK_COMMAND_RUNS_MAX = 100_000
REFUSED_SHOWN = 10
_GO_ON = ("retry", "resume", "skip")


class Meant(Struct, frozen=True):
    """The runs, newest first; `count` of them, of which the action can change `able`.

    `refused` are those that were named and are not there, and what is wrong with each.
    """

    runs: list[RunId]
    count: int
    able: int
    refused: list[Object]


def run(words: list[str]) -> int:
    asked = _parser().parse_args(words)
    deed = BulkOperation(asked.action, asked.reason, asked.by)
    deed.check()
    meant = asyncio.run(_meant(asked))
    if asked.dry_run or not (meant.runs or meant.refused):
        row = {"count": meant.count, "able": meant.able, "refused": meant.refused}
        _tell(asked, row, "\n".join([_foreseen(asked, meant), *_refusals(meant.refused)]))
        return status.DONE
    if meant.runs and not asked.yes and not _agrees(_foreseen(asked, meant)):
        print("anew: nothing was done", file=sys.stderr)
        return status.CANCELLED
    return _report(asked, _act(asked, meant))


def _parser() -> ArgumentParser:
    parser = parser_for(
        "bulk",
        purpose="Apply one action to many runs: those that match a filter, or those you name.\n"
        "Shows how many there are and asks for confirmation; scripts need --yes. A run is\n"
        "retried once, even when the command is repeated.",
        example="anew bulk retry --fingerprint 3f9a1c2b7d4e --dry-run\n"
        "anew bulk cancel --program import --state retrying --yes",
    )
    parser.add_argument("action", choices=get_args(BulkAction), metavar="ACTION", help=_actions())
    parser.add_argument("runs", nargs="*", metavar="RUN", help="these runs, instead of a filter")
    add_filter_options(parser)
    parser.add_argument("--reason", metavar="TEXT", help="why, for the log (cancel, pause)")
    parser.add_argument(
        "--by", metavar="NAME", help="who asked for it, for the log (skip; default: you)"
    )
    parser.add_argument("--dry-run", action="store_true", help="only say how many runs are meant")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_place_options(parser)
    return parser


def _actions() -> str:
    return ", ".join(get_args(BulkAction))


async def _meant(asked: Namespace) -> Meant:
    async with open_database(asked.place, read_only=True) as database:
        wanted, refused = await _filter(asked, database)
        found = await preview_of(database.statistics, asked.action, wanted)
        most = replace(wanted, limit=BULK_COMMAND_RUNS_MAX)
        points = await database.statistics.points(most)
    return Meant([one.run for one in points], found.count, found.able, refused)


async def _filter(asked: Namespace, database: Database) -> tuple[RunFilter, list[Object]]:
    """Which runs are meant, and what is wrong with those that were named and are not there."""
    wanted = await filter_said(asked, database)
    if bool(asked.runs) == (wanted != RunFilter()):
        raise ConfigError("say which runs: name them, or give a filter such as --state failed")
    if not asked.runs:
        return wanted, []
    found: list[RunId] = []
    refused: list[Object] = []
    for said in asked.runs:
        try:
            found.append((await find_run(database.archive, said)).run)
        except ConfigError as error:
            refused.append({"run": said, "detail": str(error), "retried_as": None})
    return RunFilter(runs=found), refused


def _foreseen(asked: Namespace, meant: Meant) -> str:
    return f"{asked.action} can change {meant.able:,} of {counted(meant.count, 'run')}"


def _agrees(foreseen: str) -> bool:
    """Whether somebody at this terminal wants it."""
    is_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    if not is_terminal:
        raise ConfigError(f"{foreseen}. There is no terminal to ask on: give --yes to do it.")
    print(f"{foreseen}. Continue? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _act(asked: Namespace, meant: Meant) -> Object:
    """A few runs at a time: whoever does it has others to serve."""
    done: Object = {"changed": [], "refused": list(meant.refused)}
    by = asked.by or login() if asked.action in WITH_NAME else None
    for first in range(0, len(meant.runs), BULK_RUNS_MAX):
        some = [str(run) for run in meant.runs[first : first + BULK_RUNS_MAX]]
        # What is skipped twice would be two waits.
        id = None if asked.action == "skip" else made_key()
        command = ChangeRuns(name=asked.action, runs=some, reason=asked.reason, by=by, id=id)
        answer = send_command(asked.place, command)
        done["changed"] += answer["changed"]
        done["refused"] += answer["refused"]
    return done


def _report(asked: Namespace, done: Object) -> int:
    changed, refused = done["changed"], done["refused"]
    lines = [f"{asked.action}: {counted(len(changed), 'run')} changed, {len(refused):,} refused"]
    lines += _refusals(refused)
    if changed and asked.action in _GO_ON:
        lines.append("If no process is working on the database, `anew resume` resumes them.")
    _tell(asked, done, "\n".join(lines))
    return status.FAILED if refused and not changed else status.DONE


def _refusals(refused: list[Object]) -> list[str]:
    told = [f"  {one['run']}  {one['detail']}" for one in refused[:REFUSED_SHOWN]]
    more = len(refused) - len(told)
    return [*map(visible, told), *([f"  and {more:,} more"] if more else [])]


def _tell(asked: Namespace, row: Object, text: str) -> None:
    print(json.dumps(row) if asked.json else text)
