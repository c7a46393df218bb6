"""Runs, programs and open questions as JSON rows: what lists print, and what the API answers.

Ids are text, because they do not fit every reader's numbers; moments are text in UTC.
"""

from __future__ import annotations

from collections.abc import Sequence

from anew.engine.events import Event, RunRequested
from anew.engine.moments import moment_text
from anew.engine.state import FINAL, RunStatus
from anew.engine.statuses import DetailedStatus
from anew.runtime.blocked_on import BlockedOn, blocked_on
from anew.runtime.families import waiting_parents
from anew.runtime.keys import shown_key
from anew.runtime.questions import OpenQuestion
from anew.runtime.signals import OpenSignal
from anew.store import (
    Database,
    FailedRunGroup,
    JobRow,
    RunId,
    RunRow,
    StoredProgram,
)
from anew.values import Object

# Of so many runs of a list it is told what they ask.
ASKING_ROWS_MAX = 100
_ASKING = (DetailedStatus.PERSON, DetailedStatus.SIGNAL)


def run_row(row: RunRow, version: int | None = None) -> Object:
    """A run in a list; `version` is the newest that its document is registered as."""
    ended = row.ended_at
    damage = {} if row.damage is None else {"damage": {"event": None, "reason": row.damage}}
    return damage | {
        "run": str(row.run),
        "program": row.program,
        "digest": row.digest,
        "version": version,
        "status": row.status.value,
        "state": row.state.value,
        "error": row.error,
        "fingerprint": row.fingerprint,
        "created_at": moment_text(row.created_at),
        "updated_at": moment_text(row.updated_at),
        "ended_at": None if ended is None else moment_text(ended),
        "events": row.version,
        "key": shown_key(row.key),
        "labels": dict(row.labels),
        "parent": None if row.parent is None else str(row.parent.run),
        "open": None if row.open is None else open_job_row(row.open),
        "retried_as": None if row.retried_as is None else str(row.retried_as),
    }


def open_job_row(job: JobRow) -> Object:
    """The job that stands for its run. One that was woken is due at no moment of its own."""
    return {
        "reason": job.reason.value,
        "step": job.job.key.step,
        "attempt": job.attempt,
        "due_at": moment_text(job.due_at) if job.due_at else None,
        "is_leased": job.leased_until is not None,
    }


def failure_row(group: FailedRunGroup, step: str | None) -> Object:
    """Runs that failed alike; `step` is where the newest of them did."""
    return {
        "fingerprint": group.fingerprint,
        "kind": group.kind,
        "message": group.message,
        "step": step,
        "programs": list(group.programs),
        "count": group.count,
        "dead": group.dead,
        "retried": group.retried,
        "first_at": moment_text(group.first_at),
        "last_at": moment_text(group.last_at),
        "newest": str(group.newest),
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
    """An open question; `run` is that of the child where a child asks.

    `asked` is the event of that run by which the task began that asks.
    """
    deadline = question.deadline
    return {
        "run": str(question.run),
        "step": question.key.step,
        "task": question.task,
        "question": question.question,
        "choices": question.choices,
        "deadline": None if deadline is None else moment_text(deadline),
        "asked": question.asked,
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


def open_rows(blocked: BlockedOn | None) -> Object:
    """What a run and its children wait to hear from outside; nothing of what they do not."""
    rows: Object = {}
    if blocked is not None and blocked.questions:
        rows["questions"] = [question_row(question) for question in blocked.questions]
    if blocked is not None and blocked.signals:
        rows["signals"] = [signal_row(awaited) for awaited in blocked.signals]
    return rows


def more_of(first: Event, blocked: BlockedOn | None) -> Object:
    """What only some runs have: what they wait to hear, and a run whose place they took."""
    more = open_rows(blocked)
    if isinstance(first, RunRequested) and first.continues is not None:
        more["continues"] = first.continues
    return more


async def listed_rows(database: Database, rows: Sequence[RunRow]) -> list[Object]:
    """Runs as a list shows them: with the versions of their documents, and what they ask."""
    versions = await database.statistics.versions({row.digest for row in rows})
    asking = await asking_in_rows(database, rows)
    return [run_row(row, versions.get(row.digest)) | asking.get(row.run, {}) for row in rows]


async def asking_in_rows(database: Database, rows: Sequence[RunRow]) -> dict[RunId, Object]:
    """What those of the runs wait to hear that wait for others, or whose children do, as JSON.

    Of ASKING_ROWS_MAX of them: each has to be read.
    """
    waiting = {row.run for row in rows if row.status is RunStatus.WAITING or row.state in _ASKING}
    is_any_open = any(row.status not in FINAL for row in rows)
    parents = await waiting_parents(database.archive) if is_any_open else {}
    asking = [row.run for row in rows if row.run in waiting or row.run in parents]
    found = {}
    for run in asking[:ASKING_ROWS_MAX]:
        blocked = await blocked_on(database, run, with_children=run in parents)
        if rows_of := open_rows(blocked):
            found[run] = rows_of
    return found
