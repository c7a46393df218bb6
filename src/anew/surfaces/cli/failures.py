"""`anew failures`: failed runs, grouped by what went wrong."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from anew.runtime.run_search import failure_rows
from anew.store import Database, FailureFilter
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import count, parser_for
from anew.surfaces.cli.history import read
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.moments import parsed_moment
from anew.surfaces.cli.paint import paint_for
from anew.surfaces.cli.tables import table_lines
from anew.values import Object
from anew.views.wording import one_line

LIMIT_DEFAULT = 20
FAILURES_LISTED_MAX = 1_000
PROGRAMS_SHOWN = 2
_HEAD = ("fingerprint", "runs", "retried", "kind", "message", "step", "programs", "newest")


def run(words: list[str]) -> int:
    asked = _parser().parse_args(words)

    async def work(database: Database) -> int:
        now = database.clock.now()
        wanted = FailureFilter(
            since=None if asked.since is None else parsed_moment(asked.since, now=now),
            until=None if asked.until is None else parsed_moment(asked.until, now=now),
            program=asked.program,
            limit=min(asked.limit, FAILURES_LISTED_MAX),
            with_retried=asked.with_retried,
        )
        _print(await failure_rows(database, wanted), is_json=asked.json)
        return status.DONE

    return read(asked.place, work)


def _parser() -> ArgumentParser:
    parser = parser_for(
        "failures",
        purpose="Group failed runs by what went wrong, the group that failed last first. Runs\n"
        "whose errors differ only in ids, numbers and times have one fingerprint. Those that\n"
        "were retried are no longer in their group.",
        example="anew failures --since 1d\nanew runs --fingerprint 3f9a1c2b7d4e",
    )
    parser.add_argument("--program", metavar="NAME", help="runs of this program")
    parser.add_argument("--since", metavar="WHEN", help="failed since 30m, 2h, 1d, or an ISO date")
    parser.add_argument("--until", metavar="WHEN", help="failed before then")
    parser.add_argument(
        "--with-retried", action="store_true", help="count those that were retried, too"
    )
    parser.add_argument(
        "--limit", type=count, default=LIMIT_DEFAULT, metavar="N", help="default %(default)s"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    add_place_options(parser)
    return parser


def _print(groups: Sequence[Object], *, is_json: bool) -> None:
    if is_json:
        for group in groups:
            print(json.dumps(group))
    elif groups:
        for line in table_lines([_HEAD, *map(_cells, groups)], paint_for(sys.stdout)):
            print(line)
    else:
        print("no run has failed, or all that did were retried", file=sys.stderr)


def _cells(group: Object) -> Sequence[str]:
    programs = group["programs"]
    more = f" and {len(programs) - PROGRAMS_SHOWN} more" if len(programs) > PROGRAMS_SHOWN else ""
    return (
        group["fingerprint"],
        str(group["count"]),
        str(group["retried"] or ""),
        group["kind"],
        one_line(group["message"]),
        group["step"] or "",
        ", ".join(programs[:PROGRAMS_SHOWN]) + more,
        group["newest"],
    )
