"""Which parts of an expression are known when it is compiled, and whether they are small."""

from __future__ import annotations

from typing import Any, Final

from anew.expressions import syntax
from anew.expressions.problems import OperationError
from anew.expressions.reads import literal
from anew.values import Value

ABSENT: Final[Any] = object()
# Comparing with a constant of this size costs nothing beside reading the other side.
_SMALL_CHARS_MAX = 1_024


class Constants:
    """Finds each constant once, however often it is asked for: lists may nest."""

    def __init__(self) -> None:
        self._known: dict[int, Value] = {}

    def of(self, node: syntax.Expression) -> Value:
        """The value of a node that is all constants, else ABSENT."""
        if type(node) is syntax.Constant:
            return node.value
        if type(node) not in (syntax.ListOf, syntax.DictOf):
            return ABSENT
        known = self._known.get(id(node), self)
        if known is self:
            known = self._known[id(node)] = self._found(node)
        return known

    def _found(self, node: syntax.Expression) -> Value:
        for part in syntax.children(node):
            if self.of(part) is ABSENT:  # type: ignore[arg-type] # below a list are expressions
                return ABSENT
        try:
            return literal(node)
        except OperationError:  # a key that is no text
            return ABSENT

    def is_small(self, node: syntax.Expression) -> bool:
        """Whether it is a constant that no comparison needs to be paid for."""
        value = self.of(node)
        return value is not ABSENT and _size(value) <= _SMALL_CHARS_MAX


def _size(value: Value) -> int:
    size, waiting = 0, [value]
    while waiting and size <= _SMALL_CHARS_MAX:
        part = waiting.pop()
        if isinstance(part, str):
            size += len(part)
        elif isinstance(part, (list, dict)):
            size += len(part) + sum(map(len, part if isinstance(part, dict) else ()))
            waiting.extend(part.values() if isinstance(part, dict) else part)
    return size
