"""Everything that came to a run from outside, gathered from its log: what a scenario is made of.

The log is derived again, so that each outcome, answer and signal is known for what it was, and how
long a worker took to come is known too. Nothing is left out or made shorter here.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from anew.engine import events as e
from anew.engine.decide import (
    Answered,
    Cancelled,
    Due,
    Lost,
    Paused,
    Reported,
    Requested,
    Resumed,
    Signalled,
    Skipped,
    Taken,
    workload_defaults,
)
from anew.engine.moments import NANOSECONDS
from anew.engine.outcome import RETRYABLE, Outcome
from anew.engine.pipeline import Invoke, Wait
from anew.engine.state import Key
from anew.engine.waits import SLEEP
from anew.lab.patience import Patience, patiently, unlimited
from anew.lab.replay import Derivation, Difference, Turn
from anew.lab.replay.happening import drawn_by
from anew.lab.script import place_of
from anew.program.program import Program
from anew.values import Object, Value, merge_deep

# How much later comes what never came: after everything that is in the log.
NEVER = NANOSECONDS


class Told(Struct):
    """What one execution gave, in the words of a script. `run` is its number in a line of runs.

    `limit` is how long it may take before the author's own limits stop it. A `silent` one says that
    nothing came.
    """

    run: int
    key: Key
    label: str
    said: Object
    takes: int
    limit: int | None = None
    is_silent: bool = False


class Came(Struct, frozen=True):
    """A signal that nobody waited for yet, so long after the beginning."""

    signal: str
    payload: Value
    id: str | None
    after: int


class Material(Struct):
    """What the world gave a run, or a line of runs that took each other's place.

    `lags` has, by step-run, how long each worker took to come. `difference` is where the log could
    not be derived again; what follows it is missing here.
    """

    start: int = 0
    workload: Object = field(default_factory=dict)
    told: list[Told] = field(default_factory=list)
    signals: list[Came] = field(default_factory=list)
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
    patience: Patience = unlimited,
) -> Material:
    """The material of the logs of a line of runs, mostly of one.

    `is_spread`: what happened in one instant happens a nanosecond apart, so that its order is kept.
    """
    material = Material()
    for number, log in enumerate(runs):
        _Gathering(program, log, material, number, is_spread=is_spread).gather(patience)
    return material


class _Begun(Struct):
    """An execution, a question or a wait that has begun and given nothing yet."""

    label: str
    at: int
    limit: int | None = None
    silence: Object | None = None
    deadline: int | None = None


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
        self._begun: dict[Key, _Begun] = {}
        self._needed: dict[Key, int] = {}
        self._lost: set[Key] = set()
        self._tokens: dict[int, int] = {}  # when each was made

    def gather(self, patience: Patience) -> None:
        material = self._material
        derivation = Derivation(self._program, self._log)
        for turn in patiently(derivation.turns(), patience):
            self._now = max(turn.at, self._now + 1) if self._is_spread else turn.at
            self._happened(turn)
            for event in turn.transition.events:
                self._followed(event)
            self._asked(turn)
        report = derivation.report()
        material.difference = material.difference or report.difference
        for event in self._log:
            material.draws.extend(drawn_by(event))
        if report.trusted:
            material.notes.append(
                f"{report.trusted} decisions read a credential; the scenario has none of its values"
            )
        self._now = max(self._now, self._log[-1].at)
        self._end()

    def _happened(self, turn: Turn) -> None:
        material = self._material
        match turn.boundary:
            case Requested() as request:
                self._begin_run(request)
            case Taken(key) | Due(key):
                self._came(key)
            case Reported(key, outcome):
                self._gave(key, said_of(outcome))
            case Answered(key, answer, by):
                material.people.update([by] if by else [])
                self._heard(key, {"answer": answer})
            case Signalled() as came:
                served = turn.transition.events[0] if turn.transition.events else None
                self._signalled(came, served)
            case Lost() as lost:
                self._lose(lost, turn)
            case Cancelled():
                material.is_cancelled = True
                material.notes.append("the run was cancelled: the scenario goes on from there")
            case Paused(_, None):
                material.notes.append("the run was paused, which a scenario cannot say")
            case Skipped(keys, by):
                self._skipped(keys, by, turn.transition.events)
            case Paused(_, shared_with):
                material.notes.append(f"the beginning is that of run {shared_with}")
            case _:
                pass

    def _skipped(self, keys: Sequence[Key], by: str | None, events: Sequence[e.Event]) -> None:
        """A sleep that was ended is scripted as it was; a delay is the engine's own, and lasts."""
        self._material.people.update([by] if by else [])
        for key in keys:
            self._needed.pop(key, None)
        for event in events:
            if isinstance(event, e.WaitSkipped) and event.waited_for != SLEEP:
                what = f"a wait of {event.step} was skipped, which a scenario cannot say"
                self._material.notes.append(f"{what}: there it lasts")

    def _lose(self, lost: Lost, turn: Turn) -> None:
        key, first = lost.key, turn.transition.events[0]
        if isinstance(first, (e.StepFailed, e.LoopIterationFailed)):
            self._gave(key, {"error": _error(first.error)})
            what = "was given up after it had lost its workers, which a scenario cannot say"
        else:
            self._lost.add(key)
            how = "was handed back" if lost.was_handed_back else "lost its worker"
            what = f"{how}; the scenario leaves that out"
        self._material.notes.append(f"{place_of(key)} {what}")

    def _begin_run(self, request: Requested) -> None:
        if self._number:
            return
        material = self._material
        material.start = self._now
        defaults = workload_defaults(self._program, request.run)
        over = _overlay(defaults, request.workload)
        is_enough = merge_deep(defaults, over) == request.workload
        material.workload = over if is_enough else request.workload
        if request.entry is not None:
            material.notes.append(
                f"the run takes the place of another ({request.continues}) and begins at "
                f"{request.entry}, which a scenario cannot say"
            )

    def _signalled(self, came: Signalled, served: e.Event | None) -> None:
        if served is not None and served.step is not None:
            key = Key(served.step, served.visit or 0, served.iteration)
            self._heard(key, {"signal": came.payload})
            return
        after = self._now - self._material.start
        self._material.signals.append(Came(came.signal, came.payload, came.id, after))

    def _followed(self, event: e.Event) -> None:
        """Keep track of what has begun, and of what nobody answered."""
        if event.step is None:
            return
        key = Key(event.step, event.visit or 0, event.iteration)
        match event:
            case e.NextEvaluated():
                self._tokens.update((token["id"], self._now) for token in event.tokens)
            case e.TaskStarted() if key in self._lost:
                self._lost.discard(key)
            case e.TaskStarted():
                self._begun[key] = _Begun(event.task or "", self._now)
            case e.HumanWaiting():
                self._wait_begins(key, {"answer": ""}, event.deadline)
            case e.SignalWaiting():
                self._wait_begins(key, {"signal": None}, event.deadline)
            case e.HumanTimedOut() | e.SignalTimedOut():
                self._silent(key)
            case e.TaskProcessed() | e.StepFailed() | e.LoopIterationFailed():
                self._begun.pop(key, None)
            case _:
                pass

    def _wait_begins(self, key: Key, silence: Object, deadline: int | None) -> None:
        begun = self._begun[key]
        begun.silence, begun.deadline = silence, deadline

    def _asked(self, turn: Turn) -> None:
        """Note what the engine asked for: workers, a call, a wait."""
        for key in turn.transition.jobs:
            self._needed.setdefault(key, self._wanted_since(key, turn))
        ask = turn.transition.ask
        if isinstance(ask, Wait) and not ask.for_signal:
            self._needed[ask.key] = ask.until + self._now - turn.at
        elif isinstance(ask, Invoke) and ask.key in self._begun:
            self._begun[ask.key].limit = _limit(ask)

    def _wanted_since(self, key: Key, turn: Turn) -> int:
        """Since when a step-run needs a worker; what a pause held up was wanted before it ended."""
        if not isinstance(turn.boundary, Resumed):
            return self._now
        scheduled = (
            event for event in turn.transition.events if isinstance(event, e.StepScheduled)
        )
        tokens = (x.tokens for x in scheduled if (x.step, x.visit) == (key.step, key.visit))
        made = [self._tokens.get(token, self._now) for token in next(tokens, [])]
        return max(made, default=self._now)

    def _came(self, key: Key) -> None:
        """A worker came for a step-run, or its wait was over."""
        needed = self._needed.pop(key, self._now)
        if key not in self._lost:
            self._lag(key, self._now - needed)

    def _lag(self, key: Key, nanoseconds: int) -> None:
        self._material.lags.setdefault(place_of(key), []).append(max(nanoseconds, 0))

    def _gave(self, key: Key, said: Object) -> None:
        begun = self._begun.pop(key, None)
        if begun is None or self._is_restart(key, begun.label):
            return
        # A question or a wait that is answered needs no worker at its deadline.
        self._needed.pop(key, None)
        self._tell(key, begun, said, self._now - begun.at)

    def _heard(self, key: Key, said: Object) -> None:
        """What it waited for is there: it needs a worker from now on, in a pause too."""
        self._gave(key, said)
        self._needed[key] = self._now

    def _silent(self, key: Key) -> None:
        begun = self._begun.pop(key, None)
        if begun is None or begun.silence is None:
            return
        ends = max(self._now, begun.deadline or self._now)
        self._tell(key, begun, begun.silence, ends - begun.at + NEVER, is_silent=True)

    def _tell(
        self, key: Key, begun: _Begun, said: Object, takes: int, *, is_silent: bool = False
    ) -> None:
        self._material.told.append(
            Told(self._number, key, begun.label, said, takes, begun.limit, is_silent)
        )

    def _is_restart(self, key: Key, label: str) -> bool:
        step = self._program.steps.get(key.step)
        # A shared beginning may have steps and tasks that this program has not.
        if step is None or label not in step.index_of:
            return False
        return step.tasks[step.index_of[label]].kind == "restart"

    def _end(self) -> None:
        """What was at work and gave nothing was stopped: it would have come later."""
        for key, begun in list(self._begun.items()):
            if begun.silence is not None:
                self._silent(key)
            elif not self._is_restart(key, begun.label):
                self._tell(key, begun, {}, self._now - begun.at + NEVER)
        for key, needed in self._needed.items():
            if needed <= self._now:
                self._lag(key, self._now - needed + NEVER)


def _limit(ask: Invoke) -> int | None:
    """How long the call may take: the author's own limits, as the simulation knows them."""
    ends = [] if ask.deadline is None else [max(ask.deadline - ask.asked_at, 0)]
    timeout = ask.tool.timeout if ask.task.timeout is None else ask.task.timeout
    if isinstance(timeout, (int, float)):
        ends.append(int(timeout * NANOSECONDS))
    return min(ends, default=None)


def said_of(outcome: Outcome) -> Object:
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


def _overlay(defaults: Object, workload: Object) -> Object:
    """What laid over the defaults gives this workload."""
    over: Object = {}
    for key, value in workload.items():
        known = defaults.get(key)
        if key in defaults and known == value:
            continue
        if isinstance(known, dict) and isinstance(value, dict):
            over[key] = _overlay(known, value)
        else:
            over[key] = value
    return over
