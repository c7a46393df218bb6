"""Have interviewers answer the questions of runs, each as soon as it is asked.

One task per open question. An interviewer that left a question open is not asked it again. A
question that is answered elsewhere, or whose branch or run ends, is taken back from its
interviewer. Whatever an interviewer does, the run only stays waiting.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from anew.engine.events import Event, HumanWaiting
from anew.engine.state import RunState
from anew.errors import AnewError
from anew.runtime.interviewers import Interviewer
from anew.runtime.live_runs import LiveRuns
from anew.runtime.questions import OpenQuestion, questions_of
from anew.store import RunId, StoreError

_LOG = logging.getLogger(__name__)


class _Interview(Struct):
    """`is_answering`: the answer is there, and on its way into the log."""

    task: asyncio.Task[None]
    is_answering: bool = False


class Interviews:
    """Those under way. `answer` makes an answer durable; `ended` is called after each.

    `fail` tells whoever waits for a run of an error that is not an interviewer's.
    """

    def __init__(
        self,
        live: LiveRuns,
        interviewer: Interviewer | None,
        *,
        answer: Callable[[OpenQuestion, str, str | None], Awaitable[None]],
        ended: Callable[[], None],
        fail: Callable[[BaseException], None],
    ) -> None:
        self._live = live
        self._interviewer = interviewer
        self._given: dict[RunId, Interviewer] = {}
        self._answer = answer
        self._ended = ended
        self._fail = fail
        self._open: dict[tuple[RunId, int], _Interview] = {}
        # Who was asked, by run and question, until the question is closed.
        self._asked: dict[RunId, dict[int, Interviewer]] = {}
        self._beginning: dict[asyncio.Task[None], RunId] = {}
        self._is_stopped = False

    def about(self) -> set[RunId]:
        """The runs someone is being asked about, or is about to be."""
        return {*(run for run, _ in self._open), *self._beginning.values()}

    def give(self, run: RunId, interviewer: Interviewer) -> None:
        """Let it answer the questions of this run and its children."""
        self._given[run] = interviewer
        self.begin(run)

    def hear(self, run: RunId, events: Sequence[Event]) -> None:
        """Something happened in a run."""
        if self._interviewer is None and not self._given:
            return
        live = self._live.known(run)
        if live is not None:
            self._take_back(run, live.state)
        if any(isinstance(event, HumanWaiting) for event in events):
            self.begin(run)

    async def begin_missed(self, questions: Sequence[OpenQuestion]) -> bool:
        """Have questions asked that nobody here was asked yet; whether there are any.

        The store shows a question a moment before this process hears of it.
        """
        if self._is_stopped:
            return False
        missed = {one.run for one in questions if await self._is_missed(one)}
        for run in missed:
            self.begin(run)
        return bool(missed)

    async def _is_missed(self, question: OpenQuestion) -> bool:
        interviewer = await self._interviewer_of(question.run)
        asked = self._asked.get(question.run, {}).get(question.asked)
        return interviewer is not None and asked is not interviewer

    def begin(self, run: RunId) -> None:
        """Have the open questions of a run asked, if there is someone to ask them."""
        if self._is_stopped or (self._interviewer is None and not self._given):
            return
        task = asyncio.create_task(self._begin(run))
        self._beginning[task] = run
        task.add_done_callback(self._begun)

    async def _begin(self, run: RunId) -> None:
        interviewer = await self._interviewer_of(run)
        if interviewer is None:
            return
        live = await self._live.newest(run)
        self._take_back(run, live.state)
        for question in questions_of(run, live.state):
            place, asked = (run, question.asked), self._asked.setdefault(run, {})
            if place not in self._open and asked.get(question.asked) is not interviewer:
                asked[question.asked] = interviewer
                task = asyncio.create_task(self._hold(interviewer, question))
                self._open[place] = _Interview(task)

    def _begun(self, task: asyncio.Task[None]) -> None:
        self._beginning.pop(task, None)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._fail(error)
        self._ended()

    async def _interviewer_of(self, run: RunId) -> Interviewer | None:
        """Its own, or that of the run it is a child of."""
        while run not in self._given:
            parent = (await self._live.get(run)).parent
            if parent is None:
                return self._interviewer
            run = parent.run
        return self._given[run]

    async def _hold(self, interviewer: Interviewer, question: OpenQuestion) -> None:
        place = (question.run, question.asked)
        try:
            said = await interviewer.ask(question)
            if said is not None:
                self._open[place].is_answering = True
                await self._answer(question, said, getattr(interviewer, "name", None))
        except StoreError as error:
            self._fail(error)
        except AnewError as refused:
            _warn(question, str(refused))
        except Exception as error:
            _warn(question, f"its interviewer failed ({type(error).__name__}: {error})")
        finally:
            self._open.pop(place, None)
            self._ended()

    def _take_back(self, run: RunId, state: RunState) -> None:
        """End the interviews about questions that are not open any more."""
        if run not in self._asked:
            return
        still = {question.asked for question in questions_of(run, state)}
        kept = {asked: by for asked, by in self._asked.pop(run).items() if asked in still}
        if kept:
            self._asked[run] = kept
        for (of, asked), interview in list(self._open.items()):
            if of == run and asked not in still and not interview.is_answering:
                interview.task.cancel()

    async def stop(self) -> None:
        """Ask nothing more; questions nobody has answered stay open."""
        self._is_stopped = True
        while tasks := [*self._beginning, *(one.task for one in self._open.values())]:
            for interview in self._open.values():
                if not interview.is_answering:  # an answer on its way into the log gets there
                    interview.task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _warn(question: OpenQuestion, why: str) -> None:
    place = f"step {question.key.step} of run {question.run}"
    _LOG.warning("the question of %s stays open: %s", place, " ".join(why.split()))
