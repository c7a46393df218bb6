"""What a condition is worth, when keys have values, are missing, or are not known yet.

One evaluation serves a run, where every key is known, and the checks, where only the verdict is:
`UNKNOWN` makes what depends on it unknown (None), as far as it does depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from anew.expressions import DEFAULT_LIMITS, UNDEFINED
from anew.expressions.rendering import to_json
from anew.languages.dot.conditions.tree import (
    All,
    AnyOf,
    Compare,
    ConditionLiteral,
    ContextKey,
    Holds,
    Not,
    Operand,
    Tree,
)
from anew.languages.dot.graph import DotDialect
from anew.values import Value, is_number

_FALSE_TEXTS: Final = frozenset({"", "false", "0"})


class UnknownValue:
    """The value of a key that a check cannot know."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = UnknownValue()

Truth: TypeAlias = bool | None
Reader: TypeAlias = Callable[[ContextKey], Value]
Payer: TypeAlias = Callable[[Value, Value], None]


def _for_nothing(left: Value, right: Value) -> None:
    """A check has small values only."""


def truth(tree: Tree, read: Reader, dialect: DotDialect, pay: Payer = _for_nothing) -> Truth:
    """Whether the condition holds; None where that hangs on a key that is UNKNOWN.

    `pay` is told what is compared before it is.
    """
    match tree:
        case Compare():
            left, right = _value(tree.left, read), _value(tree.right, read)
            if left is UNKNOWN or right is UNKNOWN:
                return _without_knowing(left, right, dialect)
            is_docs = dialect is DotDialect.DOCS
            compare = _compare_docs if is_docs else _compare_texts
            pay(left, right)
            return compare(tree.sign, left, right)
        case Holds():
            value = _value(tree.operand, read)
            if value is UNKNOWN:
                return None
            pay(value, None)
            return is_true(value) if dialect is DotDialect.DOCS else is_true_text(value)
        case Not():
            inner = truth(tree.inner, read, dialect, pay)
            return None if inner is None else not inner
        case All():
            return _all(truth(part, read, dialect, pay) for part in tree.parts)
        case AnyOf():
            worth = _all(_opposite(truth(part, read, dialect, pay)) for part in tree.parts)
            return _opposite(worth)


def _all(parts: Iterable[Truth]) -> Truth:
    worth: Truth = True
    for part in parts:
        if part is False:
            return False
        worth = worth and part
    return worth


def _opposite(worth: Truth) -> Truth:
    return None if worth is None else not worth


def _value(operand: Operand, read: Reader) -> Value:
    return operand.value if isinstance(operand, ConditionLiteral) else read(operand)


def _without_knowing(left: Value, right: Value, dialect: DotDialect) -> Truth:
    """In docs a comparison with what is missing is false, whatever the other side is."""
    is_missing = left is UNDEFINED or right is UNDEFINED
    return False if is_missing and dialect is DotDialect.DOCS else None


# docs


def is_true(value: Value) -> bool:
    """Truth of a bare key in docs: there, and neither false, 0, empty nor the text 'false'."""
    if isinstance(value, str):
        return value.lower() not in ("", "false")
    return bool(value)


def _compare_docs(sign: str, left: Value, right: Value) -> bool:
    if left is UNDEFINED or right is UNDEFINED:
        return False
    match sign:
        case "==":
            return same(left, right)
        case "!=":
            return not same(left, right)
        case "IN":
            return _contains(right, left)
        case "CONTAINS":
            return _contains(left, right)
        case "STARTS_WITH":
            return _are_texts(left, right) and left.startswith(right)
        case "ENDS_WITH":
            return _are_texts(left, right) and left.endswith(right)
        case _:
            return _ordered(sign, left, right)


def same(left: Value, right: Value) -> bool:
    """Equal, and of one kind: '1' is not 1. A text 'true' or 'false' is a boolean beside one."""
    if isinstance(left, bool) or isinstance(right, bool):
        return _boolean(left) is not None and _boolean(left) is _boolean(right)
    if is_number(left) or is_number(right):
        return is_number(left) and is_number(right) and left == right
    return bool(left == right)


def _boolean(value: Value) -> bool | None:
    if isinstance(value, bool):
        return value
    word = value.lower() if isinstance(value, str) else ""
    return word == "true" if word in ("true", "false") else None


def _contains(container: Value, item: Value) -> bool:
    """A part of a text, an item of a list, or a key of an object."""
    if isinstance(container, list):
        return any(same(part, item) for part in container)
    if isinstance(container, (str, dict)) and isinstance(item, str):
        return item in container
    return False


def _ordered(sign: str, left: Value, right: Value) -> bool:
    """Numbers by size, texts by their characters; nothing else has an order."""
    if not (_are_texts(left, right) or (is_number(left) and is_number(right))):
        return False
    match sign:
        case "<":
            return bool(left < right)
        case "<=":
            return bool(left <= right)
        case ">":
            return bool(left > right)
        case _:
            return bool(left >= right)


def _are_texts(left: Value, right: Value) -> bool:
    return isinstance(left, str) and isinstance(right, str)


# spec


def text_of(value: Value) -> str:
    """A value as the text that spec conditions and variables see; what is missing is empty."""
    if isinstance(value, str):
        return value
    return "" if value is UNDEFINED or value is None else to_json(value, DEFAULT_LIMITS)


def is_true_text(value: Value) -> bool:
    """Truth of a bare key in spec."""
    return text_of(value) not in _FALSE_TEXTS


def _compare_texts(sign: str, left: Value, right: Value) -> bool:
    is_same = text_of(left) == text_of(right)
    return is_same if sign == "==" else not is_same
