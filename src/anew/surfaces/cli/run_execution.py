"""Have a run worked on, here or by others, and follow it to its end.

One process owns a SQLite file. The first command becomes it; a later one hands its intent to it and
watches. When the owner goes away before the run has ended, whoever still watches takes over. On
PostgreSQL a command works itself, beside others; at a server others work.
"""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress

from msgspec import Struct

from anew.runtime.blocked_on import BlockedOn
from anew.runtime.bootstrap import open_engine
from anew.runtime.command_executor import execute
from anew.runtime.commands import AdoptRun, Command
from anew.runtime.control_socket import NoAnswer
from anew.runtime.databases import kind_of, open_database
from anew.runtime.engine import SLOTS, Engine
from anew.runtime.interviewers import AutoApprove
from anew.runtime.ownership import Owned
from anew.runtime.run_logs import successor
from anew.store import Database, RunId, RunRow, StoreError, StoreGone
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import add_tools_option, count
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.final_report import RunOptions, print_ending
from anew.surfaces.cli.hints import hinted
from anew.surfaces.cli.location import add_place_options, is_server
from anew.surfaces.cli.remote_commands import ask
from anew.surfaces.cli.screen import Screen
from anew.surfaces.cli.stopping import Stopping
from anew.surfaces.cli.terminal_interview import LocalAnswers, interview, interviewer_for, stays
from anew.surfaces.cli.unattended import OwnerGone
from anew.values import Object

# A file that is locked, with nobody on its socket, is changing hands. That takes moments.
HANDOVER_SECONDS_MAX = 20.0
HANDOVER_POLL_SECONDS = 0.05


class Intent(Struct, frozen=True):
    """What the command wants of whoever works on the run, and how this process does it itself.

    `run` is the run that is followed, where no answer says which it is.
    """

    there: Command
    here: Callable[[Engine], Awaitable[Object]] | None = None
    run: RunId | None = None

    async def start_here(self, engine: Engine) -> Object:
        return await (execute(engine, self.there) if self.here is None else self.here(engine))

    def run_of(self, answer: Object) -> RunId:
        return RunId(int(answer.get("run") or self.run or 0))


