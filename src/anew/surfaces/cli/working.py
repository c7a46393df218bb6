"""Have a run worked on, here or by the process that owns the database, and follow it to its end.

One process owns a SQLite file. The first command becomes it; a later one hands its wish to it and
watches. When the owner goes away before the run has ended, whoever still watches takes over.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from argparse import ArgumentParser
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from anew.clock import WallClock
from anew.engine.events import Event
from anew.program.program import Program
from anew.runtime.embedded import GRACE_SECONDS, SLOTS, Embedded
from anew.runtime.opening import open_engine
from anew.runtime.orders import NoAnswer, Request, ask_owner
from anew.runtime.ownership import Owned, is_owned
from anew.runtime.wiring import database_file, open_database
from anew.store import Archive, Database, RunId, StoreError
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import count
from anew.surfaces.cli.ending import Manner, print_ending
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.history import PAGE_EVENTS, add_db_option, program_of
from anew.surfaces.cli.live import View, shown, view_for
from anew.surfaces.cli.watch import ENDINGS, POLL_SECONDS

# A file that is locked, with nobody on its socket, is changing hands. That takes moments.
HANDOVER_SECONDS_MAX = 20.0
HANDOVER_POLL_SECONDS = 0.05
# How many empty looks at the log until the owner is looked for.
LOOKS_PER_OWNER_CHECK = 10


class Wish(Struct, frozen=True):
    """What the command wants, said twice: for this process, and for the owner of the file."""

    here: Callable[[Embedded], Awaitable[RunId]]
    there: Request


class _OwnerGone(Exception):
    """Nobody works on the run any more, and it has not ended."""


class _Screen:
    """What the user has seen of the run so far, whoever works on it."""

    def __init__(self, manner: Manner) -> None:
        self._is_silent = manner.is_quiet or manner.is_json
        self._view: View | None = None
        self.run: RunId | None = None
        self.seen = 0
        self._is_behind = asyncio.Event()
        self.is_guest = False

    @asynccontextmanager
    async def on(self, run: RunId, program: Program | None) -> AsyncIterator[None]:
        """Show the run while this lasts."""
        self.run = run
        if self._is_silent:
            yield
            return
        clock = WallClock()
        self._view = self._view or view_for(sys.stdout, clock, program=program)
        async with shown(self._view, clock):
            yield

    def feed(self, events: Sequence[Event]) -> None:
        """Show what is new. What comes too early is in the log, and `keep_up` reads it there."""
        fresh = [event for event in events if event.seq > self.seen]
        if not fresh:
            return
        if fresh[0].seq != self.seen + 1:
            self._is_behind.set()
            return
        if self._view is not None:
            self._view.feed(fresh)
        self.seen = fresh[-1].seq

    @asynccontextmanager
    async def kept_up(self, archive: Archive) -> AsyncIterator[None]:
        """While this lasts, whatever was missed is read from the log."""

        async def keep_up() -> None:
            while True:
                self._is_behind.clear()
                await self.catch_up(archive)
                await self._is_behind.wait()

        keeping = asyncio.create_task(keep_up())
        try:
            yield
        finally:
            keeping.cancel()

    async def catch_up(self, archive: Archive) -> None:
        """Show what happened before someone told us about it."""
        assert self.run is not None
        while page := await archive.events(self.run, after=self.seen, limit=PAGE_EVENTS):
            self.feed(page)


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


def carry_out(wish: Wish, manner: Manner) -> int:
    """Do it and follow the run; the exit status of the command."""
    screen = _Screen(manner)
    try:
        return asyncio.run(_carry_out(wish, manner, screen))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print(f"anew: {_parting(screen)}", file=sys.stderr)
        return status.CANCELLED
    except StoreError as error:
        print(f"anew: {visible(str(error))}", file=sys.stderr)
        if screen.run:
            print(f"anew: then `anew resume {screen.run}` goes on with the run", file=sys.stderr)
        return status.UNREACHABLE


def _parting(screen: _Screen) -> str:
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


async def _carry_out(wish: Wish, manner: Manner, screen: _Screen) -> int:
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


async def _work_here(wish: Wish, manner: Manner, screen: _Screen, *, stopping: _Stopping) -> int:
    async with open_engine(manner.url, slots=manner.slots) as engine:
        screen.is_guest = False
        with stopping.of(engine):
            run = await wish.here(engine)
            live = await engine.ledger.live.get(run)
            async with screen.on(run, live.program):
                engine.listen(lambda of, events: screen.feed(events) if of == run else None)
                async with screen.kept_up(engine.database.archive):
                    await engine.wait(run)
                await screen.catch_up(engine.database.archive)
            exit_status = await print_ending(engine.database, run, manner)
            await _let_others_end(engine)
        return exit_status


async def _let_others_end(engine: Embedded) -> None:
    """Calls of runs that other terminals gave us go on to their outcome; then others take over."""
    if engine.is_at_work:
        print("anew: waiting for the calls of other runs. Ctrl-C hands them back", file=sys.stderr)
    # Whoever interrupts this wants to go; the run that was asked for has ended all the same.
    with suppress(asyncio.CancelledError):
        await engine.stop(None)
    if await engine.leaves_undone():
        who = "a terminal that follows one takes over, or `anew resume` does"
        print(f"anew: other runs are not finished; {who}", file=sys.stderr)


# --- as a guest ----------------------------------------------------------------------------------


async def _work_there(wish: Wish, manner: Manner, screen: _Screen) -> int:
    path = database_file(manner.url)
    answer = await ask_owner(path, wish.there)
    screen.is_guest = True
    run = screen.run = RunId(int(answer.get("run") or wish.there.run or 0))
    async with open_database(manner.url, read_only=True) as database:
        row = await database.archive.run(run)
        program = await program_of(database.catalog, row.digest) if row else None
        async with screen.on(run, program):
            await _follow(database, run, path, screen)
        return await print_ending(database, run, manner)


async def _follow(database: Database, run: RunId, path: Path, screen: _Screen) -> None:
    """Watch the log until the run has ended; `_OwnerGone` when nobody writes it any more."""
    looks = 0
    while True:
        page = await database.archive.events(run, after=screen.seen, limit=PAGE_EVENTS)
        if page:
            looks = 0
            screen.feed(page)
            if type(page[-1]) in ENDINGS:
                return
            continue
        looks += 1
        if looks % LOOKS_PER_OWNER_CHECK == 0 and not is_owned(path):
            raise _OwnerGone
        await asyncio.sleep(POLL_SECONDS)
