"""Runs, programs and open questions as JSON rows: what lists print, and what the API answers.

Ids are text, because they do not fit every reader's numbers; moments are text in UTC.
"""

from __future__ import annotations

from collections.abc import Sequence

from anew.engine.events import Event, RunRequested
from anew.engine.moments import moment_text
from anew.engine.state import RunStatus
from anew.runtime.keys import shown_key
from anew.runtime.questions import OpenQuestion
from anew.runtime.signals import OpenSignal
from anew.runtime.standing import Still, what_is_open
from anew.store import Archive, Database, RunFilter, RunId, RunRow, StoredProgram
from anew.values import Object

# How many of the newest runs that wait are looked at for the parents that wait for them.
WAITING_CHILDREN_MAX = 1_000


def run_row(row: RunRow) -> Object:
    """A run in a list."""
    ended = row.ended_at
    return {
        "run": str(row.run),
        "program": row.program,
        "status": row.status.value,
        "error": row.error,
        "created_at": moment_text(row.created_at),
        "updated_at": moment_text(row.updated_at),
        "ended_at": None if ended is None else moment_text(ended),
        "events": row.version,
        "key": shown_key(row.key),
        "labels": dict(row.labels),
        "parent": None if row.parent is None else str(row.parent.run),
    }


def program_row(program: StoredProgram) -> Object:
    """A program, without its document."""
    return {
        "name": program.name,
        "version": program.version,
        "digest": program.digest,
        "file": program.file,
        "registered_at": moment_text(program.registered_at),
    }


def question_row(question: OpenQuestion) -> Object:
    """An open question; `run` is that of the child where a child asks."""
    deadline = question.deadline
    return {
        "run": str(question.run),
        "step": question.key.step,
        "task": question.task,
        "question": question.question,
        "choices": question.choices,
        "deadline": None if deadline is None else moment_text(deadline),
    }


def signal_row(awaited: OpenSignal) -> Object:
    """A signal that is waited for; `run` is that of the child where a child waits."""
    deadline = awaited.deadline
    return {
        "run": str(awaited.run),
        "step": awaited.key.step,
        "task": awaited.task,
        "signal": awaited.signal,
        "deadline": None if deadline is None else moment_text(deadline),
    }


def open_rows(still: Still | None) -> Object:
    """What a run and its children wait to hear from outside; nothing of what they do not."""
    rows: Object = {}
    if still is not None and still.questions:
        rows["questions"] = [question_row(question) for question in still.questions]
    if still is not None and still.signals:
        rows["signals"] = [signal_row(awaited) for awaited in still.signals]
    return rows


def more_of(first: Event, still: Still | None) -> Object:
    """What only some runs have: what they wait to hear, and a run whose place they took."""
    more = open_rows(still)
    if isinstance(first, RunRequested) and first.continues is not None:
        more["continues"] = first.continues
    return more


async def asking_in_rows(database: Database, rows: Sequence[RunRow]) -> dict[RunId, Object]:
    """What those of the runs wait to hear that wait for others, or whose children do, as JSON."""
    waiting = {row.run for row in rows if row.status is RunStatus.WAITING}
    waiting |= (await waiting_parents(database.archive)).keys()
    found = {}
    for run in (row.run for row in rows if row.run in waiting):
        if rows_of := open_rows(await what_is_open(database, run)):
            found[run] = rows_of
    return found


async def waiting_parents(archive: Archive) -> dict[RunId, RunId]:
    """The runs that wait for a child which waits for others, however deep; the child by run."""
    asked = RunFilter(statuses=[RunStatus.WAITING], limit=WAITING_CHILDREN_MAX)
    found: dict[RunId, RunId] = {}
    for row in await archive.runs(asked):
        parent = row.parent
        while parent is not None and parent.run not in found:
            found[parent.run] = row.run
            above = await archive.run(parent.run)
            parent = None if above is None else above.parent
    return found
