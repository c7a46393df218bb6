"""Who plays the world for a changed program: the log where it has an answer, else the model.

What neither can answer stops the play: nothing is made up. Knows the log's world and the model;
knows no engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

from msgspec import Struct

from anew.engine.moments import LAST_MOMENT
from anew.engine.state import StepRunKey
from anew.lab.log_world import (
    NOT_ACCEPTED,
    Execution,
    Executions,
    LogWorld,
    TaskPlace,
    execution_at,
    line_of,
    not_well,
)
from anew.lab.outcome_sources import ExecutionStart, PlayedEntry
from anew.lab.pure_tools import entry_by_itself
from anew.lab.script import Script, ScriptEntry
from anew.lab.whatif.model import Sample, WantedExecution
from anew.program.kinds import kind_named

# A play that needs the model more often goes in circles by it.
MODELLED_MAX = 1_000
# For an execution whose end the log does not have: it is still going on when all is over.
_NEVER_ENDS = ScriptEntry({}, 1, LAST_MOMENT)


class NotRecorded(Exception):
    """Neither the log nor the model says what this execution gives."""

    def __init__(self, asking: ExecutionStart, why: str) -> None:
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


class PastChance:
    """The random number of the log after the same execution, else one of the source."""

    def __init__(self, recorded: LogWorld, source: Callable[[], float]) -> None:
        self._draws = recorded.draws
        self._source = source
        self._rest = iter(recorded.draws.get(-1, ()))
        self.made_up = 0

    def continue_after(self, after: Execution | None) -> None:
        """What is drawn from now on comes after this execution; None: one the log has not."""
        self._rest = iter(() if after is None else self._draws.get(after.index, ()))

    def __call__(self) -> float:
        known = next(self._rest, None)
        if known is not None:
            return known
        self.made_up += 1
        return self._source()


class KnownExecutions(Struct, frozen=True):
    """What the run's own program asked of the world, by place.

    `longer` are the tasks that now have more time for a call. `scripted` are tasks that need no
    world and yet failed: somebody played them, so that their inputs do not say what they give.
    """

    executions: Executions
    longer: frozenset[tuple[str, str]] = frozenset()
    scripted: frozenset[tuple[str, str]] = frozenset()


class PastOutcomes:
    """A player. Without a sample it stops where the model would be needed.

    `endless` are executions whose end the log does not have: they were stopped in the middle.
    """

    def __init__(
        self,
        recorded: LogWorld,
        chance: PastChance,
        *,
        known: KnownExecutions | None = None,
        sample: Sample | None = None,
    ) -> None:
        self._recorded = recorded
        self._chance = chance
        self._known = known
        self._sample = sample
        self._luck = None if sample is None else sample.chance_of(recorded.position)
        self._asked: Counter[TaskPlace] = Counter()
        self._latest: dict[tuple[str, int | None, str], str] = {}
        self._needed: Counter[StepRunKey] = Counter()
        self.endless: set[tuple[TaskPlace, int]] = set()
        self.modelled = 0
        self.borrowed = 0

    def lag(self, key: StepRunKey) -> int:
        lags, number = self._recorded.lags.came.get(key, ()), self._needed[key]
        self._needed[key] += 1
        return lags[number] if number < len(lags) else 0

    def next(self, asking: ExecutionStart) -> PlayedEntry | None:
        place = TaskPlace(asking.key, asking.label)
        number = self._asked[place]
        self._asked[place] += 1
        found = execution_at(self._recorded.places, place, number)
        if found is not None and not _is_answer(found, asking.kind):
            found = None
        self._chance.continue_after(found)
        if self._is_by_itself(asking, place, number):
            return PlayedEntry(entry_by_itself(asking), is_last=True)
        if found is None:
            return self._missing(asking, place)
        self._latest[line_of(place)] = not_well(found.amounts_to)
        if found.entry is None and found.is_call:
            self.endless.add((place, asking.attempt))
            return PlayedEntry(_NEVER_ENDS, is_last=True)
        return None if found.entry is None else PlayedEntry(found.entry, is_last=True)

    def _is_by_itself(self, asking: ExecutionStart, place: TaskPlace, number: int) -> bool:
        """Whether the inputs say what comes, and the log has nothing for these inputs."""
        if self._known is None or not kind_named(asking.kind).is_known_by_inputs:
            return False
        if (place.key.step, place.task) in self._known.scripted:
            return False
        was = execution_at(self._known.executions, place, number)
        return was is None or was.kind != asking.kind or was.inputs != asking.inputs

    def _missing(self, asking: ExecutionStart, place: TaskPlace) -> PlayedEntry | None:
        if place in self._recorded.kept:
            return None  # the signal is on its way to whoever waits for it
        kind = kind_named(asking.kind)
        if kind.waits_for_others:
            raise NotRecorded(asking, f"the log has no answer of a {kind.outcome_from}")
        return PlayedEntry(self._modelled(asking, place), is_last=True)

    def _modelled(self, asking: ExecutionStart, place: TaskPlace) -> ScriptEntry:
        sample, luck = self._sample, self._luck
        if sample is None or luck is None:
            raise NeedsModel
        line, named = line_of(place), (place.key.step, place.task)
        # What was well for the old policy, and is asked for again by this one, was not accepted.
        after = self._latest.get(line) or (NOT_ACCEPTED if asking.attempt > 1 else "")
        wanted = WantedExecution(self._recorded.run, *named, asking.attempt, after, asking.inputs)
        rate = sample.model.rate(wanted)
        if rate is None:
            such = f"after {after}" if after else "that asked the same"
            raise NotRecorded(asking, f"no run has an outcome of this task {such}")
        self.modelled += 1
        if self.modelled > MODELLED_MAX:
            raise NotRecorded(asking, f"the model was needed {MODELLED_MAX} times and continued")
        goes_well = luck.random() < sample.probability(rate)
        pick = sample.model.success if goes_well else sample.model.failure
        found = pick(wanted, luck)
        if found is None or found.entry is None:
            what = "succeeded" if goes_well else "failed"
            raise NotRecorded(asking, f"by the model it {what}, which no run has an example of")
        self.borrowed += goes_well and found.inputs != asking.inputs
        self._latest[line] = not_well(found.amounts_to)
        return found.entry


def _is_answer(found: Execution, kind: str) -> bool:
    """Whether what came once can come of this: a call's outcome is no answer of a person."""
    return found.kind == kind or (found.is_call and not kind_named(kind).waits_for_others)
