"""`anew guard`: look at the guards of what tasks call, and change them for all runs."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator

from anew.runtime.commands import ChangeGuard
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.command_sending import send_command
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.overrides import workload_overrides
from anew.surfaces.cli.paint import paint_for
from anew.surfaces.cli.tables import table_lines
from anew.surfaces.cli.terminal_interview import login
from anew.values import Object

_PATTERN = "a dependency (stripe/acme), a name above it (stripe), or a pattern (stripe/*)"


def run(words: list[str]) -> int:
    asked = _parser().parse_args(words)
    command = ChangeGuard(
        action=asked.action,
        pattern=asked.pattern,
        rule=workload_overrides(None, asked.settings),
        keys=asked.keys,
        until=asked.until,
        by=asked.by or login(),
    )
    answer = send_command(asked.place, command)
    if asked.json:
        print(json.dumps(answer, ensure_ascii=False))
    else:
        print("\n".join(_lines(answer)))
    return status.DONE


def _parser() -> ArgumentParser:
    parser = parser_for(
        "guard",
        purpose="Show the guards of what tasks call, and change them. What is set here comes\n"
        "before the rules of documents, holds for every run and worker of the database from\n"
        "the next call on, and is kept with the name of who set it.",
        example="anew guard list\n"
        "anew guard set stripe concurrency=4 rate.count=100 rate.per=1s\n"
        "anew guard pause stripe 10m\n"
        "anew guard clear stripe",
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add(actions, "list", "how every dependency is that was called", is_named=False)
    setting = _add(actions, "set", "set keys of the rule of a pattern")
    setting.add_argument(
        "settings", nargs="+", metavar="K=V", help="concurrency=4, rate.count=10, cooldown=true"
    )
    unsetting = _add(actions, "unset", "take keys away that were set, or all of them")
    unsetting.add_argument("keys", nargs="*", metavar="KEY", help="concurrency, rate, …")
    pausing = _add(actions, "pause", "hold all calls until a moment")
    pausing.add_argument("until", metavar="TIME", help="a duration (10m), or a time in ISO 8601")
    _add(actions, "trip", "open the breaker now")
    _add(actions, "clear", "let calls through: no pause, breaker closed, bucket full")
    return parser


def _add(
    actions: _SubParsersAction[ArgumentParser], name: str, text: str, *, is_named: bool = True
) -> ArgumentParser:
    parser = actions.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.set_defaults(settings=[], keys=[], until="")
    parser.add_argument("pattern", metavar="NAME", nargs=None if is_named else "?", help=_PATTERN)
    parser.add_argument("--by", metavar="NAME", help="who does it (default: you)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_place_options(parser)
    return parser


def _lines(answer: Object) -> Iterator[str]:
    rows = answer["dependencies"]
    if rows:
        head = ("DEPENDENCY", "RUNNING", "HELD", "BREAKER", "TOKENS", "HELD UNTIL")
        yield from table_lines([head, *map(_cells, rows)], paint_for(sys.stdout))
    else:
        yield "no call to a guarded dependency is known"
    for source in ("operator", "file"):
        for pattern, rule in answer["rules"][source].items():
            yield f"{source}: {pattern}: {json.dumps(rule, ensure_ascii=False)}"
    for pattern, until in answer["rules"]["paused"].items():
        yield f"paused: {pattern} until {until}"


def _cells(row: Object) -> tuple[str, ...]:
    tokens = "-" if row["tokens"] is None else f"{row['tokens']:g}"
    until = row["held_until"] or "-"
    return (row["name"], str(row["running"]), str(row["held"]), row["breaker"], tokens, until)