def add_run_options(parser: ArgumentParser) -> None:
    """The options of every command that works on a run."""
    add_place_options(parser)
    add_tools_option(parser)
    parser.add_argument(
        "--slots",
        type=count,
        default=SLOTS,
        metavar="N",
        help=f"how many calls may be running here at once (default {SLOTS})",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object at the end")
    parser.add_argument("--quiet", action="store_true", help="print nothing but the last line")
    parser.add_argument(
        "--wait",
        action="store_true",
        help="while it waits for a person or a signal, stay until it comes (default: exit 3)",
    )
    parser.add_argument(
        "--auto-approve",
        action="store_true",
        help="answer every question with its first choice",
    )


def run_options_of(
    asked: Namespace, *, words: str | None = None, known: Iterable[RunRow] = ()
) -> RunOptions:
    """What those options say. Of the `known` runs only what is new is told."""
    return RunOptions(
        asked.place,
        asked.slots,
        asked.json,
        asked.quiet,
        words,
        waits=asked.wait,
        approves=asked.auto_approve,
        known={row.run: row.version for row in known},
    )


def carry_out(intent: Intent, options: RunOptions) -> int:
    """Do it and follow the run; the exit status of the command."""
    screen = Screen(options)
    try:
        return asyncio.run(_carry_out(intent, options, screen))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print(f"anew: {hinted(_parting(screen, options), options.place)}", file=sys.stderr)
        return status.CANCELLED
    except StoreError as error:
        print(f"anew: {visible(str(error))}", file=sys.stderr)
        if screen.run and not isinstance(error, StoreGone):
            print(f"anew: {hinted(_remedy(screen.run, options), options.place)}", file=sys.stderr)
        return status.UNREACHABLE


def _parting(screen: Screen, options: RunOptions) -> str:
    if screen.run is None:
        return "stopped"
    if screen.is_guest:
        where = "at the server" if is_server(options.place) else "in the terminal that works on it"
        return f"stopped watching; the run continues {where}. `anew cancel {screen.run}` ends it"
    if kind_of(options.place).is_shared:
        return f"stopped; nothing is lost. Another worker resumes it, or `anew resume {screen.run}`"
    return f"stopped; nothing is lost. `anew resume {screen.run}` resumes it"


def _remedy(run: RunId, options: RunOptions) -> str:
    """What to do once the place can be reached again."""
    if is_server(options.place):
        return f"the run continues at the server; `anew watch {run}` follows it"
    return f"then `anew resume {run}` resumes the run"


async def _carry_out(intent: Intent, options: RunOptions, screen: Screen) -> int:
    stopping, loop = Stopping(), asyncio.get_running_loop()
    if is_server(options.place):
        return await _work_there(intent, options, screen)
    patience = loop.time() + HANDOVER_SECONDS_MAX
    while True:
        try:
            return await _work_here(intent, options, screen, stopping=stopping)
        except Owned:
            pass
        try:
            return await _work_there(intent, options, screen)
        except OwnerGone:
            assert screen.run is not None
            intent, patience = continuing(screen.run), loop.time() + HANDOVER_SECONDS_MAX
        except NoAnswer:
            if loop.time() > patience:
                raise
            await asyncio.sleep(HANDOVER_POLL_SECONDS)


def continuing(run: RunId) -> Intent:
    """Work on a run that is there already, or have the owner do it."""
    return Intent(AdoptRun(run=str(run)))


async def _work_there(intent: Intent, options: RunOptions, screen: Screen) -> int:
    """As a guest: the owner of the file works, or the workers of the server."""
    from anew.surfaces.cli.remote_follow import attend_there

    answer = await ask(options.place, intent.there)
    screen.is_guest = True
    _tell_notice(answer, options)
    run = screen.run = intent.run_of(answer)
    async with open_database(options.place, read_only=True) as database:
        try:
            run = await attend_there(database, run, options, screen)
        except OwnerGone:
            await _check_is_there(database, run)
            raise
        except NoAnswer as gone:
            await _check_is_there(database, run)
            # The intent has been heard: to say an answer once more could answer the next question.
            raise OwnerGone from gone
        return await print_ending(database, run, options, program=screen.program)


def _tell_notice(answer: Object, options: RunOptions) -> None:
    """That a key was given again with something else, which has no effect."""
    notice = answer.get("notice")
    if isinstance(notice, str):
        print(f"anew: {visible(hinted(notice, options.place))}", file=sys.stderr)


async def _check_is_there(database: Database, run: RunId) -> None:
    """StoreGone where the owner ended because the file is gone: there is nothing to take over."""
    await database.archive.run(run)


async def _work_here(
    intent: Intent, options: RunOptions, screen: Screen, *, stopping: Stopping
) -> int:
    async with open_engine(options.place, slots=options.slots) as engine:
        screen.is_guest = False
        with stopping.of(engine):
            engine.listen(lambda of, events: screen.feed(events) if of == screen.run else None)
            answer = await intent.start_here(engine)
            _tell_notice(answer, options)
            run = await attend(engine, intent.run_of(answer), options, screen)
            program = screen.program
            exit_status = await print_ending(engine.database, run, options, program=program)
            await _let_others_end(engine, run, options.place)
        return exit_status


async def attend(engine: Engine, run: RunId, options: RunOptions, screen: Screen) -> RunId:
    """As `attend_there`, for a run that is worked on here."""
    interviewer, channel = interviewer_for(options), LocalAnswers(engine)
    while True:
        if isinstance(interviewer, AutoApprove):
            engine.people.interviews.give(run, interviewer)
        still = await _shown(engine, run, options, screen)
        if still is not None:
            # Signals come from elsewhere: nobody here can be asked for one.
            if not still.questions or not await interview(interviewer, still.questions[0], channel):
                return run
            continue
        following = await successor(engine.database.archive, run)
        if following is None:
            return run
        await engine.adopt([following])
        run = following


async def _shown(
    engine: Engine, run: RunId, options: RunOptions, screen: Screen
) -> BlockedOn | None:
    """Show a run until it has ended, or waits for people or signals: then for what."""
    database, live = engine.database, await engine.ledger.live.get(run)
    still: BlockedOn | None = None
    async with screen.on(run, live.program, clock=database.clock):
        async with screen.kept_up(database):
            if stays(options):
                await engine.wait(run)
            else:
                still = await engine.people.until_blocked(run)
        await screen.catch_up(database.archive)
    return still


async def _let_others_end(engine: Engine, run: RunId, place: str | None) -> None:
    """Calls of runs that other terminals gave us go on to their outcome; then others take over."""
    if engine.is_at_work:
        print("anew: waiting for the calls of other runs. Ctrl-C hands them back", file=sys.stderr)
    # Whoever interrupts this wants to go; the run that was asked for has ended all the same.
    with suppress(asyncio.CancelledError):
        await engine.stop(None)
    if await engine.leaves_undone(besides=run):
        who = hinted("a terminal that follows one continues it, or `anew resume` does", place)
        print(f"anew: other runs are not finished; {who}", file=sys.stderr)
