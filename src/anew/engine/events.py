"""Everything that can happen in a run: a closed union of facts, one class each.

An event is written once and never changed. What the fold, the views and the lab need is in here;
nothing is decided from anything else.
"""

# Annotations are not texts here: msgspec would compile each of them, 20 µs a field, in every
# process that reads a log.
from typing import Any, ClassVar, TypeAlias

from msgspec import Struct, to_builtins

from anew.engine.moments import moment_text
from anew.engine.outcome import Outcome
from anew.values import Object, Value


# What a log holds is JSON, which has no cycles: the garbage collector need not look for any in
# facts, states and outcomes (`gc=False`), of which a busy process holds most of its objects.
class Fact(Struct, kw_only=True, omit_defaults=True, gc=False):
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

    `file` is where the document was; its relative files are found beside it. `dialect` is the one
    the document was read in. `entry` is where a run begins that takes the place of another
    (`continues`), the `generation`-th of its line.
    """

    name: ClassVar[str] = "run.requested"
    run: str
    program: str
    digest: str
    workload: Object
    file: str | None = None
    dialect: str | None = None
    entry: str | None = None
    continues: str | None = None
    generation: int = 0


class RunStarted(Fact):
    """The run left the queue; its entry step gets the first token.

    `workload_is_ctx`: ctx starts as the workload, not empty.
    """

    name: ClassVar[str] = "run.started"
    entry: str
    workload_is_ctx: bool = False


class RunPaused(Fact):
    """No new task starts until the run is resumed; one at work goes on to its outcome.

    `shared_with` names the run whose beginning this log shares: the events up to here are its.
    `decided_by` is the digest of the program that decided them, where they do not follow from the
    program and the workload of this log. `later_by` is by how much (nanoseconds)
    limits of time and sleeps are moved, so that they have left what they had at that event; 0 where
    the run goes on from where the other stands. What was at work is started with inputs that are
    rendered anew.
    """

    name: ClassVar[str] = "run.paused"
    reason: str | None = None
    shared_with: str | None = None
    decided_by: str | None = None
    later_by: int | None = None


class RunResumed(Fact):
    """A paused run goes on."""

    name: ClassVar[str] = "run.resumed"


class RunDone(Fact):
    """No token is left and no failure went unhandled."""

    name: ClassVar[str] = "run.done"
    result: Value = None


class RunFailed(Fact):
    """A failure nobody handled ended the run; `error` is that step's.

    `unsatisfied` names the gates that were not met.
    """

    name: ClassVar[str] = "run.failed"
    error: Object
    unsatisfied: list[str] = []


class RunCancelled(Fact):
    """Someone ended the run."""

    name: ClassVar[str] = "run.cancelled"
    reason: str | None = None


class StepScheduled(Fact):
    """A visit begins: these tokens were let in and merged, and a step-run is handed out.

    `branch` is the one of a fork that the visit belongs to.
    """

    name: ClassVar[str] = "step.scheduled"
    tokens: list[int]
    args: Object
    branch: int | None = None


class StepRefused(Fact):
    """A token the gate never let in was dropped, because nothing else could move."""

    name: ClassVar[str] = "step.refused"
    token: int


class StepStarted(Fact):
    """A worker took the step-run; for a loop, its first iterations open."""

    name: ClassVar[str] = "step.started"


class StepDone(Fact):
    """The visit ended well; its result is that of its last task, or the loop's.

    `verdict` says so where it is less than a success. A step that only `relays` leaves the run's
    last result as it was.
    """

    name: ClassVar[str] = "step.done"
    verdict: str | None = None
    relays: bool = False


class StepFailed(Fact):
    """The visit ended with this error.

    `handled`: something takes it from here. Otherwise the run will fail, at once (`fail_fast`) or
    when the other branches have ended (`best_effort`); or the `branch` of its fork ends failed.
    `verdict` is what the step itself amounted to, when it did well and only found no way on.
    """

    name: ClassVar[str] = "step.failed"
    error: Object
    handled: bool
    failure_mode: str | None = None
    verdict: str | None = None


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
    workbook that is executed here; the inputs are then that task's. `warnings` tell what is odd
    about the inputs and did not stop them.
    """

    name: ClassVar[str] = "task.started"
    task_visit: int
    inputs: Value = None
    workbook: str | None = None
    warnings: tuple[str, ...] = ()
    draws: list[float] = []


class TaskProcessed(Fact):
    """The execution gave `outcome`; the policy answered with `directive`.

    `rule` counts from 1 and is None when no rule matched; `rule_name` is the author's word for it
    where the document has one (`retry_when`). `error` is set when deciding itself
    failed (an expression). A jump with a delay carries `delay_seconds` and `not_before`.
    `verdict` takes the place of the outcome's own.
    """

    name: ClassVar[str] = "task.processed"
    outcome: Outcome
    directive: str
    rule: int | None = None
    rule_name: str | None = None
    to: str | None = None
    error: Object | None = None
    verdict: str | None = None
    patches: Object = {}
    delay_seconds: float | None = None
    not_before: int | None = None
    draws: list[float] = []


