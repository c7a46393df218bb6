"""`anew whatif`: what another policy would have made of past runs, without executing anything."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from time import monotonic

from anew.errors import ConfigError
from anew.lab.whatif import SAMPLES_DEFAULT, Whatif, whatif
from anew.lab.whatif.lines import answer_lines
from anew.program.program import Program
from anew.store import Database
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import add_dialect_option, count, parser_for
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.history import read
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.whatif_runs import (
    RUNS_DEFAULT,
    STATUSES,
    Found,
    Selection,
    changed_program,
    past_runs,
)

# A sample plays every run that needs the model once more.
SAMPLES_MAX = 10_000
SHOWN_EVERY_SECONDS = 0.2


def run(words: list[str]) -> int:
    asked = _parser().parse_args(words)
    selection = _selection(asked)
    read_in: list[tuple[Program, Found]] = []

    async def work(database: Database) -> int:
        program = await changed_program(database.catalog, asked.program, dialect=asked.dialect)
        if program is None:
            return status.BAD
        name = asked.program_name or program.name
        read_in.append((program, await past_runs(database, selection, name=name)))
        return status.DONE

    ended = read(asked.place, work)
    # Outside of the event loop, which would keep Ctrl-C waiting until all is played.
    return _tell(asked, *read_in[0]) if read_in else ended


def _tell(asked: Namespace, program: Program, found: Found) -> int:
    _warn(program, found)
    progress = PlayProgress()
    samples = min(asked.samples, SAMPLES_MAX)
    try:
        answer = whatif(
            found.runs,
            program,
            samples=samples,
            seed=asked.seed,
            others=found.others,
            on_play=progress.show,
        )
    finally:
        progress.clear()
    answer.left.extend(found.left)
    if asked.json:
        print(json.dumps({**answer.report(), "cut": found.is_cut}))
    else:
        _print_text(answer, asked, is_cut=found.is_cut)
    return status.FAILED if asked.fail_if_worse and answer.is_worse else status.DONE


def _warn(program: Program, found: Found) -> None:
    names = sorted({one.program.name for one in found.runs} - {program.name})
    if names:
        told = f"the document is {program.name}, and there are runs of {', '.join(names)}"
        print(f"anew: warning: {visible(told)}", file=sys.stderr)


def _print_text(answer: Whatif, asked: Namespace, *, is_cut: bool) -> None:
    for line in answer_lines(answer, asked.program, each=asked.runs):
        print(visible(line))
    if is_cut:
        print(f"Older runs were not looked at (--limit {asked.limit}).")


class PlayProgress:
    """How many plays are over, on a terminal only."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._at = monotonic()
        self._is_shown = False

    def show(self, played: int, planned: int) -> None:
        if self._is_terminal and monotonic() - self._at >= SHOWN_EVERY_SECONDS:
            self._at, self._is_shown = monotonic(), True
            print(f"\r{played:,} of {planned:,} plays", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._is_shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _selection(asked: Namespace) -> Selection:
    if bool(asked.run) == (asked.since is not None):
        raise ConfigError(
            "which runs? Name them (`anew runs` lists them), or give --since; not both."
        )
    if asked.run and (asked.status or asked.program_name):
        raise ConfigError(
            "--status and --program-name choose among the runs since a moment; "
            "leave them out where runs are named."
        )
    return Selection(asked.run, asked.since, asked.status or list(STATUSES), asked.limit)


def _parser() -> ArgumentParser:
    parser = parser_for(
        "whatif",
        purpose="Try another policy on past runs. Nothing is executed: the real engine plays NEW\n"
        "in virtual time, and each log says what the executions gave. What a log does not have\n"
        "comes from a stated model, with its uncertainty, or leaves the run unknown.",
        example="anew whatif --program new.yaml last\n"
        "anew whatif --program new.yaml --since 1d --status failed --runs",
    )
    parser.add_argument(
        "run", nargs="*", metavar="RUN", help="an id, its first or last digits, or `last`"
    )
    parser.add_argument(
        "--program",
        required=True,
        metavar="NEW",
        help="the changed document: a file, or NAME or NAME@VERSION of a registered one",
    )
    parser.add_argument(
        "--since", metavar="WHEN", help="all runs since 30m, 2h, 1d, or an ISO date"
    )
    parser.add_argument(
        "--program-name", metavar="NAME", help="with --since: of this program (default: NEW's name)"
    )
    parser.add_argument(
        "--status",
        action="append",
        choices=STATUSES,
        help="with --since: only runs with this status; may be repeated. "
        "The model counts the others too",
    )
    parser.add_argument(
        "--limit",
        type=count,
        default=RUNS_DEFAULT,
        metavar="N",
        help="the newest N runs since then, or in addition to RUN (default %(default)s)",
    )
    parser.add_argument(
        "--samples",
        type=count,
        default=SAMPLES_DEFAULT,
        metavar="N",
        help="how often a run is played that needs the model: 20 or more (default %(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the model's chance (default 0)"
    )
    parser.add_argument("--runs", action="store_true", help="also report each run")
    parser.add_argument(
        "--fail-if-worse",
        action="store_true",
        help="exit 1 when a run that was done would, or might, have failed, or is unknown",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_dialect_option(parser)
    add_place_options(parser)
    return parser
