"""The stated model: what an execution gives that no log has, from how often such ones went well.

A first try is told from tries of the same task in other runs, a retry from other retries only:
those after the same error if there are any. How sure a rate is counts too: each sample draws it
from its posterior (Beta, Jeffreys' prior). Knows nothing of engines and programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from enum import StrEnum
from random import Random

from msgspec import Struct

from anew.lab.log_world import Execution, LogWorld
from anew.values import Value, json_text

# With fewer, the attempt does not count, only what came before.
OBSERVATIONS_MIN = 5


class Basis(StrEnum):
    """What the observations of a rate have in common with the execution it is for."""

    FIRST = "task, not after a failure"
    EXACT = "task, attempt and what came before"
    AFTER = "task and what came before"
    RETRY = "task, after any failure"


class Cell(Struct, frozen=True, order=True):
    """Which executions a rate counts: None stands for any.

    `after` is the outcome just before in one word, empty when there was none or it was well.
    """

    step: str
    task: str
    attempt: int | None = None
    after: str | None = None

    @property
    def basis(self) -> Basis:
        if self.after is None:
            return Basis.RETRY
        if not self.after:
            return Basis.FIRST
        return Basis.AFTER if self.attempt is None else Basis.EXACT


class Rate(Struct, frozen=True):
    """So many of so many executions went well."""

    cell: Cell
    successes: int
    observations: int


class WantedExecution(Struct, frozen=True):
    """The execution that is asked for and not in the log. `after` as in `Cell`."""

    run: str
    step: str
    task: str
    attempt: int
    after: str
    inputs: Value = None

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The rates that fit, the most exact first."""
        step, task = self.step, self.task
        if not self.after:
            return (Cell(step, task, None, ""),)
        return (
            Cell(step, task, self.attempt, self.after),
            Cell(step, task, None, self.after),
            Cell(step, task),
        )


# Of a task, of one run or (None) of any, with these inputs or (None) any.
_Alike = tuple[str, str, str | None, str | None]


class Model:
    """Every call of the given runs that has an outcome, counted.

    With each run come the tasks whose executions are no examples: the changed program asks
    something else there. `uncounted` is how many executions that leaves out.
    """

    def __init__(self, runs: Iterable[tuple[LogWorld, Collection[tuple[str, str]]]]) -> None:
        self.uncounted = 0
        self._good: Counter[Cell] = Counter()
        self._all: Counter[Cell] = Counter()
        self._successes: dict[_Alike, list[Execution]] = {}
        self._failures: dict[Cell, list[Execution]] = {}
        for recorded, others in runs:
            for one in recorded.executions():
                # What runs share happened once.
                if not one.has_ended or not one.is_call or one.is_shared:
                    continue
                if one.named in others:
                    self.uncounted += 1
                else:
                    self._count(recorded.run, one)

    def _count(self, run: str, one: Execution) -> None:
        wanted = WantedExecution(run, *one.named, one.attempt, one.after, one.inputs)
        for cell in wanted.cells:
            self._all[cell] += 1
            self._good[cell] += one.is_success
            if not one.is_success:
                self._failures.setdefault(cell, []).append(one)
        if one.is_success:
            for alike in _alikes(wanted):
                self._successes.setdefault(alike, []).append(one)

    def rate(self, wanted: WantedExecution) -> Rate | None:
        """The most exact rate there is, the attempt's only with enough observations; else None."""
        for cell in wanted.cells:
            least = OBSERVATIONS_MIN if cell.basis is Basis.EXACT else 1
            if self._all[cell] >= least:
                return Rate(cell, self._good[cell], self._all[cell])
        return None

    def success(self, wanted: WantedExecution, chance: Random) -> Execution | None:
        """A recorded success of the task: with the same inputs, or of the same run, if there is."""
        found = (self._successes.get(alike) for alike in _alikes(wanted))
        first = next((examples for examples in found if examples), None)
        return chance.choice(first) if first else None

    def failure(self, wanted: WantedExecution, chance: Random) -> Execution | None:
        """A recorded failure of the task: one after the same outcome, or a retry, if there is."""
        step, task = wanted.step, wanted.task
        cells = (Cell(step, task, None, wanted.after), Cell(step, task), Cell(step, task, None, ""))
        found = (self._failures.get(cell) for cell in cells)
        first = next((examples for examples in found if examples), None)
        return chance.choice(first) if first else None


def _alikes(wanted: WantedExecution) -> tuple[_Alike, ...]:
    step, task, run, inputs = wanted.step, wanted.task, wanted.run, json_text(wanted.inputs)
    return (
        (step, task, run, inputs),
        (step, task, None, inputs),
        (step, task, run, None),
        (step, task, None, None),
    )


class Sample:
    """One draw of every rate, the same for all runs, and the chance of their executions."""

    def __init__(self, model: Model, seed: int, number: int) -> None:
        self.model = model
        self.used: Counter[Rate] = Counter()
        self._name = f"{seed}:{number}"
        self._drawn: dict[Cell, float] = {}

    def chance_of(self, position: int) -> Random:
        """The chance of the run in this position: the same whatever the other runs need."""
        return Random(f"{self._name}:{position}")

    def probability(self, rate: Rate) -> float:
        """How probable a success is in this sample."""
        self.used[rate] += 1
        known = self._drawn.get(rate.cell)
        if known is None:
            failures = rate.observations - rate.successes
            cell = rate.cell
            name = f"{self._name}:{cell.step}:{cell.task}:{cell.attempt}:{cell.after}"
            known = Random(name).betavariate(rate.successes + 0.5, failures + 0.5)
            self._drawn[cell] = known
        return known
