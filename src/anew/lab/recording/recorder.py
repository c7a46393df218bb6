"""Make a scenario of a real run: the same outcomes, answers, durations and draws, and nothing else.

Every scenario is played before it is handed out, and its decisions are compared with those of the
log. Times are rounded and large values cut only as far as no decision changes by that. Secrets are
taken out first and stay out. Reads programs and logs; writes no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from anew.engine import events as e
from anew.engine.fold import fold
from anew.engine.state import RunState, StepRunKey
from anew.errors import ConfigError
from anew.lab.cancellation import CancelCheck, never_cancelled, until_cancelled
from anew.lab.decisions import Decision, Differing, first_difference
from anew.lab.outcome_sources import ExecutionStart, OutcomeProvider, PlayedEntry, ScriptedOutcomes
from anew.lab.recording.material import Material, gathered
from anew.lab.recording.redaction import Redaction, marks_in
from anew.lab.recording.script_writer import Part, ScriptWriter, Timing, ignored, parts_of, scripted
from anew.lab.recording.truncation import shortened
from anew.lab.recording.value_equality import ValueEquality
from anew.lab.replay import Difference
from anew.lab.script import script_of
from anew.lab.simulate import Simulation, simulation_of
from anew.lab.world import RUN_ID, EndlessRun, World
from anew.program.program import Program
from anew.values import Object, Value
from anew.views.exit_status import exit_status_of
from anew.views.summary import attempts, delays, handled, unsatisfied, visits

# How often a scenario is played at the most to find out what may not be cut.
RECORD_TRIALS_MAX = 60
# A longer list is no expectation that anybody reads.
EXPECTED_ITEMS_MAX = 200
# A reader wants to know what kind of thing was left out, not each of a thousand.
NOTES_SHOWN = 5
# A play that has this many times the events of the log is another one.
_EVENTS_FACTOR, _EVENTS_MORE = 2, 1_000
_ENDLESS = Differing("", None, None, Decision("", "no end in sight", 0, {}))


class Recorded(Struct, frozen=True):
    """A scenario, and what there is to say about it.

    `difference` is the first decision that is another one when the scenario is played; `undecided`
    is where the log itself could not be derived. A scenario that is true to its run has neither.
    """

    scenario: Object
    notes: tuple[str, ...] = ()
    timing: Timing = Timing.ROUNDED
    difference: Differing | None = None
    undecided: Difference | None = None

    @property
    def is_true(self) -> bool:
        return self.difference is None and self.undecided is None

    @property
    def first_difference(self) -> str | None:
        """Where the scenario is not true to its run, in words."""
        if self.undecided is not None:
            return f"event {self.undecided.seq} of the log cannot be derived again"
        return None if self.difference is None else str(self.difference)

    def report(self) -> Object:
        """What `anew record --json` says of a scenario."""
        return {
            "is_true": self.is_true,
            "difference": self.first_difference,
            "timing": self.timing.value,
            "notes": list(self.notes),
            "scenario": self.scenario,
        }


def record(
    program: Program,
    runs: Sequence[Sequence[e.Event]],
    *,
    is_full: bool = False,
    cancel_check: CancelCheck = never_cancelled,
) -> Recorded:
    """The scenario of a run that has ended; `runs` has more than one log where others took over.

    With `is_full` nothing is cut. `cancel_check` is asked all the while, and ends it by raising
    AnalysisCancelled.
    """
    if not runs or not all(runs):
        raise ConfigError("there is no log to record; give those of a run that has ended")
    last = fold(runs[-1])
    if not last.is_final:
        raise ConfigError(
            f"run {last.run} has not ended, it is {last.status.value}; record it when it has"
        )
    found = gathered(program, runs, cancel_check=cancel_check)
    values = chain((value for _, value in parts_of(found)), _given(runs))
    redaction = Redaction(until_cancelled(values, cancel_check))
    ids = {_run_id(run): str(int(RUN_ID) + number) for number, run in enumerate(runs)}
    stage = _Stage(
        program,
        runs,
        _cleaned(found, redaction, cancel_check),
        list(chain.from_iterable(runs)),
        last,
        ValueEquality(redaction, found.people, ids),
        cancel_check,
    )
    return _made(stage, is_full=is_full)


def _run_id(log: Sequence[e.Event]) -> str:
    first = log[0]
    return first.run if isinstance(first, e.RunRequested) else ""


def _given(runs: Sequence[Sequence[e.Event]]) -> Iterator[Value]:
    """What may have come back in an outcome: the whole workload, and what tasks were given."""
    for event in chain.from_iterable(runs):
        if isinstance(event, e.RunRequested):
            yield event.workload
        elif isinstance(event, e.TaskStarted):
            yield event.inputs


def _cleaned(material: Material, redaction: Redaction, cancel_check: CancelCheck) -> Material:
    """The material without secrets."""
    return replace(
        material,
        workload=redaction.clean(material.workload),
        told=[
            replace(told, said=redaction.clean_entry(told.said))
            for told in until_cancelled(material.told, cancel_check)
        ],
        signals=[
            replace(came, payload=redaction.clean(came.payload), id=redaction.clean(came.id))
            for came in until_cancelled(material.signals, cancel_check)
        ],
    )


def _made(stage: _Stage, *, is_full: bool) -> Recorded:
    material = stage.material
    notes = _few(dict.fromkeys(material.notes))
    taken = marks_in([value for _, value in parts_of(material)])
    if taken:
        notes.append(f"texts that look like secrets and are taken out: {taken}")
    way, trial = _timed(stage)
    if trial.difference is not None:
        # Nothing is gained by exactness: people read this one to find out what it lacks.
        stage.material = material
        way = ScriptWriter(Timing.ROUNDED, None if is_full else ())
        trial = stage.play(way)
    elif not is_full:
        way, trial = _shortened(stage, way.timing)
    if way.timing is not Timing.ROUNDED:
        notes.append("times are exact, and workers come as late as they did")
    cut: list[str] = []
    scripted(stage.program, stage.material, way, cut.append)
    notes += _few(f"{part.name} is whole: a decision depends on it" for part in way.whole or ())
    notes += _few(cut)
    said = {**trial.said, "expect": _expected(stage, trial)}
    return Recorded(
        {key: value for key, value in said.items() if value},
        tuple(notes),
        way.timing,
        trial.difference,
        material.difference,
    )


def _few(notes: Iterable[str]) -> list[str]:
    """The first ones, and how many there are besides."""
    listed = list(notes)
    more = len(listed) - NOTES_SHOWN
    return listed if more <= 1 else [*listed[:NOTES_SHOWN], f"and {more:,} more like these"]


def _timed(stage: _Stage) -> tuple[ScriptWriter, _Trial]:
    """The least exact times that give the same decisions, nothing being cut."""
    for timing in Timing:
        if timing is Timing.ORDERED:
            cancel_check = stage.cancel_check
            found = gathered(stage.program, stage.runs, is_spread=True, cancel_check=cancel_check)
            stage.material = _cleaned(found, stage.likeness.redaction, cancel_check)
        way = ScriptWriter(timing)
        trial = stage.play(way)
        if trial.difference is None:
            break
    return way, trial


def _shortened(stage: _Stage, timing: Timing) -> tuple[ScriptWriter, _Trial]:
    """Cut everything but what decisions turn out to need."""
    large = [part for part, value in parts_of(stage.material) if shortened(value, ignored) != value]
    whole: tuple[Part, ...] = ()
    trial = stage.play(ScriptWriter(timing, whole))
    while trial.difference is not None:
        if stage.trials >= RECORD_TRIALS_MAX:
            way = ScriptWriter(timing)
            return way, stage.play(way)
        needed = _needed(stage, ScriptWriter(timing, whole), large, trial.difference)
        whole = (*whole, needed)
        large.remove(needed)
        trial = stage.play(ScriptWriter(timing, whole))
    return ScriptWriter(timing, whole), trial


def _needed(stage: _Stage, way: ScriptWriter, large: list[Part], first: Differing) -> Part:
    """The part without which this difference stays, by halving."""
    low, high = 0, len(large) - 1
    while low < high:
        middle = (low + high) // 2
        whole = (*(way.whole or ()), *large[: middle + 1])
        is_there = stage.play(ScriptWriter(way.timing, whole)).difference == first
        low, high = (middle + 1, high) if is_there else (low, middle)
    return large[low]


class _Trial(Struct, frozen=True):
    """A script that was played, and where it was decided differently."""

    said: Object
    difference: Differing | None
    simulation: Simulation | None = None


class _Stage(Struct):
    """Where scripts are played and compared with the log."""

    program: Program
    runs: Sequence[Sequence[e.Event]]
    material: Material
    log: list[e.Event]
    end: RunState
    likeness: ValueEquality
    cancel_check: CancelCheck
    trials: int = 0

    def play(self, way: ScriptWriter) -> _Trial:
        self.trials += 1
        said = scripted(self.program, self.material, way)
        most = _EVENTS_FACTOR * len(self.log) + _EVENTS_MORE
        script = script_of(said)
        player = _Patient(ScriptedOutcomes(script), self.cancel_check)
        world = World(self.program, script, player=player, events_max=most)
        is_part = self.material.is_cancelled
        try:
            world.play()
        except EndlessRun:  # it goes round in circles; the run did so only if it had to be stopped
            if not is_part:
                return _Trial(said, _ENDLESS)
        simulation = simulation_of(world)
        found = first_difference(self.log, simulation.log, alike=self._are_alike, is_part=is_part)
        clean = self.likeness.redaction.clean
        return _Trial(said, found and found.cleaned(clean), simulation)

    def _are_alike(self, recorded: Value, played: Value) -> bool:
        self.cancel_check()
        return self.likeness.holds(recorded, played)


class _Patient(Struct, frozen=True):
    """Plays as another does, as long as somebody waits for the end."""

    player: OutcomeProvider
    cancel_check: CancelCheck

    def next(self, asking: ExecutionStart) -> PlayedEntry | None:
        self.cancel_check()
        return self.player.next(asking)

    def lag(self, key: StepRunKey) -> int:
        self.cancel_check()
        return self.player.lag(key)


def _expected(stage: _Stage, trial: _Trial) -> Object:
    """What `anew test` is to find: how the run ended, and by which way."""
    if trial.simulation is None or stage.material.is_cancelled:
        return {}
    program, log, state = stage.program, trial.simulation.log, trial.simulation.state
    if trial.difference is not None:
        log, state = stage.log, stage.end
    found: Object = {
        "status": state.status.value,
        "exit_status": exit_status_of(state.status),
        "error_kind": (state.failure or {}).get("kind"),
        "visits": visits(program, log),
        "attempts": {label: count for label, count in attempts(program, log).items() if count},
        "delays": [round(one["seconds"], 9) for one in delays(program, log)],
        "handled": handled(program, log),
        "unsatisfied": unsatisfied(log, state),
    }
    return {key: value for key, value in found.items() if _is_worth_saying(value)}


def _is_worth_saying(value: object) -> bool:
    if isinstance(value, (list, dict)):
        return 0 < len(value) <= EXPECTED_ITEMS_MAX
    return value is not None
