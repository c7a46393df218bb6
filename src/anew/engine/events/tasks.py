"""Executions of tasks, what was decided about their outcomes, and the iterations of loops."""

# Annotations are not texts here: see `engine.events.fact`.
from typing import Any, ClassVar

from anew.engine.events.fact import Fact
from anew.engine.events.words import RetryLimit
from anew.engine.outcome import Outcome
from anew.program.guards import GuardKey
from anew.program.policy import DirectiveKind, Verdict
from anew.program.program import LoopMode
from anew.program.retry import BackoffKind, JitterKind
from anew.values import Object, Value


class TaskStarted(Fact):
    """One execution of a task begins, with these inputs.

    `task_visit` counts how often the step-run has come to a task; all attempts of one visit share
    it, and with the event's place it makes the idempotency key. `workbook` names the task of the
    workbook that is executed here; the inputs are then that task's. `warnings` tell what is odd
    about the inputs and did not stop them. A call that guards let begin counts as one to its
    `dependency`, in these `scopes`; `reason` says how long what had held it. `paid` is what a retry
    took from a budget only now.
    """

    name: ClassVar[str] = "task.started"
    task_visit: int
    inputs: Value = None
    workbook: str | None = None
    warnings: tuple[str, ...] = ()
    draws: list[float] = []
    dependency: str | None = None
    scopes: tuple[str, ...] = ()
    reason: str | None = None
    paid: float | None = None


class TaskHeld(Fact):
    """A call may not begin yet: a `guard` of its `dependency` holds it, for this `reason`.

    `until` is a moment, where one is known, and `behind` how many come first. It waits in the queue
    of a `scope`: a name, or one above it. Told again when another guard or another moment holds it.
    """

    name: ClassVar[str] = "task.held"
    guard: GuardKey
    dependency: str
    reason: str
    scope: str
    until: int | None = None
    behind: int | None = None
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
    directive: DirectiveKind
    rule: int | None = None
    rule_name: str | None = None
    to: str | None = None
    error: Object | None = None
    verdict: Verdict | None = None
    patches: Object = {}
    delay_seconds: float | None = None
    not_before: int | None = None
    draws: list[float] = []


class TaskRetryScheduled(Fact):
    """The whole decision to execute again: `attempt` is the one that just ended.

    `count` is the how-manieth retry of the step this is, where its visits share one budget; `to` is
    the step by way of which the next execution comes. `backoff_row` is the error kind (or
    `default`) under which the task's `backoff` has this delay, `entry` its number in a list.
    `took` is what it cost a retry budget, `owes` what it has to pay there before its call. One that
    `cools` waits as all calls to its dependency do, and costs no attempt.
    """

    name: ClassVar[str] = "task.retry_scheduled"
    rule: int
    backoff: BackoffKind
    base_seconds: float
    jitter: JitterKind | float
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
    backoff_row: str | None = None
    entry: int | None = None
    took: float | None = None
    owes: float | None = None
    cools: bool = False


class TaskRetryExhausted(Fact):
    """A retry rule matched, but its attempts, its time or a retry budget are spent.

    `directive` follows.
    """

    name: ClassVar[str] = "task.retry_exhausted"
    rule: int
    attempts: int
    reason: RetryLimit
    directive: DirectiveKind
    to: str | None = None
    error: Object | None = None
    verdict: Verdict | None = None
    patches: Object = {}
    delay_seconds: float | None = None
    not_before: int | None = None
    draws: list[float] = []


class LoopStarted(Fact):
    """The loop's source yielded these items."""

    name: ClassVar[str] = "loop.started"
    items: list[Any]
    iterator: str
    mode: LoopMode
    max_in_flight: int
    draws: list[float] = []


class LoopIterationDone(Fact):
    """One iteration's step-run ended well. `compensable` is as in `step.done`."""

    name: ClassVar[str] = "loop.iteration.done"
    compensable: bool = False


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
