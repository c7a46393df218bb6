"""Who plays the world for a changed program: the log where it has an answer, else the model.

What neither can answer stops the play: nothing is made up. Knows the log's world and the model;
knows no engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

from msgspec import Struct, field

from anew.engine.state import Key
from anew.lab.playing import Asking, Played
from anew.lab.script import Entry, Script
from anew.lab.whatif.model import Sample, Wanted
from anew.lab.whatif.past import FOR_OTHERS, Execution, Place, Tape, never_ends
from anew.values import Value

# A play that needs the model more often goes in circles by it.
MODELLED_MAX = 1_000


class Unanswered(Exception):
    """Neither the log nor the model says what this execution gives."""

    def __init__(self, asking: Asking, why: str) -> None:
        super().__init__(why)
        self.asking = asking
        self.why = why


class NeedsModel(Exception):
    """The log does not say what an execution gives; the model could."""


class PlayedScript(Script, frozen=True):
    """A script whose chance comes from elsewhere."""

    draw: Callable[[], float] = Random(0).random

    def draws(self, seed: int | None = None) -> Callable[[], float]:  # noqa: ARG002
        return self.draw


class Chance:
    """The random number of the log after the same execution, else one of the seeded chance."""

    def __init__(self, tape: Tape, source: Random) -> None:
        self._draws = tape.draws
        self._source = source
        self._rest = iter(tape.draws.get(-1, ()))
        self.made_up = 0

    def go_on(self, after: Execution | None) -> None:
        """What is drawn from now on comes after this execution; None: one the log has not."""
        self._rest = iter(() if after is None else self._draws.get(after.index, ()))

    def __call__(self) -> float:
        recorded = next(self._rest, None)
        if recorded is not None:
            return recorded
        self.made_up += 1
        return self._source.random()


class Doubts(Struct):
    """How many executions the log answered although something about them is different."""

    inputs: int = 0
    kind: int = 0
    timeout: int = 0


class Known(Struct, frozen=True):
    """What the run's own program asked for, by place: the inputs of its executions, in order.

    `longer` are the tasks that now have more time for a call.
    """

    inputs: dict[Place, list[Value]] = field(default_factory=dict)
    longer: frozenset[tuple[str, str]] = frozenset()


class PastWorld:
    """A player. Without a sample it stops where the model would be needed.

    `endless` are executions whose end the log does not have: they were stopped in the middle.
    """

    def __init__(
        self,
        tape: Tape,
        chance: Chance,
        *,
        known: Known | None = None,
        sample: Sample | None = None,
    ) -> None:
        self._tape = tape
        self._chance = chance
        self._known = known
        self._sample = sample
        self._luck = None if sample is None else sample.chance_of(tape.position)
        self._asked: Counter[Place] = Counter()
        self._latest: dict[Place, str] = {}
        self._needed: Counter[Key] = Counter()
        self.inputs: dict[Place, list[Value]] = {}
        self.doubts = Doubts()
        self.endless: set[tuple[Place, int]] = set()
        self.modelled = 0

    def lag(self, key: Key) -> int:
        lags, number = self._tape.lags.get(key, ()), self._needed[key]
        self._needed[key] += 1
        return lags[number] if number < len(lags) else 0

    def next(self, asking: Asking) -> Played | None:
        place = Place(asking.key, asking.label)
        number = self._asked[place]
        self._asked[place] += 1
        self.inputs.setdefault(place, []).append(asking.inputs)
        found = self._tape.at(place, number)
        if found is not None and not _is_answer(found, asking.kind):
            found = None
        self._chance.go_on(found)
        if found is None:
            return self._missing(asking, place)
        self._look(asking, place, number, found)
        self._latest[place] = found.amounts_to
        if found.entry is None and found.is_call:
            self.endless.add((place, asking.attempt))
            return Played(never_ends(), is_last=True)
        return None if found.entry is None else Played(found.entry, is_last=True)

    def _look(self, asking: Asking, place: Place, number: int, found: Execution) -> None:
        """Whether the log's answer is one to the same question."""
        if self._known is None:
            return
        before = self._known.inputs.get(place, [])
        named = (place.key.step, place.task)
        if found.kind != asking.kind:
            self.doubts.kind += 1
        elif number < len(before) and before[number] != asking.inputs:
            self.doubts.inputs += 1
        elif found.amounts_to == "timeout" and named in self._known.longer:
            self.doubts.timeout += 1

    def _missing(self, asking: Asking, place: Place) -> Played | None:
        if place in self._tape.kept:
            return None  # the signal is on its way to whoever waits for it
        if asking.kind in FOR_OTHERS:
            who = "a person" if asking.kind == "human" else "a signal"
            raise Unanswered(asking, f"the log has no answer of {who}")
        return Played(self._modelled(asking, place), is_last=True)

    def _modelled(self, asking: Asking, place: Place) -> Entry:
        sample, luck = self._sample, self._luck
        if sample is None or luck is None:
            raise NeedsModel
        after = self._latest.get(place, "") if asking.attempt > 1 else ""
        wanted = Wanted(self._tape.run, place.key.step, place.task, asking.attempt, after)
        rate = sample.model.rate(wanted)
        if rate is None:
            raise Unanswered(asking, "no run has an outcome of this task")
        self.modelled += 1
        if self.modelled > MODELLED_MAX:
            raise Unanswered(asking, f"the model was needed {MODELLED_MAX} times and went on")
        goes_well = luck.random() < sample.probability(rate)
        pick = sample.model.success if goes_well else sample.model.failure
        found = pick(wanted, luck)
        if found is None or found.entry is None:
            what = "succeeded" if goes_well else "failed"
            raise Unanswered(asking, f"by the model it {what}, which no run has an example of")
        self._latest[place] = found.amounts_to
        return found.entry


def _is_answer(found: Execution, kind: str) -> bool:
    """Whether what came once can come of this: a call's outcome is no answer of a person."""
    return found.kind == kind or (found.is_call and kind not in FOR_OTHERS)
