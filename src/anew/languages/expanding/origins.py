"""Find the parts of a compiled program in the document they come from.

The canonical form of a document has the steps, tasks, rules and arcs of the original, but at other
lines, and of a graph in another order. What has no counterpart was written out by the translation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct

from anew.program.policy import Policy, Rule
from anew.program.program import Arc, Program, Step, Task
from anew.program.span import Span

_Part = TypeVar("_Part", Rule, Arc)


class Origins(Struct, frozen=True):
    """The program as the author's own document compiles to it."""

    program: Program

    def step(self, name: str) -> Step | None:
        return self.program.steps.get(name)

    def task(self, step: str, label: str) -> Task | None:
        """A task of a step, or of the workbook when the step is empty."""
        if not step:
            return self.program.workbook.get(label)
        return self.program.task_of(step, label)

    def rules(self, task: Task | None, policy: Policy) -> list[Span | None]:
        """Where each rule of a policy stands; one that was written out stands with its task."""
        if task is None:
            return [None] * len(policy.rules)
        found = _places(policy.rules, task.policy.rules, _rule_kind)
        return [place or task.span for place in found]

    def arcs(self, step: str, arcs: Sequence[Arc]) -> list[Span | None]:
        found = self.program.steps.get(step)
        known = found.router.arcs if found is not None else ()
        return _places(arcs, known, _arc_target)


def _rule_kind(rule: Rule) -> object:
    return type(rule.then)


def _arc_target(arc: Arc) -> object:
    return arc.to


def _places(
    parts: Sequence[_Part], known: Sequence[_Part], kind_of: Callable[[_Part], object]
) -> list[Span | None]:
    """Each part stands where the next one of its kind does."""
    waiting: dict[object, deque[_Part]] = {}
    for part in known:
        waiting.setdefault(kind_of(part), deque()).append(part)
    found: list[Span | None] = []
    for part in parts:
        alike = waiting.get(kind_of(part))
        found.append(alike.popleft().span if alike else None)
    return found
