"""A run as lanes over time: one lane per step, attempts as bars, waits between them by reason.

Data only; how it is drawn is the surface's choice. A lane is bounded whatever the run did: a loop,
or a step with more bars than anyone could tell apart, has a density instead: how many of its
step-runs were at work, and how many waited, on average in each of a fixed number of slices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from anew.engine import events as e
from anew.engine.statuses import ACTIVITIES, BarKind, StepStatus
from anew.program.program import Program
from anew.views.progress import Progress
from anew.views.relays import Relays
from anew.views.slices import Density
from anew.views.step_progress import Activity, StepProgress

LANE_BARS_MAX = 400


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
    end = log[-1].at
    if not isinstance(log[-1], (e.RunDone, e.RunFailed, e.RunCancelled)):
        end = max(end, now)
    drawing = Drawing(Progress(program), end)
    for event in log:
        drawing.feed(event)
    return drawing.lanes(end)


class _Draft(Struct):
    """A lane in the making. What ended before `begin` belongs to another run.

    `until` is the end of the whole stretch, if that is known. The `density` is made when there is
    need of one: it is larger than a few bars.
    """

    begin: int
    until: int | None
    bars: list[Bar] = field(default_factory=list)
    density: Density | None = None
    total: int = 0
    done: int = 0
    failed: int = 0
    is_loop: bool = False

    def add(self, bar: Bar) -> None:
        if bar.end < self.begin:
            return
        bar = replace(bar, begin=max(bar.begin, self.begin))
        if self.density is not None:
            _condense(self.density, bar)
            return
        self.bars.append(bar)
        if len(self.bars) > LANE_BARS_MAX:
            self.crowd()

    def crowd(self) -> None:
        """From now on only how many there were at a time."""
        if self.density is None:
            self.density = density_of(self.bars, self.begin, self.until)
            self.bars = []

    def restart(self, begin: int) -> None:
        """Forget what was before: it belongs to another run."""
        kept = [bar for bar in self.bars if bar.end >= begin]
        self.begin, self.bars = begin, []
        if self.density is not None:
            self.density = density_of((), begin, self.until)
        for bar in kept:
            self.add(bar)

    def copy(self) -> _Draft:
        density = None if self.density is None else self.density.copy()
        return replace(self, bars=list(self.bars), density=density)


def density_of(bars: Iterable[Bar], begin: int, until: int | None = None) -> Density:
    """The density that stands for these bars; it grows where the end is not known."""
    density = Density.since(begin) if until is None else Density.over(begin, until)
    for bar in bars:
        _condense(density, bar)
    return density


def _condense(density: Density, bar: Bar) -> None:
    is_work, is_error = bar.kind in EXECUTIONS, bar.kind is BarKind.ERROR
    density.add(bar.begin, bar.end, is_work=is_work, is_error=is_error)


class Drawing:
    """Follows the progress of a run and notes what each step-run was at before it changed.

    It feeds the progress, which nobody else may do. `end` is the moment it will be looked at, if
    that is known.
    """

    def __init__(self, progress: Progress, end: int | None = None) -> None:
        self._progress = progress
        self._relays = Relays(progress.program)
        self._begin, self._end = 0, end
        self._drafts: dict[str, _Draft] = {}

    def feed(self, event: e.Event) -> None:
        """Take one more event of the log, in order."""
        self._relays.feed(event)
        match event:
            case e.RunCancelled():
                self._close_all(event.at)
            case e.RunCompensating() if event.is_cancelled:
                self._close_all(event.at)
            case e.BranchJoined() if event.fork is not None:
                self._stop_branches(event.fork, event.at)
            case e.RunPaused() if event.shared_with is not None:
                self._restart(event.at)
        if not self._progress.events:
            self._begin = event.at
        if event.step is not None:
            self._before(self._draft(event.step), event)
        self._progress.feed(event)

    def lanes(self, end: int) -> Lanes:
        """As they are at this moment. More can be fed afterwards."""
        lanes = (self._lane(name, draft, end) for name, draft in self._drafts.items())
        return Lanes(self._begin, end, tuple(lanes))

    def _lane(self, name: str, draft: _Draft, end: int) -> Lane:
        step = self._progress.steps[name]
        if step.open:
            draft = draft.copy()
            for activity in step.open.values():
                _note(draft, activity, end, None, is_open=True)
        return _lane(step, draft)

    def _draft(self, step: str) -> _Draft:
        draft = self._drafts.get(step)
        if draft is None:
            draft = self._drafts[step] = _Draft(self._begin, self._end)
        return draft

    def _restart(self, at: int) -> None:
        """The run goes on here from the beginning of another one."""
        self._begin = at
        for draft in self._drafts.values():
            draft.restart(at)

    def _before(self, draft: _Draft, event: e.Event) -> None:
        match event:
            case e.LoopStarted():
                draft.is_loop = True
                draft.crowd()
                draft.total += len(event.items)
            case e.LoopDone():
                draft.done += event.done
                draft.failed += event.failed
            case e.TaskProcessed():
                is_own = event.outcome.is_error and self._relays.passed_on(event) is None
                self._close(draft, event, BarKind.ERROR if is_own else BarKind.OK)
            case e.StepRedelivered():
                self._close(draft, event, BarKind.LOST)
            case e.TaskStarted() | e.StepStarted() | e.SignalWaiting() | e.WaitSkipped():
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

    def _close_all(self, at: int) -> None:
        """What was live when a run was cancelled."""
        for name, draft in self._drafts.items():
            step = self._progress.steps.get(name)
            for activity in step.open.values() if step else ():
                _note(draft, activity, at, BarKind.LOST)


def _note(
    draft: _Draft, activity: Activity, at: int, kind: BarKind | None, *, is_open: bool = False
) -> None:
    found = ACTIVITIES[activity.doing].bar
    if found is BarKind.WORKING:  # told by how it ended
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
    return Lane(
        step=step.name,
        status=step.shown_status,
        visits=step.visits,
        attempts=step.attempts,
        bars=tuple(draft.bars),
        density=draft.density,
        total=draft.total if draft.is_loop else None,
        done=draft.done + sum(loop.done for loop in live),
        failed=draft.failed + sum(loop.failed for loop in live),
        depth=step.depth,
        passed_on=step.passed_on,
    )
