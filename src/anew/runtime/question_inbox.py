"""Every open question of a database, whichever run asks it.

Only the runs that ask are read: a job that waits for a person names its run. Answers are the
business of `people.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from msgspec import Struct

from anew.engine.moments import moment_text
from anew.engine.questions import PendingQuestion, pending
from anew.engine.state import RunState
from anew.runtime.questions import readable_state
from anew.store import Database, JobRef, RunFilter, RunId, RunRow
from anew.values import Object
from anew.views.routing_words import silence_text

# Each is read with the run that asks it.
QUESTIONS_MAX = 200
# Their states are in memory together, and a shared database is asked for all of them at once.
READ_AT_ONCE = 20


class InboxQuestion(Struct, frozen=True):
    """A question with the run that asks it; `silence` is what follows when nobody answers.

    `asked` tells it from the other questions of the run, as in OpenQuestion.
    """

    run: RunRow
    question: PendingQuestion
    silence: str | None
    asked: int

    def row(self) -> Object:
        """The JSON of a line of `anew questions --json`."""
        asked = self.question
        return {
            "run": str(self.run.run),
            "step": asked.key.step,
            "task": asked.task,
            "question": asked.question,
            "choices": asked.choices,
            "deadline": None if asked.deadline is None else moment_text(asked.deadline),
            "asked": self.asked,
            "program": self.run.program,
            "asked_at": moment_text(asked.asked_at),
            "silence": self.silence,
            "labels": dict(self.run.labels),
        }


class QuestionInbox(Struct, frozen=True):
    """The soonest deadline first; `is_cut`: there are more."""

    inquiries: list[InboxQuestion]
    is_cut: bool

    def row(self) -> Object:
        """The JSON of `GET /api/v1/questions`."""
        return {"questions": [one.row() for one in self.inquiries], "is_cut": self.is_cut}


async def inbox_of(database: Database, limit: int = QUESTIONS_MAX) -> QuestionInbox:
    """What people are asked now, by all runs together."""
    jobs = [row.job for row in await database.roster.asking(limit + 1)]
    runs = list(dict.fromkeys(job.run for job in jobs[:limit]))
    found: dict[JobRef, InboxQuestion] = {}
    for at in range(0, len(runs), READ_AT_ONCE):
        found |= await _asked_by(database, runs[at : at + READ_AT_ONCE])
    # A run may have moved on since its job was read.
    return QuestionInbox([found[job] for job in jobs[:limit] if job in found], len(jobs) > limit)


async def _asked_by(database: Database, runs: Sequence[RunId]) -> dict[JobRef, InboxQuestion]:
    rows = await database.archive.runs(RunFilter(runs=runs, limit=len(runs)))
    states = await asyncio.gather(*(readable_state(database.store, row.run) for row in rows))
    return {
        JobRef(row.run, one.question.key): one
        for row, state in zip(rows, states, strict=True)
        for one in ([] if state is None else _inquiries(row, state))
    }


def _inquiries(row: RunRow, state: RunState) -> Iterator[InboxQuestion]:
    for one in pending(state):
        asking = state.step_run(one.key)
        assert asking is not None
        default = None if asking.question is None else asking.question.default
        silence = None if one.deadline is None else silence_text(one.action, default)
        yield InboxQuestion(row, one, silence, asking.started_seq)
