"""A run as lanes over time: one lane per step, attempts as bars, waits between them by reason.

Data only; how it is drawn is the surface's choice. A lane is bounded whatever the run did: a loop,
or a step with more bars than anyone could tell apart, has a density instead: how many of its
step-runs were at work, and how many waited, on average in each of a fixed number of slices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from anew.engine import events as e
from anew.program.program import Program
from anew.views.progress import Progress
from anew.views.relays import Relays
from anew.views.slices import Density
from anew.views.step_progress import Activity, Doing, StepProgress, StepStatus

LANE_BARS_MAX = 400


class BarKind(StrEnum):
    """What a stretch of time was. All but the first four are waits."""

    OK = "ok"  # an execution that gave an ok outcome
    ERROR = "error"
    LOST = "lost"  # an execution whose worker was lost, or that was cancelled
    WORKING = "working"  # an execution that has no outcome yet
    QUEUE = "queue"  # for a worker
    RETRY = "retry"
    RETRY_AFTER = "retry_after"
    JUMP = "jump"
    SLEEP = "sleep"
    CHILD = "child"
    PERSON = "person"
    SIGNAL = "signal"


EXECUTIONS = frozenset({BarKind.OK, BarKind.ERROR, BarKind.LOST, BarKind.WORKING})


class Bar(Struct, frozen=True):
    """From one moment to another. `is_open`: it has not ended yet."""

    begin: int
    end: int
    kind: BarKind
    task: str | None = None
    attempt: int | None = None
    visit: int = 1
    is_open: bool = False


class Lane(Struct, frozen=True):
    """One step. It has `bars`, or a `density` where they would be too many.

    `depth` is in how many forks it stands: a step of a branch belongs under the fork's.
    """

    step: str
    status: StepStatus
    visits: int
    attempts: int
    bars: tuple[Bar, ...] = ()
    density: Density | None = None
    total: int | None = None  # iterations of its loops
    done: int = 0
    failed: int = 0
    depth: int = 0
    passed_on: str | None = None  # whose failure it passed on last, in words


class Lanes(Struct, frozen=True):
    """All lanes of a run, over the same stretch of time."""

    begin: int
    end: int
    lanes: tuple[Lane, ...]


def lanes_of(program: Program | None, log: Sequence[e.Event], *, now: int) -> Lanes:
    """The lanes of a log, up to its end, or to now while the run goes on."""
    if not log:
        return Lanes(now, now, ())
    begin, end = _own_beginning(log), log[-1].at
    if not isinstance(log[-1], (e.RunDone, e.RunFailed, e.RunCancelled)):
        end = max(end, now)
    drawing = _Drawing(Progress(program), begin, end)
    for event in log:
        drawing.feed(event)
    return Lanes(begin, end, tuple(drawing.lanes()))


def _own_beginning(log: Sequence[e.Event]) -> int:
    """When the run began, or went on from the beginning of another one."""
    cuts = (event for event in log if isinstance(event, e.RunPaused) and event.shared_with)
    return next(cuts, log[0]).at


class _Draft(Struct):
    """A lane in the making. What ended before `begin` belongs to another run."""

    begin: int
    density: Density
    bars: list[Bar] = field(default_factory=list)
    total: int = 0
    done: int = 0
    failed: int = 0
    is_loop: bool = False

    def add(self, bar: Bar) -> None:
        if bar.end < self.begin:
            return
        self.density.add(
            max(bar.begin, self.begin),
            bar.end,
            is_work=bar.kind in EXECUTIONS,
            is_error=bar.kind is BarKind.ERROR,
        )
        if not self.is_loop and len(self.bars) <= LANE_BARS_MAX:
            self.bars.append(replace(bar, begin=max(bar.begin, self.begin)))


class _Drawing:
    """Follows the progress of a run and notes what each step-run was at before it changed."""

    def __init__(self, progress: Progress, begin: int, end: int) -> None:
        self._progress = progress
        self._relays = Relays(progress.program)
        self._begin, self._end = begin, end
        self._drafts: dict[str, _Draft] = {}

    def feed(self, event: e.Event) -> None:
        self._relays.feed(event)
        if isinstance(event, e.RunCancelled):
            self._close_all(event.at, is_lost=True)
        if isinstance(event, e.BranchJoined) and event.fork is not None:
            self._stop_branches(event.fork, event.at)
        draft = self._draft(event.step) if event.step is not None else None
        if draft is not None:
            self._before(draft, event)
        self._progress.feed(event)

    def lanes(self) -> Iterator[Lane]:
        self._close_all(self._end, is_lost=False)
        for name, draft in self._drafts.items():
            yield _lane(self._progress.steps[name], draft)

    def _draft(self, step: str) -> _Draft:
        draft = self._drafts.get(step)
        if draft is None:
            draft = self._drafts[step] = _Draft(self._begin, Density.over(self._begin, self._end))
        return draft

    def _before(self, draft: _Draft, event: e.Event) -> None:
        match event:
            case e.LoopStarted():
                draft.is_loop = True
                draft.total += len(event.items)
            case e.LoopDone():
                draft.done += event.done
                draft.failed += event.failed
            case e.TaskProcessed():
                is_own = event.outcome.is_error and self._relays.passed_on(event) is None
                self._close(draft, event, BarKind.ERROR if is_own else BarKind.OK)
            case e.StepRedelivered():
                self._close(draft, event, BarKind.LOST)
            case e.TaskStarted() | e.StepStarted() | e.SignalWaiting():
                self._close(draft, event, None)
            case e.HumanAnswered() | e.HumanTimedOut() | e.SignalReceived() | e.SignalTimedOut():
                self._close(draft, event, None)
            case e.StepFailed() | e.LoopIterationFailed() | e.StepSkipped():
                self._close(draft, event, BarKind.LOST)
            case _:
                pass

    def _close(self, draft: _Draft, event: e.Event, kind: BarKind | None) -> None:
        """Note the stretch that ends here; `kind` says how an execution ended."""
        step = self._progress.steps.get(event.step or "")
        activity = step.open.get((event.visit or 0, event.iteration)) if step else None
        if activity is not None:
            _note(draft, activity, event.at, kind)

    def _stop_branches(self, fork: int, at: int) -> None:
        """What is still live where branches meet was cancelled."""
        for step, visit in self._progress.within(fork):
            for key, activity in step.open.items():
                if key[0] == visit:
                    _note(self._draft(step.name), activity, at, BarKind.LOST)

    def _close_all(self, at: int, *, is_lost: bool) -> None:
        kind = BarKind.LOST if is_lost else None
        for name, draft in self._drafts.items():
            step = self._progress.steps.get(name)
            for activity in step.open.values() if step else ():
                _note(draft, activity, at, kind, is_open=not is_lost)


# What a stretch is called by what the step-run was at. Working is told by how it ended.
_WAITS = {doing: BarKind(doing.value) for doing in Doing if doing.value in set(BarKind)}
_WAITS[Doing.QUEUED] = BarKind.QUEUE
del _WAITS[Doing.WORKING]


def _note(
    draft: _Draft, activity: Activity, at: int, kind: BarKind | None, *, is_open: bool = False
) -> None:
    found = _WAITS.get(activity.doing)
    if found is None:
        if activity.task is None:
            return
        found = kind or BarKind.WORKING
    elif kind is BarKind.ERROR:
        found = kind
    is_instant = activity.since == at and found not in EXECUTIONS
    is_told = activity.has_outcome and found in EXECUTIONS
    if is_instant or is_told:
        return
    draft.add(
        Bar(
            begin=activity.since,
            end=at,
            kind=found,
            task=activity.task,
            attempt=activity.attempt,
            visit=activity.visit,
            is_open=is_open,
        )
    )


def _lane(step: StepProgress, draft: _Draft) -> Lane:
    live = step.loops.values()
    is_crowded = draft.is_loop or len(draft.bars) > LANE_BARS_MAX
    return Lane(
        step=step.name,
        status=step.shown_status,
        visits=step.visits,
        attempts=step.attempts,
        bars=() if is_crowded else tuple(draft.bars),
        density=draft.density if is_crowded else None,
        total=draft.total if draft.is_loop else None,
        done=draft.done + sum(loop.done for loop in live),
        failed=draft.failed + sum(loop.failed for loop in live),
        depth=step.depth,
        passed_on=step.passed_on,
    )
