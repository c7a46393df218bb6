"""What an engine does for people: notices that a run waits for nobody else, takes their answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from anew.clock import Clock
from anew.engine.boundaries import Answered
from anew.engine.state import FINAL, RunState
from anew.errors import ConfigError
from anew.runtime.blocked_on import BlockedOn, blocked_on
from anew.runtime.families import existing_run, families
from anew.runtime.interviewers import Interviewer
from anew.runtime.interviews import Interviews
from anew.runtime.ledger import Ledger
from anew.runtime.questions import (
    OpenQuestion,
    answered_already,
    is_blocked,
    label_of,
    meant,
    nothing_open,
    open_questions,
    questions_of,
    too_late,
)
from anew.store import Database, RunId


class People:
    """Of one engine. `fail` reports an error to whoever waits for a run."""

    def __init__(
        self,
        database: Database,
        ledger: Ledger,
        clock: Clock,
        *,
        fail: Callable[[BaseException], None],
        redact: Callable[[str], str],
        interviewer: Interviewer | None,
    ) -> None:
        self._database = database
        self._ledger = ledger
        self._clock = clock
        self._redact = redact
        self._watching: set[asyncio.Future[None]] = set()
        self.interviews = Interviews(
            ledger.live, interviewer, answer=self._hear, ended=self.look_again, fail=fail
        )

    async def until_blocked(self, run: RunId) -> BlockedOn | None:
        """Return when only people or signals can move a run on; None when it has ended.

        A question that an interviewer is being asked does not count yet.
        """
        ending = asyncio.ensure_future(self._ledger.endings.wait(run))
        try:
            while not ending.done():
                with self._next_change() as change:
                    if (blocked := await self._blocked_on(run)) is not None:
                        return blocked
                    either: set[asyncio.Future[Any]] = {ending, change}
                    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            ending.result()
            return None
        finally:
            ending.cancel()
            await asyncio.gather(ending, return_exceptions=True)

    async def _blocked_on(self, run: RunId) -> BlockedOn | None:
        if await self._is_interviewed(run):
            return None
        if not await is_blocked(self._database.archive, run, self._clock.now()):
            return None
        blocked = await blocked_on(self._database, run)
        if blocked is not None and await self.interviews.begin_missed(blocked.questions):
            return None
        return blocked

    async def _is_interviewed(self, run: RunId) -> bool:
        """Whether someone is being asked about a run, or about a child it waits for."""
        if not self.interviews.about():
            return False
        family = await families(self._database.archive, [run])
        return not self.interviews.about().isdisjoint(family)

    async def until_closed(self, question: OpenQuestion) -> None:
        """Return when a question is not open any more: answered elsewhere, or its time is over."""
        while True:
            with self._next_change() as change:
                if question not in await open_questions(self._database, question.run):
                    return
                await change

    @contextmanager
    def _next_change(self) -> Iterator[asyncio.Future[None]]:
        """What is done at the next change, for as long as someone waits for it."""
        change: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._watching.add(change)
        try:
            yield change
        finally:
            self._watching.discard(change)

    def look_again(self) -> None:
        """Something was put aside, a question was closed, or an interview ended."""
        watching, self._watching = self._watching, set()
        for change in watching:
            if not change.done():
                change.set_result(None)

    async def answer(
        self,
        run: RunId,
        said: str,
        *,
        step: str | None = None,
        by: str | None = None,
        asked: int | None = None,
        asking: RunId | None = None,
    ) -> OpenQuestion:
        """Answer a question of a run or of a child it waits for; the question.

        ConfigError when there is none, when it is not clear which is meant, when the answer fits no
        choice, and when someone else was faster. `asked` names the question that was seen, and
        `asking` the run that asks it, which may be a child.
        """
        row = await existing_run(self._database.archive, run)
        if row.status in FINAL:
            raise ConfigError(f"run {run} has ended ({row.status}): it has no open question.")
        questions = await open_questions(self._database, run)
        if not questions:
            raise await nothing_open(self._database.archive, run)
        question = meant(questions, run, step, asked=asked, asking=asking)
        await self._hear(question, said, by, of=run)
        return question

    async def _hear(
        self, question: OpenQuestion, said: str, by: str | None, *, of: RunId | None = None
    ) -> None:
        """Make an answer durable. A question is answered once: whoever comes later is refused.

        `of` is the run that whoever answers thinks of, where the question is a child's.
        """
        label_of(question, said)

        def is_meant(state: RunState) -> bool:
            asking = state.step_run(question.key)
            return asking is not None and asking.started_seq == question.asked

        # People type secrets, too; the log learns none that this process knows.
        by = None if by is None else self._redact(by)
        answered = Answered(question.key, self._redact(said.strip()), by)
        applied = await self._ledger.apply(question.run, answered, is_meant=is_meant)
        if applied.has_moved:
            return
        live = await self._ledger.live.newest(question.run)
        is_over = question.deadline is not None and question.deadline <= self._clock.now()
        if is_over and question in questions_of(question.run, live.state):
            raise too_late(question, question.run if of is None else of)
        raise answered_already(question.run)
