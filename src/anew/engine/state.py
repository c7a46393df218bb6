"""What is true of a run now: the shape of the fold, and the moves it allows.

Two tables hold every legal move; a pair that is absent is illegal and means a bug of ours.
`engine.fold` applies events to this; nothing else may change it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import final, get_args

from msgspec import Struct, field

from anew.engine import events as e
from anew.engine.causes import Cause
from anew.engine.results import Compensable, Compensation, StepResult
from anew.guards.state import HeldCall
from anew.program.policy import DirectiveKind, TimeoutAction, Verdict
from anew.values import Object, Value


class RunStatus(StrEnum):
    NEW = "new"
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StepRunStatus(StrEnum):
    SCHEDULED = "scheduled"  # handed out, not yet taken by a worker
    READY = "ready"  # between tasks: the next one may start
    EXECUTING = "executing"  # a task is at work
    DECIDED = "decided"  # an outcome is in, the directive is known
    DELAYED = "delayed"  # waits for the due time of a retry
    ASKING = "asking"  # waits for a person
    AWAITING = "awaiting"  # waits for a signal
    HELD = "held"  # a guard lets its call begin later
    ANSWERED = "answered"  # what it waited for is there; whoever takes it goes on
    ENDED = "ended"


# Only someone outside can end these before their time.
FOR_OTHERS = frozenset({StepRunStatus.ASKING, StepRunStatus.AWAITING})
FINAL = frozenset({RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED})

# What happens in a run, not to it as a whole: legal as long as the run is under way.
_PROGRESS: tuple[type[e.Fact], ...] = tuple(
    kind for kind in get_args(e.Event) if not kind.name.startswith("run.")
)

RUN_TRANSITIONS: dict[tuple[RunStatus, type[e.Fact]], RunStatus] = {
    (RunStatus.NEW, e.RunRequested): RunStatus.QUEUED,
    (RunStatus.QUEUED, e.RunStarted): RunStatus.RUNNING,
    (RunStatus.QUEUED, e.RunCancelled): RunStatus.CANCELLED,
    (RunStatus.RUNNING, e.RunPaused): RunStatus.PAUSED,
    (RunStatus.RUNNING, e.RunDone): RunStatus.DONE,
    (RunStatus.RUNNING, e.RunFailed): RunStatus.FAILED,
    (RunStatus.RUNNING, e.RunCancelled): RunStatus.CANCELLED,
    (RunStatus.WAITING, e.RunPaused): RunStatus.PAUSED,
    (RunStatus.WAITING, e.RunCancelled): RunStatus.CANCELLED,
    (RunStatus.WAITING, e.RunDone): RunStatus.DONE,
    (RunStatus.WAITING, e.RunFailed): RunStatus.FAILED,
    (RunStatus.PAUSED, e.RunPaused): RunStatus.PAUSED,  # the log it shares was cut in a pause
    (RunStatus.PAUSED, e.RunResumed): RunStatus.RUNNING,
    (RunStatus.PAUSED, e.RunCancelled): RunStatus.CANCELLED,
    # Whoever cancels a paused run wants it undone now.
    (RunStatus.RUNNING, e.RunCompensating): RunStatus.RUNNING,
    (RunStatus.WAITING, e.RunCompensating): RunStatus.RUNNING,
    (RunStatus.PAUSED, e.RunCompensating): RunStatus.RUNNING,
    # Whether it runs or waits for someone outside, the fold tells from what is live.
    **{(RunStatus.RUNNING, kind): RunStatus.RUNNING for kind in _PROGRESS},
    **{(RunStatus.WAITING, kind): RunStatus.RUNNING for kind in _PROGRESS},
    # A paused run starts nothing new, but what is at work may still report.
    **{(RunStatus.PAUSED, kind): RunStatus.PAUSED for kind in _PROGRESS},
}

STEP_RUN_TRANSITIONS: dict[tuple[StepRunStatus, type[e.Fact]], StepRunStatus] = {
    (StepRunStatus.SCHEDULED, e.StepStarted): StepRunStatus.READY,
    (StepRunStatus.SCHEDULED, e.StepSkipped): StepRunStatus.ENDED,
    # The iterations of a loop have no `step.started` of their own.
    (StepRunStatus.SCHEDULED, e.TaskStarted): StepRunStatus.EXECUTING,
    # The step's deadline passed before the iteration's turn came.
    (StepRunStatus.SCHEDULED, e.LoopIterationFailed): StepRunStatus.ENDED,
    (StepRunStatus.READY, e.LoopIterationFailed): StepRunStatus.ENDED,
    (StepRunStatus.READY, e.TaskStarted): StepRunStatus.EXECUTING,
    (StepRunStatus.READY, e.LoopStarted): StepRunStatus.ENDED,
    # A loop whose source is no list ends before it has iterations; so does a step too late.
    (StepRunStatus.READY, e.StepFailed): StepRunStatus.ENDED,
    (StepRunStatus.EXECUTING, e.TaskProcessed): StepRunStatus.DECIDED,
    (StepRunStatus.EXECUTING, e.StepRedelivered): StepRunStatus.READY,
    # Given up after too many lost workers.
    (StepRunStatus.EXECUTING, e.StepFailed): StepRunStatus.ENDED,
    (StepRunStatus.EXECUTING, e.LoopIterationFailed): StepRunStatus.ENDED,
    (StepRunStatus.DECIDED, e.TaskStarted): StepRunStatus.EXECUTING,
    (StepRunStatus.DECIDED, e.TaskRetryScheduled): StepRunStatus.DELAYED,
    (StepRunStatus.DECIDED, e.TaskRetryExhausted): StepRunStatus.DECIDED,
    (StepRunStatus.DECIDED, e.StepDone): StepRunStatus.ENDED,
    (StepRunStatus.DECIDED, e.StepFailed): StepRunStatus.ENDED,
    (StepRunStatus.DECIDED, e.LoopIterationDone): StepRunStatus.ENDED,
    (StepRunStatus.DECIDED, e.LoopIterationFailed): StepRunStatus.ENDED,
    (StepRunStatus.DELAYED, e.TaskStarted): StepRunStatus.EXECUTING,
    # Its executions or its time are used up, so nothing is left to wait for.
    (StepRunStatus.DELAYED, e.StepFailed): StepRunStatus.ENDED,
    (StepRunStatus.DELAYED, e.LoopIterationFailed): StepRunStatus.ENDED,
    (StepRunStatus.EXECUTING, e.HumanWaiting): StepRunStatus.ASKING,
    (StepRunStatus.ASKING, e.HumanAnswered): StepRunStatus.ANSWERED,
    (StepRunStatus.ASKING, e.HumanTimedOut): StepRunStatus.ANSWERED,
    (StepRunStatus.ASKING, e.StepFailed): StepRunStatus.ENDED,
    (StepRunStatus.ASKING, e.LoopIterationFailed): StepRunStatus.ENDED,
    (StepRunStatus.EXECUTING, e.SignalWaiting): StepRunStatus.AWAITING,
    (StepRunStatus.AWAITING, e.SignalReceived): StepRunStatus.ANSWERED,
    (StepRunStatus.AWAITING, e.SignalTimedOut): StepRunStatus.ANSWERED,
    (StepRunStatus.AWAITING, e.StepFailed): StepRunStatus.ENDED,
    (StepRunStatus.AWAITING, e.LoopIterationFailed): StepRunStatus.ENDED,
    (StepRunStatus.ANSWERED, e.TaskProcessed): StepRunStatus.DECIDED,
    # Its moment is now: whoever takes the step-run next goes on with it.
    (StepRunStatus.DELAYED, e.WaitSkipped): StepRunStatus.DELAYED,
    (StepRunStatus.DECIDED, e.WaitSkipped): StepRunStatus.DECIDED,
    (StepRunStatus.EXECUTING, e.WaitSkipped): StepRunStatus.EXECUTING,
    # A guard holds the call: whatever it was at, it goes on from there.
    (StepRunStatus.SCHEDULED, e.TaskHeld): StepRunStatus.HELD,
    (StepRunStatus.READY, e.TaskHeld): StepRunStatus.HELD,
    (StepRunStatus.DECIDED, e.TaskHeld): StepRunStatus.HELD,
    (StepRunStatus.DELAYED, e.TaskHeld): StepRunStatus.HELD,
    (StepRunStatus.HELD, e.TaskHeld): StepRunStatus.HELD,
    (StepRunStatus.HELD, e.TaskStarted): StepRunStatus.EXECUTING,
    (StepRunStatus.HELD, e.StepFailed): StepRunStatus.ENDED,
    (StepRunStatus.HELD, e.LoopIterationFailed): StepRunStatus.ENDED,
}


class StepRunKey(Struct, frozen=True, gc=False):
    """Names one step-run: a visit of a step, or one iteration of it."""

    step: str
    visit: int
    iteration: int | None = None

    @property
    def text(self) -> str:
        return f"{self.step}:{self.visit}:{self.iteration}"


def key_of(event: e.Fact) -> StepRunKey:
    """The step-run an event belongs to."""
    return StepRunKey(event.step or "", event.visit or 0, event.iteration)


class GuardedCall(Struct, frozen=True, gc=False):
    """A call that is at work under guards, or held by one, and the scopes that know it."""

    key: StepRunKey
    dependency: str
    scopes: tuple[str, ...]


class Origin(Struct, frozen=True, gc=False):
    """Where a token comes from: the step it left, and `via` what, when not by an arc.

    `outcome` is that step's, where the next one reads it. `cause` is the failure it deals with.
    """

    step: str | None = None
    via: str | None = None
    outcome: Object | None = None
    cause: Cause | None = None


NO_ORIGIN = Origin()


class Token(Struct, gc=False):
    """Waits to enter a step. `refused_at` is the epoch in which the gate said no."""

    id: int
    step: str
    args: Object
    born: int
    refused_at: int | None = None
    origin: Origin = NO_ORIGIN
    branch: int | None = None


class Question(Struct, frozen=True):
    """A question to a person, and what happens at its deadline."""

    text: str
    choices: list[str]
    action: TimeoutAction
    default: str | None = None
    deadline: int | None = None


class AwaitedSignal(Struct, frozen=True):
    """The signal a step-run waits for, and until when."""

    signal: str
    deadline: int | None = None


class KeptSignal(Struct, frozen=True):
    """A signal that came before anyone waited for it, and how long it is as JSON.

    `seq` is that of its event.
    """

    seq: int
    payload: Value
    chars: int = 0


class SignalBuffer(Struct, gc=False):
    """What came for a run under one name: the signals that wait for a wait, and all ids."""

    kept: list[KeptSignal] = field(default_factory=list)  # oldest first
    chars: int = 0  # of their payloads
    ids: dict[str, int] = field(default_factory=dict)  # of all that came, with their seq


class OutcomeSummary(Struct, frozen=True, gc=False):
    """What an outcome said beside its result; arcs read it."""

    verdict: Verdict
    word: str | None = None
    label: str | None = None
    suggested: tuple[str, ...] = ()


SUCCESS = OutcomeSummary(Verdict.SUCCESS)


class StepRun(Struct, tag="step-run", gc=False):
    """Where one execution of a pipeline stands. `scratch` is its `iter`."""

    key: StepRunKey
    args: Object
    scratch: Object
    status: StepRunStatus = StepRunStatus.SCHEDULED
    began_at: int = 0  # when the visit started: what a deadline counts from
    keeps_ctx: bool = False  # parallel iterations keep what they set in ctx to themselves
    own_ctx: Object = field(default_factory=dict)
    task: str | None = None
    attempt: int = 0
    task_visit: int = 0
    started_seq: int = 0  # names the execution that may report
    inputs: Value = None
    workbook: str | None = None  # the workbook's task that is executed in its place
    executions: int = 0
    # By task and rule: how often, and when first.
    jumps: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    executions_of: dict[str, int] = field(default_factory=dict)
    first_at: int = 0
    started_at: int = 0
    asked_at: int = 0  # when this attempt was first started, however many workers it takes
    asked_seq: int = 0  # the event that says so
    resume_at: int | None = None
    skipped_at: int | None = None  # when someone ended the wait of this attempt, or before it
    previous_seconds: float | None = None
    directive: DirectiveKind | None = None
    to: str | None = None
    error: Object | None = None
    last: Value = None
    prev: Value = None
    labels: Object = field(default_factory=dict)
    local: Object | None = None  # what its tasks set under bare names
    helpers: Object | None = None  # of the last outcome: `http`, `pg`, …
    deliveries: int = 1
    is_lost: bool = False  # its worker died in the middle of a task, which will be executed again
    origin: Origin = NO_ORIGIN
    branch: int | None = None
    summary: OutcomeSummary = SUCCESS
    redirect: str | None = None  # the step by way of which the next execution comes
    question: Question | None = None
    answer: str | None = None
    chosen: str | None = None  # the label the answer means
    answered_by: str | None = None
    awaited: AwaitedSignal | None = None
    payload: Value = None  # of the signal that came
    held: HeldCall | None = None
    scopes: tuple[str, ...] = ()  # of the guards under which its call is at work
    dependency: str | None = None
    took: float = 0.0  # from a retry budget, by the retry that led to this attempt
    owes: float = 0.0  # to a retry budget, before the retry begins
    cooled: int = 0  # attempts of this visit that ended in a wait of all calls
    compensates: Compensable | None = None  # what it undoes


def place_of(run: StepRun) -> Object:
    """Where an event about the step-run's task stands in the log, as its fields."""
    return {
        "step": run.key.step,
        "visit": run.key.visit,
        "iteration": run.key.iteration,
        "task": run.task,
        "attempt": run.attempt,
    }


