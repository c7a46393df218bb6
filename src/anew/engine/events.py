"""Everything that can happen in a run: a closed union of facts, one class each.

An event is written once and never changed. What the fold, the views and the lab need is in here;
nothing is decided from anything else.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

from msgspec import Struct, to_builtins

from anew.engine.moments import moment_text
from anew.engine.outcome import Outcome
from anew.values import Object, Value


class Fact(Struct, kw_only=True, omit_defaults=True):
    """Where and when. `seq` is gap-free from 1; `at` is nanoseconds since 1970, UTC."""

    name: ClassVar[str]

    seq: int = 0
    at: int = 0
    step: str | None = None
    visit: int | None = None
    iteration: int | None = None
    task: str | None = None
    attempt: int | None = None


class RunRequested(Fact):
    """Someone asked for a run of this program with this workload.

    `file` is where the document was; its relative files are found beside it.
    """

    name: ClassVar[str] = "run.requested"
    run: str
    program: str
    digest: str
    workload: Object
    file: str | None = None


class RunStarted(Fact):
    """The run left the queue; its entry step gets the first token."""

    name: ClassVar[str] = "run.started"
    entry: str


class RunPaused(Fact):
    """No new task starts until the run is resumed; one at work goes on to its outcome.

    `shared_with` names the run whose beginning this log shares: the events up to here are its.
    """

    name: ClassVar[str] = "run.paused"
    reason: str | None = None
    shared_with: str | None = None


class RunResumed(Fact):
    """A paused run goes on."""

    name: ClassVar[str] = "run.resumed"


class RunDone(Fact):
    """No token is left and no failure went unhandled."""

    name: ClassVar[str] = "run.done"
    result: Value = None


class RunFailed(Fact):
    """A failure nobody handled ended the run; `error` is that step's."""

    name: ClassVar[str] = "run.failed"
    error: Object


class RunCancelled(Fact):
    """Someone ended the run."""

    name: ClassVar[str] = "run.cancelled"
    reason: str | None = None


class StepScheduled(Fact):
    """A visit begins: these tokens were let in and merged, and a step-run is handed out."""

    name: ClassVar[str] = "step.scheduled"
    tokens: list[int]
    args: Object


class StepRefused(Fact):
    """A token the gate never let in was dropped, because nothing else could move."""

    name: ClassVar[str] = "step.refused"
    token: int


class StepStarted(Fact):
    """A worker took the step-run; for a loop, its first iterations open."""

    name: ClassVar[str] = "step.started"


class StepDone(Fact):
    """The visit ended well; its result is that of its last task, or the loop's."""

    name: ClassVar[str] = "step.done"


class StepFailed(Fact):
    """The visit ended with this error.

    `handled`: an arc takes it from here. Otherwise the run will fail, at once (`fail_fast`) or
    when the other branches have ended (`best_effort`).
    """

    name: ClassVar[str] = "step.failed"
    error: Object
    handled: bool
    failure_mode: str | None = None


class StepSkipped(Fact):
    """A waiting token, or a visit no worker had taken yet, was dropped: the run is ending."""

    name: ClassVar[str] = "step.skipped"
    reason: str
    token: int | None = None


class StepRedelivered(Fact):
    """The step-run's worker was lost; another one goes on from the last outcome in the log.

    A worker that hands its work back has not died of it: `delivery` then stays as it was.
    """

    name: ClassVar[str] = "step.redelivered"
    delivery: int


class TaskStarted(Fact):
    """One execution of a task begins, with these inputs.

    `task_visit` counts how often the step-run has come to a task; all attempts of one visit share
    it, and with the event's place it makes the idempotency key. `workbook` names the task of the
    workbook that is executed here; the inputs are then that task's.
    """

    name: ClassVar[str] = "task.started"
    task_visit: int
    inputs: Value = None
    workbook: str | None = None
    draws: list[float] = []


class TaskProcessed(Fact):
    """The execution gave `outcome`; the policy answered with `directive`.

    `rule` counts from 1 and is None when no rule matched; `rule_name` is the author's word for it
    where the document has one (`retry_when`). `error` is set when deciding itself
    failed (an expression). A jump with a delay carries `delay_seconds` and `not_before`.
    """

    name: ClassVar[str] = "task.processed"
    outcome: Outcome
    directive: str
    rule: int | None = None
    rule_name: str | None = None
    to: str | None = None
    error: Object | None = None
    patches: Object = {}
    delay_seconds: float | None = None
    not_before: int | None = None
    draws: list[float] = []


