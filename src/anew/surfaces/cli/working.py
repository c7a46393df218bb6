"""Have a run worked on, here or by the process that owns the database, and follow it to its end.

One process owns a SQLite file. The first command becomes it; a later one hands its wish to it and
watches. When the owner goes away before the run has ended, whoever still watches takes over.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time_ns

from msgspec import Struct

from anew.runtime.embedded import GRACE_SECONDS, SLOTS, Embedded
from anew.runtime.interviewers import AutoApprove
from anew.runtime.opening import open_engine
from anew.runtime.orders import NoAnswer, Request, ask_owner
from anew.runtime.ownership import Owned, is_owned
from anew.runtime.questions import OpenQuestion, is_still, open_questions
from anew.runtime.restarting import successor
from anew.runtime.wiring import database_file, open_database
from anew.store import Database, RunId, StoreError
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import count
from anew.surfaces.cli.asking import Here, There, interview, interviewer_for, stays
from anew.surfaces.cli.ending import Manner, print_ending
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.hints import hinted
from anew.surfaces.cli.history import PAGE_EVENTS, add_db_option, program_of
from anew.surfaces.cli.screen import Screen
from anew.surfaces.cli.watch import ENDINGS, POLL_SECONDS

# A file that is locked, with nobody on its socket, is changing hands. That takes moments.
HANDOVER_SECONDS_MAX = 20.0
HANDOVER_POLL_SECONDS = 0.05
# How many empty looks at the log until the owner is looked for, and what the run waits for.
LOOKS_PER_CHECK = 10


class Wish(Struct, frozen=True):
    """What the command wants, said twice: for this process, and for the owner of the file."""

    here: Callable[[Embedded], Awaitable[RunId]]
    there: Request


class _OwnerGone(Exception):
    """Nobody works on the run any more, and it has not ended."""


def add_manner_options(parser: ArgumentParser) -> None:
    """The options of every command that works on a run."""
    add_db_option(parser)
    parser.add_argument(
        "--slots",
        type=count,
        default=SLOTS,
        metavar="N",
        help=f"how many calls may be at work at once (default {SLOTS})",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object at the end")
    parser.add_argument("--quiet", action="store_true", help="print nothing but the last line")
    parser.add_argument(
        "--wait",
        action="store_true",
        help="while it waits for a person, stay until someone answers elsewhere (default: exit 3)",
    )
    parser.add_argument(
        "--auto-approve",
        action="store_true",
        help="answer every question with its first choice",
    )


def manner_of(asked: Namespace, *, words: str | None = None) -> Manner:
    """What those options say."""
    return Manner(
        asked.db,
        asked.slots,
        asked.json,
        asked.quiet,
        words,
        waits=asked.wait,
        approves=asked.auto_approve,
    )


def carry_out(wish: Wish, manner: Manner) -> int:
    """Do it and follow the run; the exit status of the command."""
    screen = Screen(manner)
    try:
        return asyncio.run(_carry_out(wish, manner, screen))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print(f"anew: {hinted(_parting(screen), manner.url)}", file=sys.stderr)
        return status.CANCELLED
    except StoreError as error:
        print(f"anew: {visible(str(error))}", file=sys.stderr)
        if screen.run:
            remedy = hinted(f"`anew resume {screen.run}`", manner.url)
            print(f"anew: then {remedy} goes on with the run", file=sys.stderr)
        return status.UNREACHABLE


def _parting(screen: Screen) -> str:
    if screen.run is None:
        return "stopped"
    if screen.is_guest:
        goes_on = "stopped watching; the run goes on in the terminal that works on it."
        return f"{goes_on} `anew cancel {screen.run}` ends it"
    return f"stopped; nothing is lost. `anew resume {screen.run}` goes on"


class _Stopping:
    """Ctrl-C, SIGTERM and a closed terminal: the first stops in good order, the next at once."""

    def __init__(self) -> None:
        self._engine: Embedded | None = None
        self._is_asked = False
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._asked, task)

    def _asked(self, task: asyncio.Task[int]) -> None:
        if not self._is_asked:
            self._is_asked = True
            task.cancel()
        elif self._engine is not None:
            self._engine.hurry()

    @contextmanager
    def of(self, engine: Embedded) -> Iterator[None]:
        """Stop this engine, and say so when that may take a moment."""
        self._engine = engine
        try:
            yield
        except asyncio.CancelledError:
            if engine.is_at_work:
                grace = f"calls at work have {GRACE_SECONDS:g} s to end"
                print(f"anew: stopping; {grace}. Ctrl-C stops them now", file=sys.stderr)
            raise
        finally:
            self._is_asked = True  # it stops by itself now; who asks once more is in a hurry


async def _carry_out(wish: Wish, manner: Manner, screen: Screen) -> int:
    stopping, loop = _Stopping(), asyncio.get_running_loop()
    patience = loop.time() + HANDOVER_SECONDS_MAX
    while True:
        try:
            return await _work_here(wish, manner, screen, stopping=stopping)
        except Owned:
            pass
        try:
            return await _work_there(wish, manner, screen)
        except _OwnerGone:
            assert screen.run is not None
            wish, patience = going_on(screen.run), loop.time() + HANDOVER_SECONDS_MAX
        except NoAnswer:
            if loop.time() > patience:
                raise
            await asyncio.sleep(HANDOVER_POLL_SECONDS)


def going_on(run: RunId) -> Wish:
    """Work on a run that is there already, or have the owner do it."""

    async def here(engine: Embedded) -> RunId:
        await engine.adopt([run])
        return run

    return Wish(here, Request("adopt", run=str(run)))


# --- as the owner --------------------------------------------------------------------------------


async def _work_here(wish: Wish, manner: Manner, screen: Screen, *, stopping: _Stopping) -> int:
    async with open_engine(manner.url, slots=manner.slots) as engine:
        screen.is_guest = False
        with stopping.of(engine):
            engine.listen(lambda of, events: screen.feed(events) if of == screen.run else None)
            run = await attend(engine, await wish.here(engine), manner, screen)
            exit_status = await print_ending(engine.database, run, manner)
            await _let_others_end(engine, run, manner.url)
        return exit_status


async def attend(engine: Embedded, run: RunId, manner: Manner, screen: Screen) -> RunId:
    """Follow a run until it has ended, or waits for people whom nobody here asks.

    The run it has become by then: one that is begun anew goes on as another.
    """
    interviewer, desk = interviewer_for(manner), Here(engine)
    while True:
        if isinstance(interviewer, AutoApprove):
            engine.people.interviews.give(run, interviewer)
        questions = await _shown(engine, run, manner, screen)
        if questions:
            if not await interview(interviewer, questions[0], desk):
                return run
            continue
        following = await successor(engine.database.archive, run)
        if following is None:
            return run
        await engine.adopt([following])
        run = following


async def _shown(
    engine: Embedded, run: RunId, manner: Manner, screen: Screen
) -> list[OpenQuestion]:
    """Show a run until it has ended, or waits for people: then what they are asked."""
    archive, live = engine.database.archive, await engine.ledger.live.get(run)
    questions: list[OpenQuestion] = []
    async with screen.on(run, live.program):
        async with screen.kept_up(archive):
            if stays(manner):
                await engine.wait(run)
            else:
                questions = await engine.people.until_still(run)
        await screen.catch_up(archive)
    return questions


async def _let_others_end(engine: Embedded, run: RunId, url: str | None) -> None:
    """Calls of runs that other terminals gave us go on to their outcome; then others take over."""
    if engine.is_at_work:
        print("anew: waiting for the calls of other runs. Ctrl-C hands them back", file=sys.stderr)
    # Whoever interrupts this wants to go; the run that was asked for has ended all the same.
    with suppress(asyncio.CancelledError):
        await engine.stop(None)
    if await engine.leaves_undone(besides=run):
        who = hinted("a terminal that follows one takes over, or `anew resume` does", url)
        print(f"anew: other runs are not finished; {who}", file=sys.stderr)


# --- as a guest ----------------------------------------------------------------------------------


async def _work_there(wish: Wish, manner: Manner, screen: Screen) -> int:
    path = database_file(manner.url)
    answer = await ask_owner(path, wish.there)
    screen.is_guest = True
    run = screen.run = RunId(int(answer.get("run") or wish.there.run or 0))
    async with open_database(manner.url, read_only=True) as database:
        run = await _attend_there(database, run, manner, screen)
        return await print_ending(database, run, manner)


async def _attend_there(database: Database, run: RunId, manner: Manner, screen: Screen) -> RunId:
    """As `attend`, for a run that another process works on."""
    path = database_file(manner.url)
    interviewer, desk = interviewer_for(manner), There(database, path)
    while True:
        row = await database.archive.run(run)
        program = await program_of(database.catalog, row.digest) if row else None
        async with screen.on(run, program):
            questions = await _follow(database, path, manner, screen)
        if questions:
            if not await interview(interviewer, questions[0], desk):
                return run
            continue
        following = await successor(database.archive, run)
        if following is None:
            return run
        run = following


async def _follow(
    database: Database, path: Path, manner: Manner, screen: Screen
) -> list[OpenQuestion]:
    """Watch the log until the run has ended, or waits for people: then what they are asked.

    `_OwnerGone` when nobody writes it any more.
    """
    run, looks = screen.run, 0
    assert run is not None
    while True:
        page = await database.archive.events(run, after=screen.seen, limit=PAGE_EVENTS)
        if page:
            looks = 0
            screen.feed(page)
            if type(page[-1]) in ENDINGS:
                return []
            continue
        looks += 1
        is_time = looks % LOOKS_PER_CHECK == 1
        if is_time and not stays(manner) and await is_still(database.archive, run, time_ns()):
            return await open_questions(database, run)
        if looks % LOOKS_PER_CHECK == 0 and not is_owned(path):
            raise _OwnerGone
        await asyncio.sleep(POLL_SECONDS)
