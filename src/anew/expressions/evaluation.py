"""The state of one evaluation: its scope, its local variables and what it may still spend."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from anew.expressions.limits import BULK, DEFAULT_LIMITS, OPERATIONS_FREE, TemplateLimits
from anew.expressions.metering import Meter
from anew.expressions.problems import OperationError
from anew.expressions.scope import Scope
from anew.values import Value

# Operations that are asked of the decision's meter at a time.
_GRANT = 1_000


class Evaluation:
    """What compiled nodes are given. Names are read from it as from the scope."""

    __slots__ = ("_granted", "get", "limits", "locals", "operations_left", "scope")

    def __init__(
        self, scope: Scope, limits: TemplateLimits = DEFAULT_LIMITS, granted: int = OPERATIONS_FREE
    ) -> None:
        self.scope = scope
        # Asked for every name, so it is the scope's own method and not one that calls it.
        self.get: Callable[[str], Value] = scope.get
        self.limits = limits
        self._granted = self.operations_left = granted
        self.locals: dict[str, Value] = {}

    def alias(self, name: str, key: str, /) -> Value:
        return self.scope.alias(name, key)

    @property
    def spent(self) -> int:
        """Operations counted so far."""
        return self._granted - self.operations_left

    def spend(self, operations: int) -> None:
        """Count work that is about to be done; refuses it when the budget is passed."""
        self.operations_left -= operations
        if self.operations_left < 0:
            self._ask_for_more()

    def spend_bulk(self, size: int) -> None:
        """Count copying or scanning of `size` items or characters."""
        self.spend(size // BULK)

    def _ask_for_more(self) -> None:
        """Raise what is granted, within this evaluation's budget and its decision's."""
        spent, most = self.spent, self.limits.operations_max
        if spent > most:
            raise OperationError(f"more than {most} operations in one evaluation")
        granted = min(spent + _GRANT, most)
        meter: Meter | None = getattr(self.scope, "meter", None)
        if meter is not None:
            meter.spend(granted - self._granted, self.limits)
        self._granted, self.operations_left = granted, granted - spent


def evaluation_of(scope: Scope | Evaluation, limits: TemplateLimits) -> Evaluation:
    """Who pays for a node of a template that counts nothing, when it meets something large."""
    return scope if isinstance(scope, Evaluation) else Evaluation(scope, limits)


# A compiled node. Nodes of templates that neither loop nor compute are given the bare scope in
# place of an Evaluation, which spares its making: they use no more of it than a scope has.
Run: TypeAlias = Callable[[Evaluation], Value]
