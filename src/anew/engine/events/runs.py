"""A run as a whole: requested, started, paused, resumed, ended."""

# Annotations are not texts here: see `engine.events.fact`.
from typing import ClassVar, TypeAlias

from anew.engine.events.fact import Fact
from anew.values import Object, Value


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

    `workload_is_ctx`: ctx starts as the workload, not empty. `ctx` is what the document says that
    it starts with. With an `error` that could not be rendered, and the run fails.
    """

    name: ClassVar[str] = "run.started"
    entry: str
    workload_is_ctx: bool = False
    ctx: Object = {}
    error: Object | None = None
    draws: list[float] = []


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


class RunCompensating(Fact):
    """The run is about to fail, or to be cancelled: what `count` visits and iterations did is
    undone first.

    `error` and `unsatisfied` are those of the `run.failed` that follows, `reason` is that of the
    `run.cancelled`.
    """

    name: ClassVar[str] = "run.compensating"
    count: int
    is_cancelled: bool = False
    reason: str | None = None
    error: Object | None = None
    unsatisfied: list[str] = []


class RunDone(Fact):
    """No token is left and no failure went unhandled."""

    name: ClassVar[str] = "run.done"
    result: Value = None


class RunFailed(Fact):
    """A failure nobody handled ended the run; `error` is that step's.

    `unsatisfied` names the gates that were not met. `compensation` counts what was undone before:
    `{done, failed}`.
    """

    name: ClassVar[str] = "run.failed"
    error: Object
    unsatisfied: list[str] = []
    compensation: Object | None = None


class RunCancelled(Fact):
    """Someone ended the run. `compensation` is as in `run.failed`."""

    name: ClassVar[str] = "run.cancelled"
    reason: str | None = None
    compensation: Object | None = None


RunEvent: TypeAlias = (
    RunRequested
    | RunStarted
    | RunPaused
    | RunResumed
    | RunCompensating
    | RunDone
    | RunFailed
    | RunCancelled
)
