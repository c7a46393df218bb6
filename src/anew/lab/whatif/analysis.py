"""Play a changed program on the worlds of past runs, and say what would have become of them.

A run whose log answers everything is played once and is certain. Any other is played once per
sample: what the log lacks comes from the model, or makes the run unknown. Reads no files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from anew.engine import events as e
from anew.errors import ConfigError
from anew.lab.whatif.answering import Known, NeedsModel
from anew.lab.whatif.changes import changed_policies, longer_timeouts, other_changes
from anew.lab.whatif.decisions import Departure, departure
from anew.lab.whatif.model import Model, Rate, Sample
from anew.lab.whatif.past import PastRun, Tape, tape_of
from anew.lab.whatif.play import Figures, Play, play
from anew.lab.whatif.verdict import Left, Verdict, Whatif
from anew.program.program import Program

SAMPLES_DEFAULT = 200
# About a minute of playing; more runs or longer ones are sampled less often.
SAMPLED_EVENTS_MAX = 2_000_000
SAMPLES_MIN = 20
# How many plays of a run are looked at for one that ended, to compare it with the past.
COMPARED_PLAYS = 5
ENDED = {"run.done": "done", "run.failed": "failed"}


class _Ready(Struct, frozen=True):
    """A past run that its own program derives again from its world."""

    past: PastRun
    tape: Tape
    status: str
    figures: Figures
    known: Known


def whatif(
    past: Sequence[PastRun],
    program: Program,
    *,
    samples: int = SAMPLES_DEFAULT,
    seed: int = 0,
    others: Sequence[PastRun] = (),
) -> Whatif:
    """What `program` would have made of these runs. The same seed gives the same answer.

    `others` are asked nothing, but the model counts them too: failed runs alone would tell it that
    nothing ever goes well.
    """
    return _Analysis(past, program, samples, seed).answer(others)


class _Analysis:
    def __init__(self, past: Sequence[PastRun], program: Program, samples: int, seed: int) -> None:
        self._past = past
        self._program = program
        self._samples = samples
        self._seed = seed
        self._named = {one.run for one in past}
        if len(self._named) < len(past):
            raise ConfigError("two of the past runs have the same id; give each one of its own")
        self._left: list[Left] = []

    def answer(self, others: Sequence[PastRun]) -> Whatif:
        tapes = _tapes(self._past)
        ready = self._ready({tape.run: tape for tape in tapes})
        counted = [*tapes, *(one for one in _tapes(others) if one.run not in self._named)]
        model = Model(counted)
        settled = {one.past.run: self._settled(one) for one in ready}
        open_runs = [one for one in ready if settled[one.past.run] is None]
        samples = self._bounded(open_runs)
        used, played = self._sampled(open_runs, model, samples)
        verdicts = [
            _verdict(one, [alone] if (alone := settled[one.past.run]) else played[one.past.run])
            for one in ready
        ]
        olds = {one.past.program.digest: one.past.program for one in ready}
        return Whatif(
            program=self._program,
            runs=verdicts,
            left=self._left,
            samples=samples,
            samples_wanted=self._samples,
            seed=self._seed,
            rates=used,
            counted=len(counted),
            policies=_policies(olds, self._program),
            changes=_changes(olds, self._program),
        )

    def _ready(self, tapes: dict[str, Tape]) -> list[_Ready]:
        found = []
        for past in self._past:
            one = _prepared(past, tapes.get(past.run), self._program)
            if isinstance(one, _Ready):
                found.append(one)
            else:
                self._left.append(one)
        return found

    def _settled(self, one: _Ready) -> Play | None:
        """The one play there can be; None when the model or chance has a say in it."""
        try:
            alone = self._play(one, None)
        except NeedsModel:
            return None
        return alone if not alone.chance else None

    def _play(self, one: _Ready, sample: Sample | None, number: int = 0) -> Play:
        return play(
            self._program,
            one.tape,
            length=len(one.past.log),
            seed=f"{self._seed}:{number}:{one.tape.position}:draws",
            known=one.known,
            sample=sample,
        )

    def _bounded(self, open_runs: Sequence[_Ready]) -> int:
        length = sum(len(one.past.log) for one in open_runs)
        if not length:
            return self._samples
        affordable = max(SAMPLES_MIN, SAMPLED_EVENTS_MAX // length)
        return min(self._samples, affordable)

    def _sampled(
        self, open_runs: Sequence[_Ready], model: Model, samples: int
    ) -> tuple[dict[Rate, float], dict[str, list[Play]]]:
        """Every open run in every sample, and how often a sample used each rate."""
        used: Counter[Rate] = Counter()
        played: dict[str, list[Play]] = {one.past.run: [] for one in open_runs}
        for number in range(samples if open_runs else 0):
            sample = Sample(model, self._seed, number)
            for one in open_runs:
                played[one.past.run].append(_slim(self._play(one, sample, number), number))
            used.update(sample.used)
        return {rate: times / samples for rate, times in used.items()}, played


def _tapes(runs: Sequence[PastRun]) -> list[Tape]:
    ended = [one for one in runs if _ending(one.log) is not None]
    return [tape_of(one, position) for position, one in enumerate(ended)]


def _ending(log: Sequence[e.Event]) -> str | None:
    return ENDED.get(log[-1].name) if log else None


def _prepared(past: PastRun, tape: Tape | None, program: Program) -> _Ready | Left:
    """The run, if playing its own program on its world gives its own decisions again."""
    status = _ending(past.log)
    if tape is None or status is None:
        is_cancelled = past.log and isinstance(past.log[-1], e.RunCancelled)
        return Left(past.run, "someone cancelled it" if is_cancelled else "it has not ended")
    if _is_of_a_line(past):
        return Left(past.run, "it was begun anew, and a line of runs is not followed")
    try:
        again = play(past.program, tape, length=len(past.log), seed="again")
    except NeedsModel:
        return Left(past.run, "its own program asks for executions that its log does not have")
    if again.figures is None:
        return Left(past.run, f"played again on its own program, {again.why}")
    apart = departure(past.log, again.log)
    if apart is not None:
        told = f"played again on its own program it differs at seq {apart.seq} ({apart.place})"
        return Left(past.run, told)
    known = Known(again.inputs, longer_timeouts(past.program, program))
    return _Ready(past, tape, status, again.figures, known)


def _is_of_a_line(past: PastRun) -> bool:
    """Whether the run took the place of another, or another took its place."""
    first = past.log[0]
    if isinstance(first, e.RunRequested) and first.continues is not None:
        return True
    steps = past.program.steps.values()
    restarts = {step.name for step in steps for task in step.tasks if task.kind == "restart"}
    return any(isinstance(event, e.TaskStarted) and event.step in restarts for event in past.log)


def _verdict(one: _Ready, plays: list[Play]) -> Verdict:
    departs = _departure(one.past, plays)
    for played in plays:
        played.log = ()
    return Verdict(one.past.run, one.status, one.figures, plays, departs)


def _slim(played: Play, number: int) -> Play:
    """There may be very many plays; one of them is enough to compare."""
    played.inputs = {}
    if number >= COMPARED_PLAYS:
        played.log = ()
    return played


def _departure(past: PastRun, plays: list[Play]) -> Departure | None:
    """Before the first answer of the model all plays are the same, so any of them will do."""
    ended = next((one for one in plays if one.log), None)
    if ended is not None:
        return departure(past.log, ended.log)
    asked = plays[0].asked
    if asked is None:
        return None
    place, wish = asked.key, f"asks for {asked.label} attempt {asked.attempt}"
    return Departure(f"{place.step}#{place.visit}", past.log[-1].seq, None, wish)


def _policies(olds: dict[str, Program], new: Program) -> list[str]:
    named = {one: None for old in olds.values() for one in changed_policies(old, new)}
    return [step if step == task else f"{step}.{task}" for step, task in named]


def _changes(olds: dict[str, Program], new: Program) -> list[str]:
    return list({words: None for old in olds.values() for words in other_changes(old, new)})
