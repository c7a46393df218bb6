"""The world of a run as its log tells it: outcomes, answers, signals, lags of workers, draws.

Everything that came from outside, found by the place it belongs to: what recording makes a script
of, and what-if plays another program on. Reads the log and the program the run had; decides nothing
and plays nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from anew.engine import events as e
from anew.engine.outcome import Outcome
from anew.engine.state import StepRunKey, key_of
from anew.lab.replay.log_turns import drawn_by
from anew.lab.script import ScriptedSignal, ScriptEntry
from anew.lab.worker_lags import Lags
from anew.lab.world import RUN_ID
from anew.program.kinds import kind_named
from anew.program.policy import DirectiveKind
from anew.program.program import Program
from anew.values import Object, Value

# What an outcome that went well and was asked for again counts as, beside the kinds of errors.
NOT_ACCEPTED = "not accepted"
ACCEPTED = "ok"


class TaskPlace(Struct, frozen=True):
    """Where executions happen: a task of one step-run. They are told apart by their order."""

    key: StepRunKey
    task: str


class RecordedEntry(ScriptEntry, frozen=True, kw_only=True):
    """An entry that gives an outcome of a log, as it is."""

    recorded: Outcome

    def outcome(self, now: int) -> Outcome:  # noqa: ARG002
        return self.recorded


class Execution(Struct):
    """One execution of a log, the `index`-th that asked something of the world.

    `kind` is the tool's; `seq` is that of its latest `task.started`, `at` when it began; `inputs`
    are as in the log, with the id a simulated run has. `gap` is how long (nanoseconds) after the
    latest outcome of its step it began, `took` how long it went on, or how much of it the log has.
    `entry` is what the world gave: None when that was silence, or when the log does not say.
    `waited_for` is the event of its wait for others, `given_up` the error of one that lost too many
    workers. `amounts_to` is the outcome in one word, `after` that of the task's execution just
    before if it did not go well. `has_ended`: its outcome is in the log. `is_shared`: it is one of
    another run, whose beginning this log has.
    """

    index: int
    place: TaskPlace
    kind: str
    attempt: int
    at: int
    seq: int = 0
    after: str = ""
    inputs: Value = None
    gap: int | None = None
    took: int = 0
    entry: ScriptEntry | None = None
    waited_for: e.HumanWaiting | e.SignalWaiting | None = None
    given_up: Object | None = None
    amounts_to: str = ""
    has_ended: bool = False
    is_shared: bool = False

    @property
    def named(self) -> tuple[str, str]:
        return self.place.key.step, self.place.task

    @property
    def is_call(self) -> bool:
        return not kind_named(self.kind).waits_for_others

    @property
    def is_success(self) -> bool:
        return self.amounts_to == ACCEPTED


Executions = dict[TaskPlace, list[Execution]]


def execution_at(found: Executions, place: TaskPlace, number: int) -> Execution | None:
    """The execution of a place with this number, counted from 0."""
    there = found.get(place, ())
    return there[number] if number < len(there) else None


class LogWorld(Struct):
    """The world of one run, the one in this `position` of those that are looked at.

    `given` has the executions that came to something, silence included, in the order they did;
    `open` those that were at work, or waited, where the log ends. `draws` are the random numbers,
    by the execution they came after.

    `kept` are the places at which a signal was taken up that had come before; it is in `signals`,
    with all that found nobody waiting. `silenced` are tasks that would ask others, and did not.
    """

    run: str = ""
    position: int = 0
    places: Executions = field(default_factory=dict)
    given: list[Execution] = field(default_factory=list)
    open: list[Execution] = field(default_factory=list)
    draws: dict[int, list[float]] = field(default_factory=dict)
    lags: Lags = field(default_factory=Lags)
    signals: list[ScriptedSignal] = field(default_factory=list)
    kept: set[TaskPlace] = field(default_factory=set)
    silenced: set[tuple[str, str]] = field(default_factory=set)
    workload: Object = field(default_factory=dict)
    now: int = 0

    def executions(self) -> Iterable[Execution]:
        for found in self.places.values():
            yield from found


def world_of_log(program: Program, log: Sequence[e.Event]) -> LogWorld:
    """What the log of a run of this program holds of the world."""
    return _Reading(program, log).read()


def line_of(place: TaskPlace) -> tuple[str, int | None, str]:
    """What the executions of a task have in common over the visits of its step."""
    return place.key.step, place.key.iteration, place.task


class _Reading:
    def __init__(self, program: Program, log: Sequence[e.Event]) -> None:
        self._program = program
        self._log = log
        self._world = LogWorld()
        self._open: dict[StepRunKey, Execution] = {}
        self._lost: set[StepRunKey] = set()
        self._latest: dict[tuple[str, int | None, str], str] = {}
        self._answered_at: dict[tuple[str, int | None], int] = {}
        self._asked = 0
        waits = (e.HumanWaiting, e.SignalWaiting)
        self._heard = {(one.step, one.task) for one in log if isinstance(one, waits)}

    def read(self) -> LogWorld:
        for event in self._log:
            self._world.lags.feed(event)
            self._feed(event)
        for begun in self._open.values():
            begun.took = self._log[-1].at - begun.at
        self._world.open = [one for one in self._open.values() if one.entry is None]
        return self._world

    def _feed(self, event: e.Event) -> None:
        drawn = drawn_by(event)
        if drawn:
            self._world.draws.setdefault(self._asked - 1, []).extend(drawn)
        match event:
            case e.RunRequested():
                world = self._world
                world.run, world.workload, world.now = event.run, event.workload, event.at
            case e.TaskStarted():
                self._start(event)
            case e.TaskProcessed():
                self._end(event)
            case e.HumanWaiting() | e.SignalWaiting():
                begun = self._open[key_of(event)]
                begun.waited_for = event
                self._enter(begun)
            case e.HumanAnswered():
                self._give(event, {"answer": event.answer})
            case e.HumanTimedOut() | e.SignalTimedOut():
                self._world.given.append(self._open[key_of(event)])
            case e.SignalReceived():
                self._receive(event)
            case e.StepRedelivered():
                self._lost.add(key_of(event))
            case e.StepFailed() | e.LoopIterationFailed():
                self._give_up(event)
            case e.RunPaused() if event.shared_with is not None:
                for one in self._world.executions():
                    one.is_shared = True
            case _:
                pass

    def _start(self, event: e.TaskStarted) -> None:
        key, kind = key_of(event), self._kind(event)
        if event.inputs is None or kind_named(kind).is_of_engine:
            return  # its inputs never reached a tool
        if key in self._open:
            self._start_again(key, event)
            return
        place, answered_at = TaskPlace(key, event.task or ""), self._answered_at.get(_step(key))
        begun = Execution(
            -1,
            place,
            kind,
            event.attempt or 1,
            event.at,
            event.seq,
            after=self._latest.get(line_of(place), ""),
            inputs=self._as_played(event.inputs),
            gap=None if answered_at is None else event.at - answered_at,
        )
        self._open[key] = begun
        is_for_others = kind_named(kind).waits_for_others
        if is_for_others and begun.named in self._heard:
            return  # it has asked once it waits
        if is_for_others:
            self._world.silenced.add(begun.named)
        self._enter(begun)

    def _start_again(self, key: StepRunKey, event: e.TaskStarted) -> None:
        """Handed out again it is the same execution; where a log was cut, it is made anew."""
        begun = self._open[key]
        begun.seq = event.seq
        if key in self._lost:
            self._lost.discard(key)
        else:
            begun.at, begun.inputs = event.at, self._as_played(event.inputs)
            begun.is_shared = False

    def _enter(self, begun: Execution) -> None:
        """It asks something of the world."""
        begun.index = self._asked
        self._asked += 1
        self._world.places.setdefault(begun.place, []).append(begun)

    def _give(self, event: e.Fact, said: Object) -> None:
        begun = self._open[key_of(event)]
        begun.entry = ScriptEntry(said, 1, event.at - begun.at)
        self._world.given.append(begun)

    def _receive(self, event: e.SignalReceived) -> None:
        if event.step is None:
            after = event.at - self._world.now
            self._world.signals.append(ScriptedSignal(event.signal, event.payload, event.id, after))
        elif event.kept is None:
            self._give(event, {"signal": event.payload})
        else:  # the engine took it up by itself, and asked nobody
            begun = self._open[key_of(event)]
            self._world.places[begun.place].remove(begun)
            self._world.kept.add(begun.place)
            self._asked -= 1

    def _end(self, event: e.TaskProcessed) -> None:
        key, amounts = key_of(event), amounts_to(event)
        self._latest[line_of(TaskPlace(key, event.task or ""))] = not_well(amounts)
        begun = self._open.pop(key, None)
        if begun is None:
            return
        begun.has_ended, begun.amounts_to, begun.took = True, amounts, event.at - begun.at
        if not kind_named(begun.kind).is_known_by_inputs:
            self._answered_at[_step(key)] = event.at
        if begun.waited_for is None:
            begun.entry = RecordedEntry({}, 1, begun.took, recorded=event.outcome)
            self._world.given.append(begun)

    def _give_up(self, event: e.StepFailed | e.LoopIterationFailed) -> None:
        """A step-run that fails while its tool is at work has lost too many workers."""
        begun = self._open.pop(key_of(event), None)
        if begun is None:
            return
        begun.took = event.at - begun.at
        if begun.waited_for is None:
            begun.given_up = event.error
            self._world.given.append(begun)

    def _kind(self, event: e.TaskStarted) -> str:
        # A shared beginning may have steps and tasks that this program has not.
        task = self._program.task_of(event.step, event.task)
        return "" if task is None else task.kind

    def _as_played(self, inputs: Value) -> Value:
        """Inputs that differ by the run's id alone are the same."""
        return _with_id(inputs, self._world.run, RUN_ID)


