"""Errors that a policy passed over: the run went on as if nothing had happened.

Counts them by the rule that did so, one event at a time. Does not know runs, nor how they ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from anew.engine import events as e
from anew.values import Object
from anew.views.wording import counted


class IgnoredError(Struct, frozen=True):
    """What one rule of a task passed over; `rule` is None where no rule of it matched.

    `is_spent`: a retry rule whose attempts were spent, by its `on_exhausted`.
    """

    step: str
    task: str
    rule: int | None
    rule_name: str | None = None
    is_spent: bool = False

    @property
    def by(self) -> str:
        """`by rule 2`, `by on_exhausted of rule 2`; a `retry` block has one `on_exhausted`."""
        if self.is_spent:
            return "by on_exhausted" if self.rule_name else f"by on_exhausted of rule {self.rule}"
        return f"by {self.rule_name or f'rule {self.rule}'}"

    @property
    def where(self) -> str:
        return self.step if self.task == self.step else f"{self.step}.{self.task}"


class IgnoredErrors:
    """Of one log. Feed it every event, in order."""

    def __init__(self) -> None:
        self._counts: Counter[IgnoredError] = Counter()
        self._was_error = False
        self._rule_name: str | None = None

    def feed(self, event: e.Event) -> None:
        is_spent = isinstance(event, e.TaskRetryExhausted)
        if isinstance(event, e.TaskProcessed):
            self._was_error, self._rule_name = event.outcome.is_error, event.rule_name
        elif not isinstance(event, e.TaskRetryExhausted):
            return
        if self._was_error and event.directive.accepts:
            place = (event.step or "", event.task or "")
            self._counts[IgnoredError(*place, event.rule, self._rule_name, is_spent)] += 1

    @property
    def total(self) -> int:
        return self._counts.total()

    def of_step(self, step: str) -> list[str]:
        """`1 error ignored by rule 2`, for a line that names the step already."""
        return [
            _sentence(one, count, of=f" of {one.task}" if one.task != step else "")
            for one, count in self._counts.items()
            if one.step == step
        ]

    def sentences(self) -> list[str]:
        """`1 error ignored by rule 2 of fetch`, in the order they first happened."""
        return [_sentence(one, count, of=f" of {one.where}") for one, count in self._counts.items()]

    def rows(self) -> list[Object]:
        """As the JSON of a run has them."""
        return [
            {
                "step": one.step,
                "task": one.task,
                "rule": one.rule,
                "rule_name": one.rule_name,
                "on_exhausted": one.is_spent,
                "count": count,
            }
            for one, count in self._counts.items()
        ]


def _sentence(one: IgnoredError, count: int, *, of: str) -> str:
    errors = f"{counted(count, 'error')} ignored"
    if one.rule is None:
        return f"{errors}: no rule{of} covers {'it' if count == 1 else 'them'}"
    return f"{errors} {one.by}{of}"


def counts_text(ignored: IgnoredErrors) -> Sequence[str]:
    """For a list of counts: one rule is named there, of several only the number is told."""
    told = ignored.sentences()
    return told if len(told) <= 1 else [f"{counted(ignored.total, 'error')} ignored"]
