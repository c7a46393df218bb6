"""`anew watch`: follow a run from a second terminal, to its end."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence

from anew.engine.events import Event, RunCancelled, RunDone, RunFailed, to_row
from anew.engine.state import FINAL
from anew.runtime.blocked_on import blocked_on
from anew.runtime.questions import is_blocked
from anew.runtime.run_logs import PAGE_EVENTS
from anew.store import Database, RunId
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for, seconds
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.hints import hinted
from anew.surfaces.cli.history import (
    add_run_argument,
    find_run,
    program_of,
    read,
    read_record,
)
from anew.surfaces.cli.live import View, shown, view_for
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.log_watch import answered, watch_log
from anew.surfaces.cli.open_questions import asking_lines, command_for
from anew.surfaces.cli.paint import paint_for
from anew.surfaces.cli.runs import COLOURS
from anew.surfaces.cli.unattended import is_left_alone, neglect_of
from anew.views.verdict import verdict
from anew.views.wording import duration

# How many empty looks until it is asked whether anyone works on the run.
LOOKS_PER_CHECK = 20
# What `--until` may name besides the end.
WAITING = "waiting"
ENDINGS = {RunDone: status.DONE, RunFailed: status.FAILED, RunCancelled: status.CANCELLED}


def run(words: list[str]) -> int:
    parser = parser_for(
        "watch",
        purpose="Follow a run until it ends, from any terminal. The exit status is the run's, as\n"
        "for `anew run`. When you stop watching, the run continues.",
        example="anew watch last\nanew watch last --json\n"
        "anew watch last --until waiting --timeout 10m",
    )
    add_run_argument(parser)
    parser.add_argument(
        "--until",
        choices=["end", WAITING],
        default="end",
        help=f"`{WAITING}`: stop with exit status {status.WAITING} when only a person or a signal "
        "can move the run on (default %(default)s)",
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        metavar="TIME",
        help=f"stop with exit status {status.TIMED_OUT} after this time, such as 30s or 10m",
    )
    parser.add_argument("--json", action="store_true", help="print each event as a line of JSON")
    add_place_options(parser)
    asked = parser.parse_args(words)
    stops = asked.until == WAITING
    if asked.json:
        work = _print_events(asked.run, stops=stops)
    else:
        work = _show(asked.run, asked.place, stops=stops)
    try:
        return read(asked.place, _within(asked.timeout, work))
    except TimeoutError:
        told = f"stopped watching after {duration(asked.timeout)}; the run continues"
        print(f"anew: {told}", file=sys.stderr)
        return status.TIMED_OUT
    except KeyboardInterrupt:
        print("anew: stopped watching; the run continues", file=sys.stderr)
        return status.CANCELLED


def _within(
    limit: float | None, work: Callable[[Database], Awaitable[int]]
) -> Callable[[Database], Awaitable[int]]:
    """The same; TimeoutError when it takes longer than `limit` seconds."""

    async def limited(database: Database) -> int:
        async with asyncio.timeout(limit):
            return await work(database)

    return limited


def _print_events(said: str, *, stops: bool) -> Callable[[Database], Awaitable[int]]:
    async def work(database: Database) -> int:
        row = await find_run(database.archive, said)

        def tell(events: Sequence[Event]) -> None:
            for event in events:
                print(json.dumps(to_row(event)))
            sys.stdout.flush()

        async def check() -> int | None:
            is_asking = await is_blocked(database.archive, row.run, database.clock.now())
            return status.WAITING if is_asking else None

        return await follow(database, row.run, tell, idle=check if stops else None)

    return work


def _show(said: str, place: str | None, *, stops: bool) -> Callable[[Database], Awaitable[int]]:
    async def work(database: Database) -> int:
        row = await find_run(database.archive, said)
        program = await program_of(database.catalog, row.digest)
        if row.status not in FINAL and is_left_alone(place):
            await _print_left_alone(database, row.run, place)
        view = view_for(sys.stdout, database.clock, program=program)
        attention = _Attention(database, row.run, view, place=place, stops=stops)
        async with shown(view, database.clock):
            exit_status = await follow(
                database, row.run, attention.tell, idle=attention.check, notice=view.notice
            )
        await _print_ending(database, row.run, place)
        return exit_status

    return work


async def _print_left_alone(database: Database, run: RunId, place: str | None) -> None:
    is_asking = await is_blocked(database.archive, run, database.clock.now())
    still = await blocked_on(database, run) if is_asking else None
    if still is None or not still.questions:
        command = f"anew resume {run}"
    else:
        command = command_for(run, still)
    hint = hinted(f"`{command}` continues", place)
    print(f"anew: no process is working on the run; {hint}", file=sys.stderr)


async def follow(
    database: Database,
    run: RunId,
    tell: Callable[[Sequence[Event]], None],
    *,
    idle: Callable[[], Awaitable[int | None]] | None = None,
    notice: Callable[[str], None] = lambda _: None,
) -> int:
    """Tell every event of a run, old and new, until it ends; its exit status.

    `idle` is called now and then while nothing happens, and may give an exit status to stop with;
    `notice` when nobody answers.
    """
    after = looks = 0
    with watch_log(database, run) as news:
        while True:
            asked = database.archive.events(run, after=after, limit=PAGE_EVENTS)
            page = await answered(asked, notice)
            if page:
                tell(page)
                after, looks = page[-1].seq, 0
                ending = ENDINGS.get(type(page[-1]))
                if ending is not None:
                    return ending
                continue
            looks += 1
            if idle is not None and (looks - 1) % LOOKS_PER_CHECK == 0:
                stopped = await idle()
                if stopped is not None:
                    return stopped
            await news.wait()


class _Attention:
    """Feeds a view, and says so when a person is asked, or nobody seems to work on the run.

    `stops`: when a person is asked, that is the end.
    """

    def __init__(
        self, database: Database, run: RunId, view: View, *, place: str | None, stops: bool
    ) -> None:
        self._database, self._place, self._stops = database, place, stops
        self._run = run
        self._view = view
        self._last_at = 0

    def tell(self, events: Sequence[Event]) -> None:
        self._view.feed(events)
        if self._view.is_broken:  # nobody reads on, and the run does not need us
            raise BrokenPipeError
        self._view.notice("")
        self._last_at = events[-1].at

    async def check(self) -> int | None:
        """The exit status to stop with, if any."""
        database, run = self._database, self._run
        if await is_blocked(database.archive, run, database.clock.now()):
            if self._stops:
                return status.WAITING
            still = await blocked_on(database, run)
            if still is not None:
                who, does = ("person", "answers") if still.questions else ("signal", "sends it")
                remedy = hinted(f"`{command_for(run, still)}` {does}", self._place)
                self._view.notice(f"only a {who} can move it on; {remedy}")
            return None
        neglect = await neglect_of(database, run, last_at=self._last_at, place=self._place)
        if neglect:
            self._view.notice(neglect)
        return None


async def _print_ending(database: Database, run: RunId, place: str | None) -> None:
    record = await read_record(database, str(run))
    now = record.progress.last_at
    told = verdict(record.progress, record.state, now=now)
    word = paint_for(sys.stdout)(COLOURS.get(record.state.status, "bold"), "run " + str(run))
    for line in [*told.lines(now), *asking_lines(run, record.blocked_on)]:
        print(f"{word}  {visible(hinted(line, place))}")
