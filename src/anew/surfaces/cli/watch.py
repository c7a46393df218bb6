"""`anew watch`: follow a run from a second terminal, to its end."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Sequence

from anew.clock import WallClock
from anew.engine.events import Event, RunCancelled, RunDone, RunFailed, to_row
from anew.engine.state import FINAL
from anew.runtime.questions import is_still, open_questions
from anew.store import Archive, Database, RunId
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.hints import hinted
from anew.surfaces.cli.history import (
    PAGE_EVENTS,
    add_db_option,
    add_run_argument,
    find_run,
    program_of,
    read,
    read_record,
)
from anew.surfaces.cli.live import View, shown, view_for
from anew.surfaces.cli.open_questions import command_for
from anew.surfaces.cli.paint import paint_for
from anew.surfaces.cli.runs import COLOURS
from anew.views.verdict import unattended, verdict

# Ten looks a second, each one row of an index while nothing happens.
POLL_SECONDS = 0.1
# How many empty looks until it is asked whether anyone works on the run.
LOOKS_PER_CHECK = 20
ENDINGS = {RunDone: status.DONE, RunFailed: status.FAILED, RunCancelled: status.CANCELLED}


def run(words: list[str]) -> int:
    parser = parser_for(
        "watch",
        purpose="Follow a run until it ends, from any terminal. The exit status is the run's, as\n"
        "for `anew run`. Stopping to watch does not stop the run.",
        example="anew watch last\nanew watch last --json",
    )
    add_run_argument(parser)
    parser.add_argument("--json", action="store_true", help="print each event as a line of JSON")
    add_db_option(parser)
    asked = parser.parse_args(words)
    work = _print_events(asked.run) if asked.json else _show(asked.run, asked.db)
    try:
        return read(asked.db, work)
    except KeyboardInterrupt:
        print("anew: stopped watching; the run goes on", file=sys.stderr)
        return status.CANCELLED


def _print_events(said: str) -> Callable[[Database], Awaitable[int]]:
    async def work(database: Database) -> int:
        row = await find_run(database.archive, said)

        def tell(events: Sequence[Event]) -> None:
            for event in events:
                print(json.dumps(to_row(event)))
            sys.stdout.flush()

        return await follow(database.archive, row.run, tell)

    return work


def _show(said: str, url: str | None) -> Callable[[Database], Awaitable[int]]:
    from anew.runtime.ownership import is_owned
    from anew.runtime.wiring import database_file

    async def work(database: Database) -> int:
        row = await find_run(database.archive, said)
        clock = WallClock()
        program = await program_of(database.catalog, row.digest)
        if row.status not in FINAL and not is_owned(database_file(url)):
            is_asking = await is_still(database.archive, row.run, time.time_ns())
            questions = await open_questions(database, row.run) if is_asking else []
            command = command_for(row.run, questions) if questions else f"anew resume {row.run}"
            hint = hinted(f"`{command}` goes on", url)
            print(f"anew: no process works on the run now; {hint}", file=sys.stderr)
        view = view_for(sys.stdout, clock, program=program)
        attention = _Attention(database, row.run, view, url=url)
        async with shown(view, clock):
            exit_status = await follow(
                database.archive, row.run, attention.tell, idle=attention.check
            )
        await _print_ending(database, row.run, url)
        return exit_status

    return work


async def follow(
    archive: Archive,
    run: RunId,
    tell: Callable[[Sequence[Event]], None],
    *,
    idle: Callable[[], Awaitable[None]] | None = None,
) -> int:
    """Tell every event of a run, old and new, until it ends; its exit status.

    `idle` is called now and then while nothing happens.
    """
    after = looks = 0
    while True:
        page = await archive.events(run, after=after, limit=PAGE_EVENTS)
        if page:
            tell(page)
            after, looks = page[-1].seq, 0
            ending = ENDINGS.get(type(page[-1]))
            if ending is not None:
                return ending
            continue
        looks += 1
        if idle is not None and looks % LOOKS_PER_CHECK == 0:
            await idle()
        await asyncio.sleep(POLL_SECONDS)


class _Attention:
    """Feeds a view, and says so when a person is asked, or nobody seems to work on the run."""

    def __init__(self, database: Database, run: RunId, view: View, *, url: str | None) -> None:
        self._database, self._url = database, url
        self._archive = database.archive
        self._run = run
        self._view = view
        self._last_at = 0

    def tell(self, events: Sequence[Event]) -> None:
        self._view.feed(events)
        if self._view.is_broken:  # nobody reads on, and the run does not need us
            raise BrokenPipeError
        self._view.notice("")
        self._last_at = events[-1].at

    async def check(self) -> None:
        if await is_still(self._archive, self._run, time.time_ns()):
            questions = await open_questions(self._database, self._run)
            remedy = hinted(f"`{command_for(self._run, questions)}` answers", self._url)
            self._view.notice(f"only a person can move it on; {remedy}")
            return
        jobs = await self._archive.jobs(self._run)
        if unattended(jobs, self._last_at, time.time_ns()) is not None:
            command = hinted(f"`anew resume {self._run}`", self._url)
            remedy = f"if nothing works on this run, {command} goes on with it"
            self._view.notice(f"no worker takes it; {remedy}")


async def _print_ending(database: Database, run: RunId, url: str | None) -> None:
    record = await read_record(database, str(run))
    now = record.progress.last_at
    told = verdict(record.progress, record.state, now=now)
    word = paint_for(sys.stdout)(COLOURS.get(record.state.status, "bold"), "run " + str(run))
    for line in told.lines(now):
        print(f"{word}  {visible(hinted(line, url))}")
