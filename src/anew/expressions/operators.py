"""What `+`, `==`, `in` and their like do with JSON values, within bounds.

Numbers and booleans compute as in Python; integers stay within 64 bits, floats finite.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TypeAlias

from anew.expressions.costs import spend_for, work_of
from anew.expressions.evaluation import Evaluation
from anew.expressions.limits import BULK, TemplateLimits
from anew.expressions.problems import OperationError
from anew.expressions.rendering import check_chars, check_items, kind, weigh
from anew.expressions.undefined import UNDEFINED, WordAliases
from anew.values import Value

Operation: TypeAlias = Callable[[Evaluation, Value, Value], Value]

NUMBERS = frozenset({int, float, bool})


def bounded(number: int | float, limits: TemplateLimits) -> int | float:
    """`number`, unless JSON or a store could not hold it."""
    if type(number) is float:
        if not math.isfinite(number):
            raise OperationError("the result is not a finite number")
    elif isinstance(number, complex):
        raise OperationError("the result is not a real number")
    elif not limits.int_min <= number <= limits.int_max:
        raise OperationError("the result does not fit in 64 bits")
    return number


def add(run: Evaluation, left: Value, right: Value) -> Value:
    if type(left) in NUMBERS and type(right) in NUMBERS:
        return bounded(left + right, run.limits)
    if isinstance(left, str) and isinstance(right, str):
        size = len(left) + len(right)
        check_chars(size, run.limits)
        run.spend_bulk(size)
        return left + right
    if isinstance(left, list) and isinstance(right, list):
        size = len(left) + len(right)
        check_items(size, run.limits)
        run.spend_bulk(size)
        return left + right
    raise _cannot("+", left, right)


def subtract(run: Evaluation, left: Value, right: Value) -> Value:
    _need_numbers("-", left, right)
    return bounded(left - right, run.limits)


def multiply(run: Evaluation, left: Value, right: Value) -> Value:
    if type(left) in NUMBERS and type(right) in NUMBERS:
        return bounded(left * right, run.limits)
    if isinstance(left, int):
        left, right = right, left
    if isinstance(right, int) and isinstance(left, str):
        check_chars(len(left) * right, run.limits)
        run.spend_bulk(len(left) * max(right, 0))
        return left * right
    if isinstance(right, int) and isinstance(left, list):
        run.spend(work_of(run, left))
        size = weigh(left, run.limits) * max(right, 0)
        check_items(size, run.limits)
        run.spend_bulk(size)
        return left * right
    raise _cannot("*", left, right)


def divide(run: Evaluation, left: Value, right: Value) -> Value:
    _need_numbers("/", left, right)
    return bounded(left / right, run.limits)


def divide_whole(run: Evaluation, left: Value, right: Value) -> Value:
    _need_numbers("//", left, right)
    return bounded(left // right, run.limits)


def remainder(run: Evaluation, left: Value, right: Value) -> Value:
    # `%` on a text is formatting in Python; here it computes only.
    _need_numbers("%", left, right)
    return bounded(left % right, run.limits)


def power(run: Evaluation, left: Value, right: Value) -> Value:
    _need_numbers("**", left, right)
    # The least bit length of the result is known before it is computed.
    bits = (left.bit_length() - 1) * right if type(left) is int and type(right) is int else 0
    if bits > run.limits.int_max.bit_length():
        raise OperationError("the result does not fit in 64 bits")
    return bounded(left**right, run.limits)


def negative(run: Evaluation, value: Value) -> Value:
    _need_number("-", value)
    return bounded(-value, run.limits)


def positive(run: Evaluation, value: Value) -> Value:
    _need_number("+", value)
    return +value


def _need_number(sign: str, value: Value) -> None:
    if type(value) not in NUMBERS:
        raise OperationError(f"{sign!r} needs a number, found {kind(value)}")


def _need_numbers(sign: str, left: Value, right: Value) -> None:
    if type(left) not in NUMBERS or type(right) not in NUMBERS:
        raise _cannot(sign, left, right)


def _cannot(sign: str, left: Value, right: Value) -> OperationError:
    return OperationError(f"{sign!r} cannot be used with {kind(left)} and {kind(right)}")


ARITHMETIC: dict[str, Operation] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "//": divide_whole,
    "%": remainder,
    "**": power,
}

SIGNS: dict[str, Callable[[Evaluation, Value], Value]] = {"-": negative, "+": positive}


def contains(container: Value, item: Value) -> bool:
    """`item in container`; false where either is undefined."""
    if container is UNDEFINED or item is UNDEFINED:
        return False
    if isinstance(container, (list, dict, str)):
        if type(item) is WordAliases:
            return any(word in container for word in item.words)
        if isinstance(container, str) and not isinstance(item, str):
            raise OperationError(f"'in' cannot look for {kind(item)} in a text")
        if isinstance(container, dict) and isinstance(item, (list, dict)):
            return False
        if type(container) is WordAliases:
            return any(item in word for word in container.words)
        return item in container
    raise OperationError(f"'in' needs a list, an object or a text, found {kind(container)}")


Comparing: TypeAlias = Callable[[Value, Value], bool]

# Python's own operators: `Undefined` and `Words` answer them as the language asks.
COMPARING: dict[str, Comparing] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda item, container: contains(container, item),
    "not in": lambda item, container: not contains(container, item),
}


def compare(run: Evaluation, sign: str, left: Value, right: Value) -> bool:
    """One comparison whose work is counted, for use where it may be repeated."""
    for value in (left, right):
        kind_of = type(value)
        if kind_of is str:
            if len(value) >= BULK:
                run.spend(len(value) // BULK)
        elif kind_of is list or kind_of is dict:
            spend_for(run, value)
    try:
        return COMPARING[sign](left, right)
    except TypeError:
        raise cannot_compare(sign, left, right) from None


def cannot_compare(sign: str, left: Value, right: Value) -> OperationError:
    return OperationError(f"{sign!r} cannot compare {kind(left)} and {kind(right)}")