@final
class LoopVisit(Struct, tag="loop", gc=False):
    """The iterations of one visit: which are open, how the others ended."""

    key: StepRunKey
    args: Object
    items: list[Value]
    iterator: str
    is_parallel: bool
    max_in_flight: int
    results: list[Value]
    began_at: int = 0
    next_index: int = 0
    done: int = 0
    failed: int = 0
    first_failed: int | None = None
    first_error: Object | None = None
    open: dict[int, StepRun] = field(default_factory=dict)
    result: Object | None = None
    kept_ctx: dict[int, Object] = field(default_factory=dict)
    origin: Origin = NO_ORIGIN
    branch: int | None = None


class RepeatedFailure(Struct, frozen=True):
    """How often in a row a step has ended with the very same final error."""

    signature: str
    times: int


class Rescued(Struct, frozen=True):
    """The fallback `step` took up a failure that it has not led on from yet."""

    step: str
    error: Object | None


class Branch(Struct, gc=False):
    """One of several parallel ways: its own ctx and counters, and what it wrote.

    `live` counts its tokens, visits and open groups; `has_ended` once it is at the join, or failed.
    """

    id: int
    name: str
    group: int
    ctx: Object
    written: Object = field(default_factory=dict)
    retries: dict[str, int] = field(default_factory=dict)
    verdicts: dict[str, str] = field(default_factory=dict)
    unmet_gates: set[str] = field(default_factory=set)
    repeated: dict[str, RepeatedFailure] = field(default_factory=dict)
    summary: OutcomeSummary = SUCCESS
    error: Object | None = None
    live: int = 0
    has_begun: bool = False
    has_ended: bool = False


