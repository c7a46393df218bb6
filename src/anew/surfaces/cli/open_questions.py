"""What people are asked, as the command line tells it: in words, and as JSON.

A question may be a child's: then it is told of the run that waits for the child.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anew.engine.events import Event, RunRequested
from anew.engine.moments import moment_text
from anew.engine.state import RunStatus
from anew.runtime.questions import OpenQuestion, open_questions
from anew.store import Archive, Database, RunFilter, RunId, RunRow
from anew.values import Object
from anew.views.routing_words import choices_text
from anew.views.verdict import answer_command
from anew.views.wording import joined, one_line

# How many of the newest runs that wait are looked at for the parents that wait for them.
WAITING_CHILDREN_MAX = 1_000


def asking_lines(run: RunId, questions: Sequence[OpenQuestion]) -> Iterator[str]:
    """What the children of a run ask, and how to answer; nothing when they ask nothing."""
    of_children = [question for question in questions if question.run != run]
    for question in of_children:
        choices = choices_text(question.choices)
        asked = joined(one_line(question.question), f"choices: {choices}" if choices else "")
        where = f"its child run {question.run}, step {question.key.step}"
        yield f"Waiting for a person in {where}: {asked}"
    if of_children:
        yield f"`{command_for(run, questions)}` answers."


def command_for(run: RunId, questions: Sequence[OpenQuestion]) -> str:
    """The command that answers."""
    return answer_command(str(run), [question.choices for question in questions])


def more_of(first: Event, questions: Sequence[OpenQuestion]) -> Object:
    """What only some runs have: open questions, and a run whose place they took."""
    more: Object = {}
    if questions:
        more["questions"] = [question_row(question) for question in questions]
    if isinstance(first, RunRequested) and first.continues is not None:
        more["continues"] = first.continues
    return more


def question_row(question: OpenQuestion) -> Object:
    """An open question as JSON shows it; `run` is that of the child where a child asks."""
    deadline = question.deadline
    return {
        "run": str(question.run),
        "step": question.key.step,
        "task": question.task,
        "question": question.question,
        "choices": question.choices,
        "deadline": None if deadline is None else moment_text(deadline),
    }


async def asking_in_rows(database: Database, rows: Sequence[RunRow]) -> dict[RunId, Object]:
    """The JSON `questions` of those of the runs that wait for a person, or whose children do."""
    waiting = {row.run for row in rows if row.status is RunStatus.WAITING}
    waiting |= (await waiting_parents(database.archive)).keys()
    found = {}
    for run in (row.run for row in rows if row.run in waiting):
        if questions := await open_questions(database, run):
            found[run] = {"questions": [question_row(question) for question in questions]}
    return found


async def waiting_parents(archive: Archive) -> dict[RunId, RunId]:
    """The runs that wait for a child which waits for a person, however deep; the child by run."""
    asked = RunFilter(statuses=[RunStatus.WAITING], limit=WAITING_CHILDREN_MAX)
    found: dict[RunId, RunId] = {}
    for row in await archive.runs(asked):
        parent = row.parent
        while parent is not None and parent.run not in found:
            found[parent.run] = row.run
            above = await archive.run(parent.run)
            parent = None if above is None else above.parent
    return found
