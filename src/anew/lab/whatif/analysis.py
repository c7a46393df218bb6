"""Play a changed program on the worlds of past runs, and say what would have become of them.

A run whose log answers everything is played once. Any other is played once per sample: what the
log lacks comes from the model, or makes the run unknown. Reads no files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

from anew.engine import events as e
from anew.errors import ConfigError
from anew.lab.decisions import Departure, departure
from anew.lab.log_world import LogWorld
from anew.lab.whatif.changes import (
    asking_otherwise,
    changed_policies,
    other_changes,
)
from anew.lab.whatif.model import Model, Rate, Sample
from anew.lab.whatif.past_outcomes import NeedsModel
from anew.lab.whatif.play import Play, PlayEnd, play
from anew.lab.whatif.playable_runs import PastRun, PlayableRun, prepared, scripted_tasks, worlds_of
from anew.lab.whatif.verdict import RunVerdict, SkippedRun, Whatif
from anew.program.program import Program

SAMPLES_DEFAULT = 200
# Fewer would make an interval of 95 % one of anything.
SAMPLES_MIN = 20
# About twenty seconds of playing; then there are fewer samples, and fewer runs in them.
SAMPLED_EVENTS_MAX = 500_000
# How many plays of a run are looked at for one that ended, to compare it with the past.
COMPARED_PLAYS = 5
# Of chance: the least and the most that can be drawn.
EDGES = (0.0, 1.0 - 2.0**-53)


def whatif(
    past: Sequence[PastRun],
    program: Program,
    *,
    samples: int = SAMPLES_DEFAULT,
    seed: int = 0,
    others: Sequence[PastRun] = (),
    on_play: Callable[[int, int], None] | None = None,
) -> Whatif:
    """What `program` would have made of these runs. The same seed gives the same answer.

    `others` are asked nothing, but the model counts them too: failed runs alone would tell it that
    nothing ever goes well. `on_play` is told after each play how many there were, of how many.
    """
    analysis = _Analysis(past, program, max(samples, SAMPLES_MIN), seed)
    analysis.on_play = on_play
    return analysis.answer(others)


class _Analysis:
    def __init__(self, past: Sequence[PastRun], program: Program, samples: int, seed: int) -> None:
        self.on_play: Callable[[int, int], None] | None = None
        self._past = past
        self._program = program
        self._samples = samples
        self._seed = seed
        self._named = {one.run for one in past}
        if len(self._named) < len(past):
            raise ConfigError("two of the past runs have the same id; give each one of its own")
        self._left: list[SkippedRun] = []
        self._played, self._planned = 0, len(past)

    def answer(self, others: Sequence[PastRun]) -> Whatif:
        worlds = worlds_of(self._past)
        counted = worlds | {
            run: one for run, one in worlds_of(others).items() if run not in self._named
        }
        ready = self._ready(worlds, scripted_tasks(counted.values()))
        model = self._model(counted, [*self._past, *others])
        alone = {one.past.run: self._alone(one) for one in ready}
        decided = [one for one in ready if _is_settled(alone[one.past.run])]
        sampled = self._bounded([one for one in ready if not _is_settled(alone[one.past.run])])
        used, played = self._sampled(sampled, model)
        for one in decided:
            played[one.past.run] = [found for found in (alone[one.past.run],) if found is not None]
        verdicts = [
            self._verdict(one, played[one.past.run], chance=alone[one.past.run])
            for one in ready
            if one.past.run in played
        ]
        olds = {one.past.program.digest: one.past.program for one in ready}
        return Whatif(
            program=self._program,
            runs=verdicts,
            left=self._left,
            samples=max((len(one.plays) for one in verdicts), default=self._samples),
            samples_wanted=self._samples,
            seed=self._seed,
            rates=used,
            counted=len(counted),
            uncounted=model.uncounted,
            policies=_policies(olds, self._program),
            changes=_changes(olds, self._program),
            retried=self._retried(verdicts),
        )

    def _retried(self, verdicts: Sequence[RunVerdict]) -> int:
        judged = {one.run for one in verdicts}
        return sum(
            isinstance(event, e.RunPaused) and event.shared_with in judged
            for past in self._past
            if past.run in judged
            for event in past.log
        )

    def _model(self, counted: dict[str, LogWorld], runs: Sequence[PastRun]) -> Model:
        """Of every run that is counted, but not of tasks that ask something else by now."""
        otherwise: dict[int, frozenset[tuple[str, str]]] = {}
        for one in runs:
            if id(one.program) not in otherwise:
                otherwise[id(one.program)] = asking_otherwise(one.program, self._program)
        programs = {one.run: one.program for one in reversed(runs)}
        return Model((world, otherwise[id(programs[run])]) for run, world in counted.items())

    def _ready(
        self, worlds: dict[str, LogWorld], scripted: frozenset[tuple[str, str]]
    ) -> list[PlayableRun]:
        found = []
        for past in self._past:
            one = prepared(past, worlds.get(past.run), self._program, scripted)
            if isinstance(one, PlayableRun):
                found.append(one)
            else:
                self._left.append(one)
        return found

    def _alone(self, one: PlayableRun) -> Play | None:
        """A play on the log and chance alone; None when the model has a say in it."""
        try:
            return self._play(one, None)
        except NeedsModel:
            return None

    def _play(
        self, one: PlayableRun, sample: Sample | None, *, number: int = 0, edge: float | None = None
    ) -> Play:
        name = f"{self._seed}:{number}:{one.world.position}:draws"
        found = play(
            self._program,
            one.world,
            length=len(one.past.log),
            draw=Random(name).random if edge is None else lambda: edge,
            known=one.known,
            sample=sample,
        )
        self._played += 1
        if self.on_play is not None:
            self.on_play(self._played, self._planned)
        return found

    def _bounded(self, runs: list[PlayableRun]) -> list[PlayableRun]:
        """As many of the runs as can be sampled often enough; the rest is left out."""
        kept, events = 0, 0
        for one in runs:
            events += len(one.past.log) * SAMPLES_MIN
            if kept and events > SAMPLED_EVENTS_MAX:
                break
            kept += 1
        why = "too many runs need the model; name fewer of them, or a smaller --limit"
        self._left.extend(SkippedRun(one.past.run, why) for one in runs[kept:])
        return runs[:kept]

    def _sampled(
        self, runs: Sequence[PlayableRun], model: Model
    ) -> tuple[dict[Rate, float], dict[str, list[Play]]]:
        """Every open run in every sample, and how often a sample used each rate."""
        used: Counter[Rate] = Counter()
        played: dict[str, list[Play]] = {one.past.run: [] for one in runs}
        events, number = 0, 0
        self._planned = self._played + self._samples * len(runs)
        while runs and number < self._samples:
            if number >= SAMPLES_MIN and events > SAMPLED_EVENTS_MAX:
                break
            sample = Sample(model, self._seed, number)
            for one in runs:
                found = self._play(one, sample, number=number)
                events += found.events
                played[one.past.run].append(_slim(found, number))
            used.update(sample.used)
            number += 1
        return {rate: times / number for rate, times in used.items()}, played

    def _verdict(self, one: PlayableRun, plays: list[Play], *, chance: Play | None) -> RunVerdict:
        departs = _departure(one.past, plays)
        for played in plays:
            played.log = ()
        edges: tuple[PlayEnd, ...] = ()
        if chance is not None and chance.chance:
            edges = tuple(self._edge(one, edge) for edge in EDGES)
        return RunVerdict(one.past.run, one.status, one.figures, plays, departs, edges)

    def _edge(self, one: PlayableRun, edge: float) -> PlayEnd:
        """How it ends when chance goes to an extreme."""
        try:
            return self._play(one, None, edge=edge).status
        except NeedsModel:
            return PlayEnd.UNKNOWN


def _is_settled(alone: Play | None) -> bool:
    """Whether there is but one play: neither the model nor chance has a say."""
    return alone is not None and not alone.chance


def _slim(played: Play, number: int) -> Play:
    """There may be very many plays; one of them is enough to compare."""
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
    place, departs = asked.key, f"asks for {asked.label} attempt {asked.attempt}"
    return Departure(f"{place.step}#{place.visit}", past.log[-1].seq, None, departs)


def _policies(olds: dict[str, Program], new: Program) -> list[str]:
    named = {one: None for old in olds.values() for one in changed_policies(old, new)}
    return [step if step == task else f"{step}.{task}" for step, task in named]


def _changes(olds: dict[str, Program], new: Program) -> list[str]:
    return list({words: None for old in olds.values() for words in other_changes(old, new)})
