"""What can come from outside to a run: requests, workers' steps, outcomes, answers, orders.

Each is one class; `engine.decide` says what follows from it. Knows nothing of what a run is.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from anew.engine import events as e
from anew.engine.outcome import Outcome
from anew.engine.state import StepRunKey
from anew.values import Object, Value

# What people and other systems do to a run, whoever works on it: how a transition begins that
# answers no job. FOLLOWING is all that can come of it there and then.
ORDERED: frozenset[type[e.Event]] = frozenset(
    {
        e.RunCancelled,
        e.RunCompensating,
        e.RunPaused,
        e.RunResumed,
        e.HumanAnswered,
        e.SignalReceived,
        e.WaitSkipped,
    }
)
FOLLOWING: frozenset[type[e.Event]] = frozenset(
    {
        e.StepScheduled,
        e.StepRefused,
        e.StepSkipped,
        e.GateChecked,
        e.BranchJoined,
        e.RunCompensating,
        e.RunDone,
        e.RunFailed,
    }
)


class Requested(Struct, frozen=True):
    """Someone wants a run. For what is behind `file` see `run.requested`."""

    run: str
    workload: Object
    file: str | None = None
    entry: str | None = None
    continues: str | None = None
    generation: int = 0


class Taken(Struct, frozen=True):
    """A worker took a step-run that was handed out."""

    key: StepRunKey


class Due(Struct, frozen=True):
    """A step-run's wait is over."""

    key: StepRunKey


class Reported(Struct, frozen=True):
    """An execution gave its outcome; `started` is the sequence number of its `task.started`."""

    key: StepRunKey
    outcome: Outcome
    started: int


class Lost(Struct, frozen=True):
    """The worker that executed a step-run's task is gone, or gave it back unfinished."""

    key: StepRunKey
    was_handed_back: bool = False


class Answered(Struct, frozen=True):
    """A person answered the question of a step-run."""

    key: StepRunKey
    answer: str
    by: str | None = None


class Signalled(Struct, frozen=True):
    """A signal came from outside. The same name and `id` again change nothing."""

    signal: str
    payload: Value = None
    id: str | None = None
    by: str | None = None


class Skipped(Struct, frozen=True):
    """Someone ends the waits of these step-runs now, as far as they wait for a moment."""

    keys: tuple[StepRunKey, ...]
    by: str | None = None


class Cancelled(Struct, frozen=True):
    """Someone ends the run, whatever it is doing."""

    reason: str | None = None


class Paused(Struct, frozen=True):
    """Someone wants the run to start nothing for a while. For the rest see `run.paused`."""

    reason: str | None = None
    shared_with: str | None = None
    decided_by: str | None = None
    later_by: int | None = None


class Resumed(Struct, frozen=True):
    """Someone wants a paused run to go on."""


Boundary: TypeAlias = (
    Requested
    | Taken
    | Due
    | Reported
    | Lost
    | Answered
    | Signalled
    | Skipped
    | Cancelled
    | Paused
    | Resumed
)