class TaskRetryScheduled(Fact):
    """The whole decision to execute again: `attempt` is the one that just ended.

    `count` is the how-manieth retry of the step this is, where its visits share one budget; `to` is
    the step by way of which the next execution comes.
    """

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
    count: int | None = None
    to: str | None = None


class TaskRetryExhausted(Fact):
    """A retry rule matched but its attempts (or its time) are spent; `directive` follows."""

    name: ClassVar[str] = "task.retry_exhausted"
    rule: int
    attempts: int
    reason: str
    directive: str
    to: str | None = None
    error: Object | None = None
    verdict: str | None = None
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
    """The router looked at arcs on a boundary event: each verdict, and the tokens made.

    `reason` is why this way was taken: a word of `engine.router.Reason`. A token is
    `{id, to, args}`, and where it has them `via` (how it came about, when not by an arc), `branch`,
    `arc` (its number, when the run may take it only so often) and `outcome` (of the step it
    leaves, when the next one reads that). `fails_run`: there is no way on, and `error` is why.
    `branch` is the one of a fork that the visit belonged to.
    """

    name: ClassVar[str] = "next.evaluated"
    event: str
    mode: str
    arcs: list[Object]
    tokens: list[Object]
    handled: bool = False
    reason: str | None = None
    fails_run: bool = False
    branch: int | None = None
    error: Object | None = None
    draws: list[float] = []


class GateChecked(Fact):
    """The admission gate of a step was asked for these tokens.

    At an exit (it has a `visit` then) the gates of the run were asked: `goals` has the verdict of
    each, `pending` where there is none; the first that is not satisfied (`gate`) sends the run `to`
    another step, or ends it. `redirects` counts how often it did, `count` the retries of the gate's
    step where they share one budget.
    """

    name: ClassVar[str] = "gate.checked"
    tokens: list[int]
    allow: bool
    rule: int | None = None
    goals: dict[str, str] = {}
    unsatisfied: list[str] = []
    gate: str | None = None
    to: str | None = None
    redirects: int | None = None
    count: int | None = None
    error: Object | None = None
    draws: list[float] = []


class BranchForked(Fact):
    """One visit's end made several tokens.

    With a `fork` each is a branch of its own: `branches` has their ids and names, in the order of
    `tokens`, and they meet at the step `join`. `parent` is the branch the fork stands in.
    """

    name: ClassVar[str] = "branch.forked"
    tokens: list[int]
    fork: int | None = None
    join: str | None = None
    parent: int | None = None
    width: int | None = None
    branches: list[Object] = []


class BranchJoined(Fact):
    """Several tokens merged into one visit.

    With a `fork` its branches have done enough: `verdict` is what they amount to, `written` is
    merged into ctx, and the `cancelled` ones are stopped. How each of them ended is in the `args`
    of the visit that begins; without a `visit` the branch around the fork ends here as well.
    """

    name: ClassVar[str] = "branch.joined"
    tokens: list[int]
    fork: int | None = None
    policy: str | None = None
    verdict: str | None = None
    written: Object = {}
    cancelled: list[str] = []
    error: Object | None = None


class HumanWaiting(Fact):
    """A task asks a person; the answer is its outcome.

    Without `choices` any text is an answer. `action` is what happens at the `deadline`; `default`
    is the choice that is then made.
    """

    name: ClassVar[str] = "human.waiting"
    question: str
    choices: list[str] = []
    deadline: int | None = None
    action: str | None = None
    default: str | None = None


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
    label: str | None = None


class SignalWaiting(Fact):
    """A task waits for a signal from outside."""

    name: ClassVar[str] = "signal.waiting"
    signal: str
    deadline: int | None = None


class SignalReceived(Fact):
    """A signal came; its payload is the result of the task that waited for it.

    Without a step nobody waits for it yet: it is kept. When a task takes it up, this is written
    once more at the task's place, and `kept` is the sequence number of the event that has the rest.
    `id` tells a signal that is sent again from the next one; `by` is whoever sent it.
    """

    name: ClassVar[str] = "signal.received"
    signal: str
    payload: Value = None
    id: str | None = None
    by: str | None = None
    kept: int | None = None


class SignalTimedOut(Fact):
    """The signal did not come by the deadline."""

    name: ClassVar[str] = "signal.timed_out"
    signal: str


class WaitSkipped(Fact):
    """Someone ended a wait for a moment, which would have lasted until `not_before`.

    `waited_for` is `retry` or `jump` (what was delayed starts now; `attempt` is the one that ended
    before), or `sleep` (the task ends now). `by` is whoever wanted it.
    """

    name: ClassVar[str] = "wait.skipped"
    waited_for: str
    not_before: int | None = None
    by: str | None = None


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
    | WaitSkipped
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
