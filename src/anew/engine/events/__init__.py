"""Everything that can happen in a run: a closed union of facts, one class each.

An event is written once and never changed. What the fold, the views and the lab need is in here;
nothing is decided from anything else. The words they use are closed, too: `words.py` has those that
no document has, `program` the others.
"""

from typing import TypeAlias, get_args

from anew.engine.events.fact import Fact
from anew.engine.events.rows import row_of, to_row
from anew.engine.events.runs import (
    RunCancelled,
    RunCompensating,
    RunDone,
    RunFailed,
    RunPaused,
    RunRequested,
    RunResumed,
    RunStarted,
)
from anew.engine.events.steps import (
    BranchForked,
    BranchJoined,
    GateChecked,
    NextEvaluated,
    StepDone,
    StepFailed,
    StepRedelivered,
    StepRefused,
    StepScheduled,
    StepSkipped,
    StepStarted,
)
from anew.engine.events.tasks import (
    LoopDone,
    LoopIterationDone,
    LoopIterationFailed,
    LoopStarted,
    TaskHeld,
    TaskProcessed,
    TaskRetryExhausted,
    TaskRetryScheduled,
    TaskStarted,
)
from anew.engine.events.waits import (
    HumanAnswered,
    HumanTimedOut,
    HumanWaiting,
    SignalReceived,
    SignalTimedOut,
    SignalWaiting,
    WaitSkipped,
)

__all__ = [
    "EVENTS",
    "BranchForked",
    "BranchJoined",
    "Event",
    "Fact",
    "GateChecked",
    "HumanAnswered",
    "HumanTimedOut",
    "HumanWaiting",
    "LoopDone",
    "LoopIterationDone",
    "LoopIterationFailed",
    "LoopStarted",
    "NextEvaluated",
    "RunCancelled",
    "RunCompensating",
    "RunDone",
    "RunFailed",
    "RunPaused",
    "RunRequested",
    "RunResumed",
    "RunStarted",
    "SignalReceived",
    "SignalTimedOut",
    "SignalWaiting",
    "StepDone",
    "StepFailed",
    "StepRedelivered",
    "StepRefused",
    "StepScheduled",
    "StepSkipped",
    "StepStarted",
    "TaskHeld",
    "TaskProcessed",
    "TaskRetryExhausted",
    "TaskRetryScheduled",
    "TaskStarted",
    "WaitSkipped",
    "row_of",
    "to_row",
]

Event: TypeAlias = (
    RunRequested
    | RunStarted
    | RunPaused
    | RunResumed
    | RunCompensating
    | RunDone
    | RunFailed
    | RunCancelled
    | StepScheduled
    | StepRefused
    | StepStarted
    | StepDone
    | StepFailed
    | StepSkipped
    | StepRedelivered
    | TaskStarted
    | TaskHeld
    | TaskProcessed
    | TaskRetryScheduled
    | TaskRetryExhausted
    | LoopStarted
    | LoopIterationDone
    | LoopIterationFailed
    | LoopDone
    | NextEvaluated
    | GateChecked
    | BranchForked
    | BranchJoined
    | HumanWaiting
    | HumanAnswered
    | HumanTimedOut
    | SignalWaiting
    | SignalReceived
    | SignalTimedOut
    | WaitSkipped
)

EVENTS: dict[str, type[Fact]] = {kind.name: kind for kind in get_args(Event)}
