"""How runs, steps, step-runs and jobs stand: the vocabularies, and the tables that map them.

The engine decides by `RunStatus` and `StepRunStatus` (`engine.state`). What is here is for lists,
views and stores: a row for each thing a step-run can be at says what its job, its step and its run
are called then. `docs/reference/statuses.md` shows the tables. Databases say how a run stands in
SQL; `anew.stores.contract.standing` compares them with what is here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from anew.engine.state import RunStatus

# A failure of this kind is nobody's answer: workers died over the run until it was given up.
GIVEN_UP_KIND = "worker_lost"


class DetailedStatus(StrEnum):
    """One per run: finer than its status, which does not say what the run waits for."""

    QUEUED = "queued"  # nobody works on it, and somebody could
    RUNNING = "running"
    RETRYING = "retrying"  # a step-run waits for its next attempt
    PERSON = "person"  # a step-run waits for an answer
    SIGNAL = "signal"
    PARKED = "parked"  # all there is to do is put aside: a sleep, a child run, a held call
    WAITING = "waiting"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    DEAD = "dead"  # given up: its workers were lost too often
    CANCELLED = "cancelled"


class WaitReason(StrEnum):
    """Why a job is not to be worked on before its due time."""

    READY = "ready"  # it is not waiting, except for a worker
    RETRY = "retry"  # the delay of a retry, or of a jump
    SLEEP = "sleep"
    CHILD = "child"  # a child run
    HELD = "held"  # its run is paused, or a guard holds its call
    PERSON = "person"  # an answer
    SIGNAL = "signal"


class StepStatus(StrEnum):
    """One word for a step. What is live wins over how earlier visits ended."""

    SCHEDULED = "scheduled"  # handed out, no worker has it yet
    RUNNING = "running"  # a task is at work
    RETRYING = "retrying"  # nothing is at work; a retry or a jump forward is due later
    POLLING = "polling"  # nothing is at work; the next look at something is due later
    WAITING = "waiting"  # for a person, a signal, a child run, a sleep, a guard
    DONE = "done"
    FAILED = "failed"  # also when an arc handled it: the run's status says whether that mattered
    SKIPPED = "skipped"  # refused by its gate, or dropped because the run failed
    CANCELLED = "cancelled"  # live when the run was cancelled, or its branch was stopped


class ActivityKind(StrEnum):
    """What a step-run is at."""

    QUEUED = "queued"  # no worker has taken it yet
    WORKING = "working"
    RETRY = "retry"  # the delay of its own rule
    RETRY_AFTER = "retry_after"  # the delay the other side asked for
    JUMP = "jump"  # the delay of a jump
    POLL = "poll"  # until the next look: an ok outcome is asked for again, or a jump goes back
    SLEEP = "sleep"
    CHILD = "child"
    PERSON = "person"
    SIGNAL = "signal"
    GUARD = "guard"  # a guard lets its call begin later


class BarKind(StrEnum):
    """What a stretch of time in a lane was: an execution, by how it ended, or a wait."""

    OK = "ok"  # an execution that gave an ok outcome
    ERROR = "error"
    LOST = "lost"  # an execution whose worker was lost, or that was cancelled
    WORKING = "working"  # an execution that has no outcome yet
    QUEUE = "queue"  # for a worker, or for a guard to let the call begin
    RETRY = "retry"
    RETRY_AFTER = "retry_after"
    JUMP = "jump"
    POLL = "poll"
    SLEEP = "sleep"
    CHILD = "child"
    PERSON = "person"
    SIGNAL = "signal"


class AttemptStatus(StrEnum):
    """How one execution of a task ended, if it has."""

    OK = "ok"
    ERROR = "error"
    WORKING = "working"
    LOST = "lost"  # its worker was
    CANCELLED = "cancelled"  # with its step-run, its branch or its run


class ActivityRow(Struct, frozen=True):
    """What others call it that a step-run is at something.

    `job` is None where a worker has its lease. A run is told by the live step-run with the lowest
    `rank`: what others have to do comes first, then what is delayed, at work, waiting for a worker.
    """

    job: WaitReason | None
    step: StepStatus
    run: DetailedStatus
    rank: int
    bar: BarKind


_K, _J, _S, _R, _B = ActivityKind, WaitReason, StepStatus, DetailedStatus, BarKind
ACTIVITIES: Mapping[ActivityKind, ActivityRow] = {
    _K.PERSON: ActivityRow(_J.PERSON, _S.WAITING, _R.PERSON, 1, _B.PERSON),
    _K.SIGNAL: ActivityRow(_J.SIGNAL, _S.WAITING, _R.SIGNAL, 2, _B.SIGNAL),
    _K.RETRY: ActivityRow(_J.RETRY, _S.RETRYING, _R.RETRYING, 3, _B.RETRY),
    _K.RETRY_AFTER: ActivityRow(_J.RETRY, _S.RETRYING, _R.RETRYING, 3, _B.RETRY_AFTER),
    _K.JUMP: ActivityRow(_J.RETRY, _S.RETRYING, _R.RETRYING, 3, _B.JUMP),
    _K.POLL: ActivityRow(_J.RETRY, _S.POLLING, _R.RETRYING, 3, _B.POLL),
    _K.WORKING: ActivityRow(None, _S.RUNNING, _R.RUNNING, 4, _B.WORKING),
    _K.QUEUED: ActivityRow(_J.READY, _S.SCHEDULED, _R.QUEUED, 5, _B.QUEUE),
    _K.SLEEP: ActivityRow(_J.SLEEP, _S.WAITING, _R.PARKED, 6, _B.SLEEP),
    _K.CHILD: ActivityRow(_J.CHILD, _S.WAITING, _R.PARKED, 6, _B.CHILD),
    _K.GUARD: ActivityRow(_J.HELD, _S.WAITING, _R.PARKED, 6, _B.QUEUE),
}
# Delays that end by themselves, with another execution.
DELAYED = frozenset(kind for kind, row in ACTIVITIES.items() if row.job is WaitReason.RETRY)
WAITING = frozenset(kind for kind, row in ACTIVITIES.items() if row.step is StepStatus.WAITING)
# Waits for a moment: a person may end them before it comes.
SKIPPABLE = DELAYED | {ActivityKind.SLEEP}

_RANKS = {row.job: row.rank for row in ACTIVITIES.values()}
_BY_RANK = {row.rank: row.run for row in ACTIVITIES.values() if row.job is not None}


class RunWords(Struct, frozen=True):
    """What others call a run of a status: lists (None: by its jobs), NoETL, tools for graphs."""

    detailed: DetailedStatus | None
    noetl: str
    graphs: str


RUNS: Mapping[RunStatus, RunWords] = {
    RunStatus.NEW: RunWords(_R.QUEUED, "PENDING", "pending"),
    RunStatus.QUEUED: RunWords(_R.QUEUED, "PENDING", "pending"),
    RunStatus.RUNNING: RunWords(None, "RUNNING", "running"),
    RunStatus.WAITING: RunWords(None, "RUNNING", "waiting"),
    RunStatus.PAUSED: RunWords(_R.PAUSED, "PAUSED", "paused"),
    RunStatus.DONE: RunWords(_R.DONE, "COMPLETED", "completed"),
    RunStatus.FAILED: RunWords(_R.FAILED, "FAILED", "failed"),
    RunStatus.CANCELLED: RunWords(_R.CANCELLED, "CANCELLED", "cancelled"),
}


def rank_of(reason: WaitReason, *, is_leased: bool) -> int:
    """How much a job says about its run: 1 says most. A job that is held says as a sleep."""
    return _RANKS[None] if is_leased else _RANKS.get(reason, _RANKS[WaitReason.SLEEP])


def state_of(status: RunStatus, *, error_kind: str | None, rank: int | None) -> DetailedStatus:
    """How a run stands whose job that says most has this rank; None: it has no open job."""
    if status is RunStatus.FAILED and error_kind == GIVEN_UP_KIND:
        return DetailedStatus.DEAD
    known = RUNS[status].detailed
    if known is not None:
        return known
    usual = DetailedStatus.WAITING if status is RunStatus.WAITING else DetailedStatus.RUNNING
    return usual if rank is None else _BY_RANK.get(rank, usual)
