"""`anew explain`: why a run did what it did, and what it waits for, in sentences."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator

from anew.engine.moments import NANOSECONDS
from anew.errors import ConfigError
from anew.runtime.records import Record
from anew.store import Database
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.columns import columns_of
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.hints import hinted
from anew.surfaces.cli.history import add_run_argument, read, read_record
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.moments import local_clock
from anew.surfaces.cli.paint import Paint, paint_for
from anew.views.explain.explaining import explanation, shortened, unknown_step
from anew.views.explain.paragraph import About, Paragraph, paragraph_row
from anew.views.wording import duration

INDENT = "  "


def run(words: list[str]) -> int:
    parser = parser_for(
        "explain",
        purpose="Explain why a run did what it did: why each attempt was made, how its delay was\n"
        "computed, which rule and which arc decided and where they are, and what the run waits\n"
        "for now. With STEP, only that step.",
        example="anew explain last\nanew explain 7351 fetch\nanew explain last --json",
    )
    add_run_argument(parser)
    parser.add_argument("step", metavar="STEP", nargs="?", help="only what is about this step")
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object with every paragraph"
    )
    add_place_options(parser)
    asked = parser.parse_args(words)

    async def work(database: Database) -> int:
        record = await read_record(database, asked.run)
        now = database.clock.now()
        paragraphs = _paragraphs(record, asked.step, now)
        if asked.json:
            rows = [paragraph_row(told) for told in paragraphs]
            print(json.dumps({"run": str(record.row.run), "paragraphs": rows}))
            return status.DONE
        columns, paint = columns_of(sys.stdout), paint_for(sys.stdout)
        for told in shortened(paragraphs, step=asked.step):
            for line in paragraph_lines(told, now, columns=columns, paint=paint):
                print(hinted(line, asked.place))
        return status.DONE

    return read(asked.place, work)


def _paragraphs(record: Record, step: str | None, now: int) -> list[Paragraph]:
    problem = None if step is None else unknown_step(record.progress, step)
    if problem is not None:
        raise ConfigError(problem)
    return explanation(
        record.log,
        record.progress.program,
        step=step,
        now=now,
        jobs=record.jobs,
        children=record.children,
        lost=record.lost,
    )


def paragraph_lines(told: Paragraph, now: int, *, columns: int, paint: Paint) -> Iterator[str]:
    """A head with its time, then the sentences as a text of the terminal's width."""
    relation = f" ({told.relation})" if told.relation else ""
    yield f"{paint('bold', visible(told.head))} at {local_clock(told.at, now)}{relation}"
    for text in _texts(told, now):
        yield from textwrap.wrap(
            visible(text),
            columns,
            initial_indent=INDENT,
            subsequent_indent=INDENT,
            break_on_hyphens=False,
        )


def _texts(told: Paragraph, now: int) -> list[str]:
    """The sentences as one text; what is waited for has a line for each, to be acted on."""
    if told.about is not About.WAIT:
        return [" ".join(told.sentences) + _due(told, now)]
    first, *details = told.sentences
    return [first + _due(told, now), *details]


def _due(told: Paragraph, now: int) -> str:
    """When what is waited for is due, on the reader's own clock."""
    if told.until is None or told.until <= now:
        return ""
    if told.about is About.WAIT:  # it has said how long that is
        return f" That is at {local_clock(told.until, now)}."
    left = duration((told.until - now) / NANOSECONDS)
    return f" It waits until {local_clock(told.until, now)} (in {left})."
