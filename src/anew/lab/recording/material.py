"""Everything that came to a run from outside, gathered from its log: what a scenario is made of.

The log is derived again, to know that it can be and how long each call might have taken; what came
is read by `lab.log_world`. Nothing is left out or made shorter here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from anew.engine import events as e
from anew.engine.boundaries import Answered, Cancelled, Lost, Paused, Reported, Requested, Skipped
from anew.engine.decide import workload_defaults
from anew.engine.events.words import SkippedWait
from anew.engine.moments import NANOSECONDS
from anew.engine.next_actions import Invoke
from anew.engine.outcome import RETRYABLE, Outcome
from anew.engine.state import StepRunKey
from anew.lab.cancellation import CancelCheck, never_cancelled, until_cancelled
from anew.lab.log_world import Execution, LogWorld, RecordedEntry, own_part, world_of_log
from anew.lab.replay import Derivation, Difference, LogTurn
from anew.lab.replay.log_turns import drawn_by
from anew.lab.script import ScriptedSignal, ScriptEntry, place_of
from anew.program.program import Program
from anew.values import Object, merge_deep

# How much later comes what never came: after everything that is in the log.
NEVER = NANOSECONDS
_MOMENTS = ("at", "not_before", "deadline")


class RecordedOutcome(Struct):
    """What one execution gave, in the words of a script. `run` is its number in a line of runs.

    `limit` is how long it may take before the author's own limits stop it. A `silent` one says that
    nothing came.
    """

    run: int
    key: StepRunKey
    label: str
    said: Object
    takes: int
    limit: int | None = None
    is_silent: bool = False


class Material(Struct):
    """What the world gave a run, or a line of runs that took each other's place.

    `lags` has, by step-run, how long each worker took to come. `difference` is where the log could
    not be derived again; what follows it is missing here.
    """

    start: int = 0
    workload: Object = field(default_factory=dict)
    told: list[RecordedOutcome] = field(default_factory=list)
    signals: list[ScriptedSignal] = field(default_factory=list)
    draws: list[float] = field(default_factory=list)
    lags: dict[str, list[int]] = field(default_factory=dict)
    people: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    is_cancelled: bool = False
    difference: Difference | None = None


def gathered(
    program: Program,
    runs: Sequence[Sequence[e.Event]],
    *,
    is_spread: bool = False,
    cancel_check: CancelCheck = never_cancelled,
) -> Material:
    """The material of the logs of a line of runs, mostly of one.

    `is_spread`: what happened in one instant happens a nanosecond apart, so that its order is kept.
    """
    material = Material()
    for number, log in enumerate(runs):
        _Gathering(program, log, material, number, is_spread=is_spread).gather(cancel_check)
    return material


class _Gathering:
    def __init__(
        self,
        program: Program,
        log: Sequence[e.Event],
        material: Material,
        number: int,
        *,
        is_spread: bool,
    ) -> None:
        self._is_spread = is_spread
        self._now = -1
        self._program = program
        self._log = log
        self._material = material
        self._number = number
        self._events: list[e.Event] = []
        self._limits: dict[int, int | None] = {}  # by the start of the call
        self._reported: set[int] = set()  # the rest of the outcomes the engine gave by itself

    def gather(self, cancel_check: CancelCheck) -> None:
        material = self._material
        derivation = Derivation(self._program, self._log)
        for turn in until_cancelled(derivation.turns(), cancel_check):
            self._now = max(turn.at, self._now + 1) if self._is_spread else turn.at
            self._happened(turn)
            self._events += _moved(turn.transition.events, self._now - turn.at)
            if isinstance(turn.transition.ask, Invoke):
                self._limits[turn.transition.ask.started] = _limit(turn.transition.ask)
        report = derivation.report()
        material.difference = material.difference or report.difference
        for event in self._log:
            material.draws.extend(drawn_by(event))
        if report.trusted:
            material.notes.append(
                f"{report.trusted} decisions read a credential; the scenario has none of its values"
            )
        if self._events:
            self._take(world_of_log(self._program, self._events), max(self._now, self._log[-1].at))

    def _happened(self, turn: LogTurn) -> None:
        """Note what a script cannot say, or says otherwise."""
        material = self._material
        match turn.boundary:
            case Requested() as request:
                self._begin_run(request)
            case Reported(_, _, started):
                self._reported.add(started)
            case Answered(_, _, by):
                material.people.update([by] if by else [])
            case Lost() as lost:
                self._lose(lost, turn)
            case Cancelled():
                material.is_cancelled = True
                material.notes.append("the run was cancelled: the scenario continues from there")
            case Paused(_, None):
                material.notes.append("the run was paused, which a scenario cannot say")
            case Skipped(_, by):
                self._skipped(by, turn.transition.events)
            case Paused(_, shared_with):
                material.notes.append(f"the start is that of run {shared_with}")
            case _:
                pass

    def _skipped(self, by: str | None, events: Sequence[e.Event]) -> None:
        """A sleep that was ended is scripted as it was; a delay is the engine's own, and lasts."""
        self._material.people.update([by] if by else [])
        for event in events:
            if isinstance(event, e.WaitSkipped) and event.waited_for is not SkippedWait.SLEEP:
                what = f"a wait of {event.step} was skipped, which a scenario cannot say"
                self._material.notes.append(f"{what}: there it lasts")

    def _lose(self, lost: Lost, turn: LogTurn) -> None:
        if isinstance(turn.transition.events[0], (e.StepFailed, e.LoopIterationFailed)):
            what = "was given up after it had lost its workers, which a scenario cannot say"
        else:
            how = "was released by its worker" if lost.was_handed_back else "lost its worker"
            what = f"{how}; the scenario leaves that out"
        self._material.notes.append(f"{place_of(lost.key)} {what}")

    def _begin_run(self, request: Requested) -> None:
        if self._number:
            return
        material = self._material
        material.start = self._now
        defaults = workload_defaults(self._program, request.run)
        own = own_part(request.workload, defaults)
        is_enough = merge_deep(defaults, own) == request.workload
        material.workload = own if is_enough else request.workload
        if request.entry is not None:
            material.notes.append(
                f"the run takes the place of another ({request.continues}) and starts at "
                f"{request.entry}, which a scenario cannot say"
            )

    def _take(self, world: LogWorld, ended_at: int) -> None:
        """What is still open when the run ends was stopped: it would have come later."""
        material = self._material
        later = world.now - material.start
        material.signals += [replace(sent, after=sent.after + later) for sent in world.signals]
        for one in world.given:
            self._record(one, ended_at)
        for one in world.open:
            self._record(one, ended_at)
        for key, lags in world.lags.came.items():
            material.lags.setdefault(place_of(key), []).extend(lags)
        for key, needed in world.lags.needed.items():
            if needed <= ended_at:
                material.lags.setdefault(place_of(key), []).append(ended_at - needed + NEVER)

    def _record(self, one: Execution, ended_at: int) -> None:
        is_silent = False
        match one:
            case Execution(entry=RecordedEntry(recorded=outcome)) if one.seq in self._reported:
                said, takes = script_words(outcome), one.took
            case Execution(entry=RecordedEntry()):
                return
            case Execution(entry=ScriptEntry(said=said, takes=takes)):
                pass
            case Execution(given_up=dict(error)):
                said, takes = {"error": _error(error)}, one.took
            case Execution(waited_for=e.HumanWaiting() | e.SignalWaiting() as wait):
                is_silent = True
                said = {"answer": ""} if isinstance(wait, e.HumanWaiting) else {"signal": None}
                ends = one.at + one.took if one.has_ended else ended_at
                takes = max(ends, wait.deadline or 0) - one.at + NEVER
            case _:
                said, takes = {}, ended_at - one.at + NEVER
        told = RecordedOutcome(
            self._number,
            one.place.key,
            one.place.task,
            said,
            takes,
            self._limits.get(one.seq),
            is_silent,
        )
        self._material.told.append(told)


