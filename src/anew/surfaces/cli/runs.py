"""`anew runs`: the runs of a database, newest first."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from anew.engine.moments import NANOSECONDS
from anew.engine.state import RunStatus
from anew.engine.statuses import DetailedStatus
from anew.runtime.families import waiting_parents
from anew.store import Database, RunFilter, RunId, RunRow
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import count, parser_for
from anew.surfaces.cli.columns import columns_of, fit, wide
from anew.surfaces.cli.history import read
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.moments import local_moment
from anew.surfaces.cli.paint import Paint, paint_for
from anew.surfaces.cli.run_filters import add_filter_options, filter_said
from anew.surfaces.cli.unattended import is_left_alone
from anew.views.interruptions import INTERRUPTED
from anew.views.wording import duration, error_text

LIMIT_DEFAULT = 20
# A list this long is held in memory once.
LIMIT_MAX = 1_000_000
PROGRAM_COLUMNS_MAX = 28
_GAP = "  "
# The least room in which an error says something.
ERROR_COLUMNS_MIN = 10
# By status, and by the states that no status has the word for.
COLOURS: Mapping[str, str] = {
    RunStatus.DONE: "green",
    RunStatus.FAILED: "red",
    RunStatus.RUNNING: "blue",
    RunStatus.PAUSED: "yellow",
    RunStatus.WAITING: "yellow",
    RunStatus.CANCELLED: "yellow",
    DetailedStatus.DEAD: "red",
    DetailedStatus.RETRYING: "yellow",
    DetailedStatus.PERSON: "yellow",
    DetailedStatus.SIGNAL: "yellow",
    DetailedStatus.PARKED: "yellow",
    INTERRUPTED: "red",
}
# What goes on without anybody else, as long as a process works on it.
_BY_ITSELF = frozenset({RunStatus.QUEUED, RunStatus.RUNNING})
# How wide, and what it shows of a run in that width.
Cell: TypeAlias = tuple[int, Callable[[RunRow, int], str]]


def run(words: list[str]) -> int:
    asked = _parser().parse_args(words)
    limit = min(asked.limit, LIMIT_MAX)

    async def work(database: Database) -> int:
        wanted = replace(await filter_said(asked, database), limit=limit)
        rows = await database.archive.runs(wanted)
        waiting = await waiting_parents(database.archive)
        stopped = _stopped(rows, asked.place) - waiting.keys()
        if asked.json:
            from anew.runtime.json_rows import listed_rows

            for row, shown in zip(rows, await listed_rows(database, rows), strict=True):
                more = {"interrupted": True} if row.run in stopped else {}
                print(json.dumps(shown | more))
        else:
            is_filtered = wanted != RunFilter(limit=limit)
            now = database.clock.now()
            _print_table(rows, waiting, now=now, is_filtered=is_filtered, stopped=stopped)
            if len(rows) == limit:
                _print_rest(sum((await database.statistics.counts(wanted)).values()) - limit)
        return status.DONE

    return read(asked.place, work)


def _parser() -> ArgumentParser:
    parser = parser_for(
        "runs",
        purpose="List runs, newest first.",
        example="anew runs\nanew runs --status failed --since 2h\nanew runs --retrying --json\n"
        "anew runs --state person --text order-5",
    )
    add_filter_options(parser)
    parser.add_argument(
        "--limit", type=count, default=LIMIT_DEFAULT, metavar="N", help="default %(default)s"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    add_place_options(parser)
    return parser


def _stopped(rows: Iterable[RunRow], place: str | None) -> set[RunId]:
    """The runs that would continue by themselves, if any process worked on the database file."""
    if not is_left_alone(place):
        return set()
    return {row.run for row in rows if row.status in _BY_ITSELF}


def _print_table(
    rows: list[RunRow],
    waiting: Mapping[RunId, RunId],
    *,
    now: int,
    is_filtered: bool,
    stopped: Container[RunId],
) -> None:
    if not rows:
        remedy = "no run fits" if is_filtered else "no runs yet; `anew run FILE` starts one"
        print(remedy, file=sys.stderr)
        return
    paint, columns = paint_for(sys.stdout), columns_of(sys.stdout)
    program = min(PROGRAM_COLUMNS_MAX, max(wide(row.program) for row in rows))
    cells = _cells(rows, program, now=now, paint=paint, stopped=stopped)
    room = columns - sum(width + len(_GAP) for width, _ in cells)
    for row in rows:
        line = _GAP.join(cell(row, width) for width, cell in cells)
        child = waiting.get(row.run)
        about = f"damaged: {row.damage}" if row.damage else None
        if row.error is not None:
            about = about or error_text(row.error)
        if about is not None and room >= ERROR_COLUMNS_MIN:
            line += _GAP + fit(about, room, pad=False)
        print(line)
        if child is not None and row.status is RunStatus.RUNNING:
            print(f"  waiting for a person or a signal in its child run {child}")


def _print_rest(count: int) -> None:
    """That there are more than are shown: a list that ends looks whole."""
    if count > 0:
        sys.stdout.flush()
        print(f"and {count:,} more; `--limit N` shows more of them", file=sys.stderr)


def _cells(
    rows: Sequence[RunRow], program: int, *, now: int, paint: Paint, stopped: Container[RunId]
) -> list[Cell]:
    """What a line shows of a run, from left to right; the name of the program has its own width."""

    def word_of(row: RunRow) -> str:
        return INTERRUPTED if row.run in stopped else row.state.value

    def state(row: RunRow, width: int) -> str:
        word = word_of(row)
        shown = f"{word:<{width}}"
        return paint(COLOURS[word], shown) if word in COLOURS else shown

    def took(row: RunRow, width: int) -> str:
        return f"{duration(((row.ended_at or now) - row.created_at) / NANOSECONDS):>{width}}"

    return [
        (19, lambda row, width: f"{row.run:<{width}}"),
        (max(9, *(len(word_of(row)) for row in rows)), state),
        (program, lambda row, width: fit(row.program, width)),
        (19, lambda row, width: f"{local_moment(row.created_at):<{width}}"),
        (10, took),
    ]
