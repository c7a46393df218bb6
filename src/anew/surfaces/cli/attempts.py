"""`anew attempts`: every execution of a run's tasks, how it ended and what was decided about it."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence

import msgspec

from anew.engine.statuses import AttemptStatus
from anew.errors import ConfigError
from anew.runtime.run_logs import PAGE_EVENTS
from anew.store import Archive, Database, RunId
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import count, parser_for
from anew.surfaces.cli.columns import columns_of, fit, wide
from anew.surfaces.cli.history import add_run_argument, find_run, program_of, read
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.moments import column_clock
from anew.surfaces.cli.paint import Paint, paint_for
from anew.views.attempt_rows import Attempt, AttemptShown
from anew.views.explain.explaining import unknown_step
from anew.views.picture.tracing import Trace
from anew.views.wording import duration, error_text, exact_seconds, joined, skip_text

PLACE_COLUMNS_MAX = 32
COLOURS = {
    AttemptStatus.OK: "green",
    AttemptStatus.ERROR: "red",
    AttemptStatus.LOST: "yellow",
    AttemptStatus.CANCELLED: "yellow",
}
# Seq, attempt, duration and status, with the spaces between them and the moment.
_COLUMNS = 6 + 2 + 7 + 2 + 2 + 10 + 2 + 9 + 2


def run(words: list[str]) -> int:
    asked = _parser().parse_args(words)

    async def work(database: Database) -> int:
        row = await find_run(database.archive, asked.run)
        trace = Trace(await program_of(database.catalog, row.digest))
        await _follow(trace, database.archive, row.run)
        problem = None if asked.step is None else unknown_step(trace.progress, asked.step)
        if problem is not None:
            raise ConfigError(problem)
        found = [one for one in trace.book.attempts if _is_wanted(one, asked)]
        rows = [trace.book.row(one) for one in found[: asked.limit]]
        if asked.json:
            for shown in rows:
                print(msgspec.json.encode(shown).decode())
        else:
            _print_table(found, rows, now=database.clock.now())
        return status.DONE

    return read(asked.place, work)


def _parser() -> ArgumentParser:
    parser = parser_for(
        "attempts",
        purpose="List every attempt of a run: how long it took, how it ended, which rule decided\n"
        "about it, and how the delay before the next one was computed.",
        example="anew attempts last\nanew attempts 7351 --step fetch --status error\n"
        "anew attempts last --json",
    )
    add_run_argument(parser)
    parser.add_argument("--step", metavar="STEP", help="only those of this step")
    parser.add_argument(
        "--status",
        action="append",
        default=[],
        choices=[one.value for one in AttemptStatus],
        help="only attempts with this result; may be repeated",
    )
    parser.add_argument("--limit", type=count, metavar="N", help="show at most the first N")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    add_place_options(parser)
    return parser


async def _follow(trace: Trace, archive: Archive, run: RunId) -> None:
    """A page at a time, so that a long log is never in memory as a whole."""
    while True:
        page = await archive.events(run, after=trace.version, limit=PAGE_EVENTS)
        trace.feed(page)
        if len(page) < PAGE_EVENTS:
            return


def _is_wanted(attempt: Attempt, asked: Namespace) -> bool:
    is_here = asked.step in (None, attempt.step)
    return is_here and (not asked.status or attempt.status in asked.status)


def _print_table(found: Sequence[Attempt], rows: Sequence[AttemptShown], *, now: int) -> None:
    if not rows:
        print("no attempt fits", file=sys.stderr)
        return
    paint, columns = paint_for(sys.stdout), columns_of(sys.stdout)
    place = min(PLACE_COLUMNS_MAX, max(wide(place_of(row)) for row in rows))
    begun = [attempt.started_at for attempt, _ in zip(found, rows, strict=False)]
    clock = column_clock(begun, now)
    for at, row in zip(begun, rows, strict=True):
        for line in _lines(row, clock(at), place=place, columns=columns, paint=paint):
            print(line)
    if len(rows) < len(found):
        print(f"and {len(found) - len(rows):,} more", file=sys.stderr)


def _lines(
    row: AttemptShown, moment: str, *, place: int, columns: int, paint: Paint
) -> Iterator[str]:
    """What happened on one line; what was decided on the next, where that is worth a line."""
    colour, word = COLOURS.get(row.status), f"{row.status:<9}"
    took = "" if row.seconds is None else duration(row.seconds)
    start = (
        f"{row.seq:>6}  {fit(place_of(row), place)}  {_number(row):>7}  "
        f"{moment}  {took:>10}  {paint(colour, word) if colour else word}"
    )
    room = max(1, columns - _COLUMNS - len(moment) - place)
    yield f"{start}  {fit(_error(row), room, pad=False)}".rstrip()
    if told := decision_of(row):
        yield fit(f"{'':>8}{told}", columns, pad=False)


def place_of(row: AttemptShown) -> str:
    """`fetch`, `fetch[3].page`, `fetch.page (visit 2)`."""
    step = row.step if row.iteration is None else f"{row.step}[{row.iteration}]"
    task = "" if row.task == row.step else f".{row.task}"
    return f"{step}{task}{f' (visit {row.visit})' if row.visit > 1 else ''}"


def _number(row: AttemptShown) -> str:
    return f"{row.attempt}" if row.attempts_max is None else f"{row.attempt}/{row.attempts_max}"


def _error(row: AttemptShown) -> str:
    code = "" if row.http_status is None else f"HTTP {row.http_status}"
    return joined(code, error_text(row.error) if row.error else "")


def decision_of(row: AttemptShown) -> str:
    """`rule 2, line 31: retry in 2.3 s (…); skipped by ann`; nothing for what simply goes on."""
    skip = row.skipped and skip_text(row.skipped.by, row.skipped.early_seconds)
    return "; ".join(part for part in (_decision(row), skip) if part)


def _decision(row: AttemptShown) -> str:
    if row.directive is None or (row.rule is None and row.directive == "continue"):
        return ""
    rule = row.unmet or "no rule"
    if row.rule is not None:
        rule = row.rule.name or f"rule {row.rule.number}"
    line = f", line {row.rule.line}" if row.rule is not None and row.rule.line else ""
    to = f" to {row.to}" if row.to else ""
    wait = f" in {exact_seconds(row.delay.delay_seconds)}" if row.delay else ""
    spent = f"; no further attempt: {row.exhausted}" if row.exhausted else ""
    made = f" ({row.delay.text})" if row.delay and row.directive == "retry" else ""
    return f"{rule}{line}: {row.directive}{to}{wait}{made}{spent}"