class TaskRetryScheduled(Fact):
    """The whole decision to execute again: `attempt` is the one that just ended."""

    name: ClassVar[str] = "task.retry_scheduled"
    rule: int
    backoff: str
    base_seconds: float
    jitter: str | float
    draw: float | None
    cap_seconds: float | None
    retry_after_seconds: float | None
    spread_seconds: float
    delay_seconds: float
    not_before: int
    attempts: int
    last_error: str | None = None


class TaskRetryExhausted(Fact):
    """A retry rule matched but its attempts (or its time) are spent; `directive` follows."""

    name: ClassVar[str] = "task.retry_exhausted"
    rule: int
    attempts: int
    reason: str
    directive: str
    to: str | None = None
    error: Object | None = None
    patches: Object = {}
    delay_seconds: float | None = None
    not_before: int | None = None
    draws: list[float] = []


class LoopStarted(Fact):
    """The loop's source yielded these items."""

    name: ClassVar[str] = "loop.started"
    items: list[Any]
    iterator: str
    mode: str
    max_in_flight: int
    draws: list[float] = []


class LoopIterationDone(Fact):
    """One iteration's step-run ended well."""

    name: ClassVar[str] = "loop.iteration.done"


class LoopIterationFailed(Fact):
    """One iteration's step-run failed; the others go on."""

    name: ClassVar[str] = "loop.iteration.failed"
    error: Object


class LoopDone(Fact):
    """All iterations ended. What parallel ones set in ctx is applied here, in index order."""

    name: ClassVar[str] = "loop.done"
    total: int
    done: int
    failed: int


class NextEvaluated(Fact):
    """The router looked at arcs on a boundary event: each verdict, and the tokens made."""

    name: ClassVar[str] = "next.evaluated"
    event: str
    mode: str
    arcs: list[Object]
    tokens: list[Object]
    handled: bool = False
    error: Object | None = None
    draws: list[float] = []


class GateChecked(Fact):
    """The admission gate of a step was asked for these tokens."""

    name: ClassVar[str] = "gate.checked"
    tokens: list[int]
    allow: bool
    rule: int | None = None
    error: Object | None = None
    draws: list[float] = []


class BranchForked(Fact):
    """One visit's end made several tokens."""

    name: ClassVar[str] = "branch.forked"
    tokens: list[int]


class BranchJoined(Fact):
    """Several tokens merged into one visit."""

    name: ClassVar[str] = "branch.joined"
    tokens: list[int]


class HumanWaiting(Fact):
    """A task asks a person; the answer is its outcome."""

    name: ClassVar[str] = "human.waiting"
    question: str
    choices: list[str] = []
    deadline: int | None = None


class HumanAnswered(Fact):
    """A person answered, once."""

    name: ClassVar[str] = "human.answered"
    answer: str
    label: str | None = None
    by: str | None = None


class HumanTimedOut(Fact):
    """Nobody answered by the deadline; `action` is what the task said to do then."""

    name: ClassVar[str] = "human.timed_out"
    action: str


class SignalWaiting(Fact):
    """A task waits for a signal from outside."""

    name: ClassVar[str] = "signal.waiting"
    signal: str
    deadline: int | None = None


class SignalReceived(Fact):
    """The signal came; its payload is the task's result."""

    name: ClassVar[str] = "signal.received"
    signal: str
    payload: Value = None


class SignalTimedOut(Fact):
    """The signal did not come by the deadline."""

    name: ClassVar[str] = "signal.timed_out"
    signal: str


Event: TypeAlias = (
    RunRequested
    | RunStarted
    | RunPaused
    | RunResumed
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
)

EVENTS: dict[str, type[Fact]] = {kind.name: kind for kind in Fact.__subclasses__()}

_PLACE = frozenset(Fact.__struct_fields__)
_MOMENTS = ("not_before", "deadline")


def to_row(event: Fact) -> Object:
    """The event as every surface shows it: its place, and the rest under `data`."""
    data = {k: v for k, v in to_builtins(event).items() if k not in _PLACE}
    for key in _MOMENTS:
        if data.get(key) is not None:
            data[key] = moment_text(data[key])
    return row_of(event, event.name, data)


def row_of(event: Fact, name: str, data: Object) -> Object:
    """A row at the event's place, under this name and with this data."""
    return {
        "seq": event.seq,
        "at": moment_text(event.at),
        "name": name,
        "step": event.step,
        "visit": event.visit,
        "iteration": event.iteration,
        "task": event.task,
        "attempt": event.attempt,
        "data": data,
    }
