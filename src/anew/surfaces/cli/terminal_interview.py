"""Ask the person at this terminal what a run wants to know, and hand the answer to who works on it.

A question may be answered from another terminal, or its time may be over, while it is on the
screen: then it is taken back.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Protocol

from anew.errors import ConfigError
from anew.runtime.commands import AnswerQuestion
from anew.runtime.engine import Engine
from anew.runtime.interviewers import AutoApprove, Console, Interviewer
from anew.runtime.questions import OpenQuestion, open_questions
from anew.store import Database
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.final_report import RunOptions
from anew.surfaces.cli.remote_commands import ask

# How often someone who does not own the database looks whether a question is still open.
LOOK_SECONDS = 0.5


class AnswerChannel(Protocol):
    """Where answers are handed in."""

    async def hand_in(self, question: OpenQuestion, said: str, by: str | None) -> None: ...

    async def until_closed(self, question: OpenQuestion) -> None: ...


class LocalAnswers:
    """The engine of this process."""

    def __init__(self, engine: Engine) -> None:
        self._people = engine.people

    async def hand_in(self, question: OpenQuestion, said: str, by: str | None) -> None:
        step, asked = question.key.step, question.asked
        await self._people.answer(question.run, said, step=step, by=by, asked=asked)

    async def until_closed(self, question: OpenQuestion) -> None:
        await self._people.until_closed(question)


class RemoteAnswers:
    """The process that owns the database file, or the server."""

    def __init__(self, database: Database, place: str | None) -> None:
        self._database = database
        self._place = place

    async def hand_in(self, question: OpenQuestion, said: str, by: str | None) -> None:
        command = AnswerQuestion(
            run=str(question.run),
            step=question.key.step,
            answer=said,
            by=by,
            asked=question.asked,
        )
        await ask(self._place, command)

    async def until_closed(self, question: OpenQuestion) -> None:
        while question in await open_questions(self._database, question.run):
            await asyncio.sleep(LOOK_SECONDS)


def interviewer_for(options: RunOptions) -> Interviewer | None:
    """Who answers here; nobody where there is no person at a terminal, or they answer elsewhere."""
    if options.approves:
        return AutoApprove()
    if options.waits or options.is_json or options.is_quiet:
        return None
    is_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    return Console(sys.stdin, sys.stderr) if is_terminal else None


def stays(options: RunOptions) -> bool:
    """Whether a run that waits for people is followed on, because they answer elsewhere."""
    return options.waits and not options.approves


async def interview(
    interviewer: Interviewer | None, question: OpenQuestion, channel: AnswerChannel
) -> bool:
    """Ask it and hand in the answer; False when nobody answers here."""
    if interviewer is None:
        return False
    asking = asyncio.ensure_future(interviewer.ask(question))
    closing = asyncio.ensure_future(channel.until_closed(question))
    try:
        await asyncio.wait({asking, closing}, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        # Whoever interrupts a question wants to answer it later: the run waits.
        task = asyncio.current_task()
        assert task is not None
        task.uncancel()
        print(file=sys.stderr)
        return False
    finally:
        is_closed = closing.done() and not asking.done()
        for one in (asking, closing):
            one.cancel()
        await asyncio.gather(asking, closing, return_exceptions=True)
    if is_closed:
        print("\nanew: answered elsewhere, or its time is over", file=sys.stderr)
        return True
    return await _hand_in(interviewer, question, channel, asking.result())


async def _hand_in(
    interviewer: Interviewer, question: OpenQuestion, channel: AnswerChannel, said: str | None
) -> bool:
    if said is None:
        return False
    try:
        await channel.hand_in(question, said, getattr(interviewer, "name", None) or login())
    except ConfigError as refused:  # someone else was faster
        print(f"anew: {visible(str(refused))}", file=sys.stderr)
    return True


def login() -> str | None:
    """Who sits at this terminal."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return None