def amounts_to(event: e.TaskProcessed) -> str:
    """An outcome in one word: ok, the kind of its error, or that it was not accepted."""
    if event.outcome.error is not None:
        return str(event.outcome.error.get("kind"))
    return NOT_ACCEPTED if event.directive == DirectiveKind.RETRY else ACCEPTED


def not_well(amounts: str) -> str:
    """The outcome in one word, empty when all was well: what an execution comes `after`."""
    return "" if amounts == ACCEPTED else amounts


def own_part(recorded: Object, defaults: Object) -> Object:
    """What of a workload is not the document's own default: what the request must have given."""
    own: Object = {}
    for name, value in recorded.items():
        default: Value = defaults.get(name)
        if name not in defaults or value != default:
            is_deep = isinstance(value, dict) and isinstance(default, dict)
            own[name] = own_part(value, default) if is_deep else value
    return own


def _step(key: StepRunKey) -> tuple[str, int | None]:
    return key.step, key.iteration


def _with_id(value: Value, own: str, other: str) -> Value:
    """Another id in the place of the run's own."""
    match value:
        case str():
            return value.replace(own, other) if own != other and own else value
        case list():
            return [_with_id(one, own, other) for one in value]
        case dict():
            return {key: _with_id(one, own, other) for key, one in value.items()}
        case _:
            return value