class BranchGroup(Struct, gc=False):
    """Branches that meet at `join`. `ended` has them in the order they came to their end."""

    id: int
    step: str
    join: str
    parent: int | None
    width: int | None
    branches: list[int]
    ended: list[int] = field(default_factory=list)


class RunState(Struct, gc=False):
    """`epoch` counts ctx changes and step ends: a refused token is asked again when it moved."""

    run: str = ""
    file: str | None = None
    status: RunStatus = RunStatus.NEW
    version: int = 0
    workload: Object = field(default_factory=dict)
    ctx: Object = field(default_factory=dict)
    tokens: dict[int, Token] = field(default_factory=dict)
    tokens_made: int = 0
    visits: dict[str, int] = field(default_factory=dict)
    active: dict[tuple[str, int], StepRun | LoopVisit] = field(default_factory=dict)
    live: dict[str, int] = field(default_factory=dict)
    results: dict[str, StepResult] = field(default_factory=dict)
    last_result: Value = None
    epoch: int = 0
    failure: Object | None = None
    cause: Cause | None = None  # the failure that the step with `failure` dealt with
    passed_on: Cause | None = None  # of the visit that ended last, for the tokens it leads to
    is_stopping: bool = False
    began_at: int = 0
    entry: str | None = None  # where it began, when not at the program's entry
    generation: int = 0
    shared_until: int = 0  # the last event that is another run's, too
    steps_begun: int = 0
    asking: int = 0  # step-runs that wait for a person or a signal
    signal_buffers: dict[str, SignalBuffer] = field(
        default_factory=dict
    )  # by signal, those that hold something
    retries: dict[str, int] = field(default_factory=dict)  # by step, where visits share a budget
    redirects: dict[str, int] = field(default_factory=dict)  # by gate
    verdicts: dict[str, str] = field(default_factory=dict)  # by step, latest last
    unmet_gates: set[str] = field(default_factory=set)  # whose condition did not hold at last
    repeated: dict[str, RepeatedFailure] = field(default_factory=dict)
    arcs_taken: dict[str, int] = field(default_factory=dict)  # of arcs that are counted
    rescued: Rescued | None = None
    branch_groups: dict[int, BranchGroup] = field(default_factory=dict)
    branch_groups_made: int = 0
    branches: dict[int, Branch] = field(default_factory=dict)
    branches_made: int = 0
    guarded: dict[str, GuardedCall] = field(default_factory=dict)  # by the text of their key
    compensable: list[Compensable] = field(default_factory=list)  # in the order they ended
    compensation: Compensation | None = None  # while what was done is undone

    def ctx_owner(self, branch: int | None) -> RunState | Branch:
        """Whose ctx, retries and verdicts count in a branch; the run's own outside of all."""
        return self if branch is None else self.branches[branch]

    @property
    def is_final(self) -> bool:
        return self.status in FINAL

    def verdicts_in(self, branch: int | None) -> dict[str, str]:
        """How the steps went that a branch knows of: its own, and those around and before it."""
        if branch is None:
            return self.verdicts
        known = self.branches[branch]
        return self.verdicts_in(self.branch_groups[known.group].parent) | known.verdicts

    def live_step_runs(self) -> list[StepRun]:
        """Every step-run that has not ended, the open iterations of loops among them."""
        found: list[StepRun] = []
        for visit in self.active.values():
            found.extend(visit.open.values() if isinstance(visit, LoopVisit) else (visit,))
        return found

    def step_run(self, key: StepRunKey) -> StepRun | None:
        """The step-run `key` names, while it is live."""
        visit = self.active.get((key.step, key.visit))
        # Asked often, and `isinstance` is slow where the answer is no.
        if type(visit) is LoopVisit:
            return visit.open.get(key.iteration) if key.iteration is not None else None
        return visit
