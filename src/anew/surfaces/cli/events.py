"""`anew events`: the log of a run, row by row."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable

from anew.engine.events import Event
from anew.engine.moments import moment_text
from anew.runtime.damage import readable_page
from anew.runtime.run_logs import PAGE_EVENTS
from anew.store import Database, RunRow
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import count, parser_for
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.history import (
    add_run_argument,
    find_run,
    program_of,
    read,
)
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.rows import row_lines
from anew.values import Object
from anew.views.actions import ActionWords
from anew.views.nodes import NodeWords
from anew.views.words import WORDS, event_rows

# Stores count events in 64 bits.
SEQUENCE_MAX = 2**63 - 1


def run(words: list[str]) -> int:
    parser = parser_for(
        "events",
        purpose="Print the log of a run.",
        example="anew events last\nanew events 7351 --json --after 120\n"
        "anew events last --words actions\nanew events last --words nodes",
    )
    add_run_argument(parser)
    parser.add_argument("--words", choices=WORDS, default="events", help="default %(default)s")
    parser.add_argument(
        "--after", type=_sequence, default=0, metavar="SEQ", help="only events after this one"
    )
    parser.add_argument("--limit", type=count, metavar="N", help="at most this many events")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    add_place_options(parser)
    asked = parser.parse_args(words)

    async def work(database: Database) -> int:
        row = await find_run(database.archive, asked.run)
        after, left = asked.after, asked.limit
        rows_of = await _rows_of(database, row, asked.words, after=after)
        # A page at a time, so that a long log needs no more memory than a short one.
        while left is None or left > 0:
            limit = PAGE_EVENTS if left is None else min(left, PAGE_EVENTS)
            found = await readable_page(database.archive, row.run, after=after, limit=limit)
            page = found.events
            _print_rows(rows_of(page), moment_text(row.created_at), is_json=asked.json)
            if found.damage is not None:
                sys.stdout.flush()
                raise found.damage
            if len(page) < limit:
                break
            after, left = page[-1].seq, None if left is None else left - len(page)
        return status.DONE

    return read(asked.place, work)


async def _rows_of(
    database: Database, row: RunRow, words: str, *, after: int
) -> Callable[[list[Event]], list[Object]]:
    """What turns events into rows. Other words than the log's lean on the events before `after`."""
    if words == "events":
        return event_rows
    program = await program_of(database.catalog, row.digest) if words == "actions" else None
    told: NodeWords | ActionWords = NodeWords() if words == "nodes" else ActionWords(program)
    seen = 0
    while seen < after:
        limit = min(after - seen, PAGE_EVENTS)
        page = await database.archive.events(row.run, after=seen, limit=limit)
        told.rows(page)
        if len(page) < limit:
            break
        seen = page[-1].seq
    return told.rows


def _print_rows(rows: list[dict[str, object]], start: str, *, is_json: bool) -> None:
    if is_json:
        for row in rows:
            print(json.dumps(row))
        return
    for line in row_lines(rows, start):
        print(visible(line))


def _sequence(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError("must be a whole number of at least 0")
    return min(int(text), SEQUENCE_MAX)
