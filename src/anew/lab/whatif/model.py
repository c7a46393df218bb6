"""The stated model: what an execution gives that no log has, from how often such ones went well.

A rate is counted over all given runs: for the same task, the same attempt and the same outcome just
before, and for less of that where there are too few. How sure a rate is counts too: each sample
draws it from its posterior (Beta, Jeffreys' prior). Knows nothing of engines and programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from random import Random

from msgspec import Struct

from anew.lab.whatif.past import Execution, Tape

# With fewer, a less exact rate says more.
OBSERVATIONS_MIN = 5


class Basis(StrEnum):
    """What the observations of a rate have in common with the execution it is for."""

    EXACT = "task, attempt and what came before"
    AFTER = "task and what came before"
    ATTEMPT = "task and attempt"
    TASK = "task"


class Cell(Struct, frozen=True, order=True):
    """Which executions a rate counts: None stands for any.

    `after` is the outcome just before in one word, empty for a first attempt.
    """

    step: str
    task: str
    attempt: int | None = None
    after: str | None = None

    @property
    def basis(self) -> Basis:
        if self.attempt is not None:
            return Basis.ATTEMPT if self.after is None else Basis.EXACT
        return Basis.TASK if self.after is None else Basis.AFTER


class Rate(Struct, frozen=True):
    """So many of so many executions went well."""

    cell: Cell
    successes: int
    observations: int


class Wanted(Struct, frozen=True):
    """The execution that is asked for and not in the log. `after` as in `Cell`."""

    run: str
    step: str
    task: str
    attempt: int
    after: str

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The rates that fit, the most exact first."""
        step, task = self.step, self.task
        return (
            Cell(step, task, self.attempt, self.after),
            Cell(step, task, None, self.after),
            Cell(step, task, self.attempt),
            Cell(step, task),
        )


class Model:
    """Every call of all given runs that has an outcome, counted."""

    def __init__(self, tapes: Iterable[Tape]) -> None:
        self._good: Counter[Cell] = Counter()
        self._all: Counter[Cell] = Counter()
        # Of a task: by run, and under None of all runs.
        self._successes: dict[tuple[str, str, str | None], list[Execution]] = {}
        self._failures: dict[Cell, list[Execution]] = {}
        for tape in tapes:
            for one in tape.executions():
                # What runs share happened once.
                if one.has_ended and one.is_call and not one.is_shared:
                    self._count(tape.run, one)

    def _count(self, run: str, one: Execution) -> None:
        step, task = one.place.key.step, one.place.task
        wanted = Wanted(run, step, task, one.attempt, one.after or "")
        for cell in wanted.cells:
            self._all[cell] += 1
            self._good[cell] += one.is_success
            if not one.is_success:
                self._failures.setdefault(cell, []).append(one)
        if one.is_success:
            self._successes.setdefault((step, task, run), []).append(one)
            self._successes.setdefault((step, task, None), []).append(one)

    def rate(self, wanted: Wanted) -> Rate | None:
        """The most exact rate with enough observations; the whole task's with any; else None."""
        *exact, task = wanted.cells
        for cell in exact:
            if self._all[cell] >= OBSERVATIONS_MIN:
                return Rate(cell, self._good[cell], self._all[cell])
        return Rate(task, self._good[task], self._all[task]) if self._all[task] else None

    def success(self, wanted: Wanted, chance: Random) -> Execution | None:
        """A recorded success of the task: of the same run if it has one."""
        step, task = wanted.step, wanted.task
        own = self._successes.get((step, task, wanted.run))
        found = own or self._successes.get((step, task, None))
        return chance.choice(found) if found else None

    def failure(self, wanted: Wanted, chance: Random) -> Execution | None:
        """A recorded failure of the task: one after the same outcome if there is one."""
        _, after, _, task = wanted.cells
        found = self._failures.get(after) or self._failures.get(task)
        return chance.choice(found) if found else None


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
