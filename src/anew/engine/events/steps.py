"""Visits of steps: how they begin and end, and the ways, gates and branches between them."""

# Annotations are not texts here: see `engine.events.fact`.
from typing import ClassVar

from anew.engine.events.fact import Fact
from anew.engine.events.words import FailureEffect, RouteReason
from anew.program.policy import Verdict
from anew.program.program import JoinPolicy, RouteMode
from anew.values import Object


class StepScheduled(Fact):
    """A visit begins: these tokens were let in and merged, and a step-run is handed out.

    `branch` is the one of a fork that the visit belongs to. A visit that undoes another, or an
    iteration of it, `compensates` the event with that number, which ended it.
    """

    name: ClassVar[str] = "step.scheduled"
    tokens: list[int]
    args: Object
    branch: int | None = None
    compensates: int | None = None


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
    last result as it was. `gate` is whether the condition of a goal gate holds now. `compensable`:
    the step says how to undo it, should the run fail.
    """

    name: ClassVar[str] = "step.done"
    verdict: Verdict | None = None
    relays: bool = False
    gate: bool | None = None
    compensable: bool = False


class StepFailed(Fact):
    """The visit ended with this error.

    `handled`: something takes it from here. Otherwise the run will fail, at once (`fail_fast`) or
    when the other branches have ended (`best_effort`); or the `branch` of its fork ends failed.
    `verdict` is what the step itself amounted to, when it did well and only found no way on. `gate`
    is whether the condition of a goal gate holds all the same.
    """

    name: ClassVar[str] = "step.failed"
    error: Object
    handled: bool
    failure_mode: FailureEffect | None = None
    verdict: Verdict | None = None
    gate: bool | None = None

    @property
    def fails_run(self) -> bool:
        """Of several that do, the error of the first is the run's."""
        return not self.handled and self.failure_mode is not FailureEffect.BRANCH


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


class NextEvaluated(Fact):
    """The router looked at arcs on a boundary event: each verdict, and the tokens made.

    `reason` is why this way was taken: a word of `RouteReason`. A token is
    `{id, to, args}`, and where it has them `via` (how it came about, when not by an arc), `branch`,
    `arc` (its number, when the run may take it only so often) and `outcome` (of the step it
    leaves, when the next one reads that). `fails_run`: there is no way on, and `error` is why.
    `branch` is the one of a fork that the visit belonged to. `patches` is what the step's `set` and
    those of the chosen arcs write, before there are tokens.
    """

    name: ClassVar[str] = "next.evaluated"
    event: str
    mode: RouteMode
    arcs: list[Object]
    tokens: list[Object]
    handled: bool = False
    reason: RouteReason | None = None
    fails_run: bool = False
    branch: int | None = None
    error: Object | None = None
    patches: Object = {}
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
    policy: JoinPolicy | None = None
    verdict: Verdict | None = None
    written: Object = {}
    cancelled: list[str] = []
    error: Object | None = None