def _moved(events: Sequence[e.Event], later: int) -> Iterator[e.Event]:
    """The events so many nanoseconds later, with the moments that were counted from theirs."""
    for event in events:
        told = {name: getattr(event, name, None) for name in _MOMENTS} if later else {}
        yield replace(event, **{name: at + later for name, at in told.items() if at is not None})


def _limit(ask: Invoke) -> int | None:
    """How long the call may take: the author's own limits, as the simulation knows them."""
    ends = [] if ask.deadline is None else [max(ask.deadline - ask.asked_at, 0)]
    timeout = ask.tool.timeout if ask.task.timeout is None else ask.task.timeout
    if isinstance(timeout, (int, float)):
        ends.append(int(timeout * NANOSECONDS))
    return min(ends, default=None)


def script_words(outcome: Outcome) -> Object:
    """An outcome in the words of a script; what it printed is left out."""
    said: Object = {}
    if outcome.word is not None or outcome.verdict is not None:
        said["status"] = outcome.word or str(outcome.verdict and outcome.verdict.value)
    if outcome.error is not None:
        said["error"] = _error(outcome.error)
    if outcome.result is not None or outcome.error is None:
        said["result"] = outcome.result
    said.update(outcome.helpers)
    if outcome.label is not None:
        said["label"] = outcome.label
    if outcome.suggested:
        said["suggested"] = list(outcome.suggested)
    if outcome.updates:
        said["context"] = outcome.updates
    return said


def _error(error: Object) -> Object:
    """Without what the table of kinds says by itself."""
    kind = error.get("kind")
    is_plain = "type" not in error and error.get("retryable") == RETRYABLE.get(str(kind))
    return {key: value for key, value in error.items() if key != "retryable" or not is_plain}
