"""Decide whether a value may enter a log: it must be JSON, and not too much of it.

Values are shared, so a small one in memory can be endless when it is written down. Everything is
weighed as it would be written, and the weighing stops as soon as it is too much.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

from anew.values import Value

# The largest HTTP response is 32 MiB, and its body has to fit, in base64 too.
VALUE_CHARS_MAX = 48 * 1024 * 1024
# What every JSON reader takes, and Python's own without running out of stack.
VALUE_DEPTH_MAX = 200
# A weighing takes a fifth of a second at the most; lists of numbers do not count.
VALUE_NODES_MAX = 2_000_000
WHOLE_MIN, WHOLE_MAX = -(2**63), 2**64 - 1
# An object with this key stands for a secret in the log. Nobody outside may write one: an answer
# that held such an object would be sent the secret it names with the next request.
RESERVED_KEY = "$secret"

_NUMBERS = frozenset({int, float, bool, type(None)})
# So little is weighed for nothing.
_PAID_PARTS = 1_024
_PAID_CHARS = 64 * 1024
_CHARS_PER_PART = 64


def _for_nothing(parts: int) -> None:
    """Nobody counts."""


def problem_of(
    value: Value, *, is_sealed: bool = False, pay: Callable[[int], None] = _for_nothing
) -> str | None:
    """Why `value` may not be kept, in words that follow "the value"; None when it may.

    `is_sealed`: it comes from the log, where references to secrets are in their place. `pay` is
    told how many more parts are looked at, where there are many.
    """
    if type(value) is str:
        if len(value) > _PAID_CHARS:
            pay(len(value) // _CHARS_PER_PART)
        return _problem_of_text(value) or _problem_of_size(len(value), 1)
    if type(value) not in (dict, list):
        return _problem_of_scalar(value)
    return _problem_of_parts(value, is_sealed=is_sealed, pay=pay)


def _problem_of_parts(value: Value, *, is_sealed: bool, pay: Callable[[int], None]) -> str | None:
    chars = nodes = unpaid = 0
    todo = [(value, 1)]
    while todo:
        part, depth = todo.pop()
        if depth > VALUE_DEPTH_MAX:
            return f"is nested deeper than {VALUE_DEPTH_MAX} levels"
        items = part
        if type(part) is dict:
            items = list(part.values())
            if problem := _problem_of_keys(part):
                return problem
            if RESERVED_KEY in part and not is_sealed:
                return f"has the key {RESERVED_KEY!r}, which marks secrets in the log"
            chars += sum(map(len, part)) + 4 * len(part)
        unpaid += len(items)
        if unpaid > _PAID_PARTS:
            pay(unpaid)
            unpaid = 0
        nodes += 0 if _NUMBERS.issuperset(map(type, items)) else len(items)
        chars += 2 * len(items) + 2
        for item in items:
            kind = type(item)
            if kind is dict or kind is list:
                todo.append((item, depth + 1))
            elif kind is str:
                chars += len(item)
                if not item.isascii() and (problem := _problem_of_text(item)):
                    return problem
            elif problem := _problem_of_scalar(item):
                return problem
        if problem := _problem_of_size(chars, nodes):
            return problem
    return None


def _problem_of_size(chars: int, nodes: int) -> str | None:
    if chars > VALUE_CHARS_MAX:
        return f"is larger than {VALUE_CHARS_MAX:,} characters"
    if nodes > VALUE_NODES_MAX:
        return f"has more than {VALUE_NODES_MAX:,} parts"
    return None


def _problem_of_keys(part: dict[Value, Value]) -> str | None:
    for key in part:
        if type(key) is not str:
            return f"has the key {key!r}, which is not text"
        if not key.isascii() and (problem := _problem_of_text(key)):
            return problem
    return None


def _problem_of_text(text: str) -> str | None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return "has half of a surrogate pair in a text"
    return None


def _problem_of_scalar(value: Value) -> str | None:
    kind = type(value)
    if kind is int:
        return None if WHOLE_MIN <= value <= WHOLE_MAX else "has a whole number over 64 bits"
    if kind is float:
        return None if isfinite(value) else "has a number that is not finite"
    return None if kind in _NUMBERS else f"has a {kind.__name__}, which JSON does not know"
