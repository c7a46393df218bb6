"""The state of one evaluation: its scope, its local variables and what it may still spend."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from anew.expressions.limits import BULK, DEFAULT_LIMITS, Limits
from anew.expressions.problems import Refusal
from anew.expressions.scope import Scope
from anew.values import Value


class Evaluation:
    """What compiled nodes are given. Names are read from it as from the scope."""

    __slots__ = ("get", "limits", "locals", "operations_left", "scope")

    def __init__(self, scope: Scope, limits: Limits = DEFAULT_LIMITS) -> None:
        self.scope = scope
        # Asked for every name, so it is the scope's own method and not one that calls it.
        self.get: Callable[[str], Value] = scope.get
        self.limits = limits
        self.operations_left = limits.operations_max
        self.locals: dict[str, Value] = {}

    def alias(self, name: str, key: str, /) -> Value:
        return self.scope.alias(name, key)

    def spend(self, operations: int) -> None:
        """Count work that is about to be done; refuses it when the budget is passed."""
        self.operations_left -= operations
        if self.operations_left < 0:
            raise Refusal(f"more than {self.limits.operations_max} operations in one evaluation")

    def spend_bulk(self, size: int) -> None:
        """Count copying or scanning of `size` items or characters."""
        self.spend(size // BULK)


# A compiled node. Nodes of templates that neither loop nor compute are given the bare scope in
# place of an Evaluation, which spares its making: they use no more of it than a scope has.
Run: TypeAlias = Callable[[Evaluation], Value]
