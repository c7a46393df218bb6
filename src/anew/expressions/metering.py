"""What all evaluations of one decision may spend together. Knows no clock: work is counted."""

from __future__ import annotations

from anew.expressions.limits import TemplateLimits
from anew.expressions.problems import OperationError


class TakesLong(Exception):
    """A decision does more than its caller has time for. Nothing of it may be kept."""


class Allowance:
    """How much work whoever decides waits for; beyond it TakesLong is raised."""

    __slots__ = ("left",)

    def __init__(self, operations: int) -> None:
        self.left = operations

    def spend(self, operations: int) -> None:
        self.left -= operations
        if self.left < 0:
            raise TakesLong


class Meter:
    """Counts the work of one decision. The budget is that of the program's limits."""

    __slots__ = ("_allowance", "spent")

    def __init__(self, allowance: Allowance | None = None) -> None:
        self._allowance = allowance
        self.spent = 0

    def spend(self, operations: int, limits: TemplateLimits) -> None:
        """Count work; an OperationError when one decision may not do as much."""
        self.spent += operations
        if self.spent > limits.decision_operations_max:
            most = limits.decision_operations_max
            raise OperationError(f"more than {most} operations in the evaluations of one decision")
        if self._allowance is not None:
            self._allowance.spend(operations)
