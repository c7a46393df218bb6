"""Follow a run that others work on, the owner of a database file or the workers of a server.

What it asks of people is asked here, and the answers are handed in there.
"""

from __future__ import annotations

from anew.runtime.blocked_on import BlockedOn, blocked_on
from anew.runtime.questions import is_blocked
from anew.runtime.run_logs import PAGE_EVENTS, successor
from anew.store import Database, RunId
from anew.surfaces.cli.final_report import RunOptions
from anew.surfaces.cli.history import program_of
from anew.surfaces.cli.log_watch import answered, watch_log
from anew.surfaces.cli.screen import Screen
from anew.surfaces.cli.terminal_interview import RemoteAnswers, interview, interviewer_for, stays
from anew.surfaces.cli.unattended import OwnerGone, is_left_alone, neglect_of
from anew.surfaces.cli.watch import ENDINGS

# How many empty looks at the log until the owner is looked for, and what the run waits for.
LOOKS_PER_CHECK = 10


async def attend_there(
    database: Database, run: RunId, options: RunOptions, screen: Screen
) -> RunId:
    """Follow a run until it has ended, or waits for people whom nobody here asks.

    The run it has become by then: one that is begun anew goes on as another.
    """
    interviewer, channel = interviewer_for(options), RemoteAnswers(database, options.place)
    while True:
        row = await database.archive.run(run)
        program = await program_of(database.catalog, row.digest) if row else None
        async with screen.on(run, program, clock=database.clock):
            still = await _follow(database, run, options, screen)
        if still is not None:
            if not still.questions or not await interview(interviewer, still.questions[0], channel):
                return run
            continue
        following = await successor(database.archive, run)
        if following is None:
            return run
        run = following


async def _follow(
    database: Database, run: RunId, options: RunOptions, screen: Screen
) -> BlockedOn | None:
    """Watch the log until the run has ended, or waits for people or signals: then for what.

    `OwnerGone` when nobody writes it any more.
    """
    archive, looks = database.archive, 0
    with watch_log(database, run) as news:
        while True:
            asked = archive.events(run, after=screen.seen, limit=PAGE_EVENTS)
            page = await answered(asked, screen.notice)
            if page:
                looks = 0
                screen.feed(page)
                if type(page[-1]) in ENDINGS:
                    return None
                continue
            looks += 1
            is_time = looks % LOOKS_PER_CHECK == 1 and not stays(options)
            if is_time and await is_blocked(archive, run, database.clock.now()):
                still = await blocked_on(database, run)
                if still is not None:
                    return still
            if looks % LOOKS_PER_CHECK == 0:
                await _check(database, run, options, screen)
            await news.wait()


async def _check(database: Database, run: RunId, options: RunOptions, screen: Screen) -> None:
    if is_left_alone(options.place):
        raise OwnerGone
    if database.is_shared:
        screen.notice(await neglect_of(database, run, last_at=screen.last_at, place=options.place))
