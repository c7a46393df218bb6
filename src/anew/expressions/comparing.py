"""Closures for one comparison, by operator and by what is known when compiling."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from anew.expressions.evaluation import Evaluation, Run, evaluation_of
from anew.expressions.limits import TemplateLimits
from anew.expressions.operators import COMPARING, cannot_compare, compare, contains
from anew.expressions.problems import COMPUTING_ERRORS, Placed
from anew.values import Value

# One comparison with so much costs less than a tenth of a millisecond.
_QUICK_CHARS_MAX = 4_096
_SIZED = frozenset({str, list, dict})
_PLAIN = frozenset({str, int})

# Compares two values that are known already; the evaluation pays for it where work is counted.
Pair: TypeAlias = Callable[[Evaluation | None, Value, Value], bool]


def comparison(
    sign: str, left: Run, right: Run, placed: Placed, constant: tuple[Value, ...] = ()
) -> Run:
    """`left sign right`; `constant` holds the value of the right side where it is one."""
    if constant and sign in ("==", "!=", "in", "not in"):
        known = _with_constant(sign, left, constant[0])
        if known is not None:
            return known
    if sign == "==":
        return lambda rt: left(rt) == right(rt)
    if sign == "!=":
        return lambda rt: left(rt) != right(rt)
    return _fallible(sign, left, right, placed)


def _with_constant(sign: str, left: Run, constant: Value) -> Run | None:
    """No such comparison can fail, and Python's operators answer for undefined and for words."""
    if sign == "==":
        return lambda rt: left(rt) == constant
    if sign == "!=":
        return lambda rt: left(rt) != constant
    if not isinstance(constant, list):
        return None
    if sign == "in":
        return lambda rt: left(rt) in constant
    return lambda rt: left(rt) not in constant


def _fallible(sign: str, left: Run, right: Run, placed: Placed) -> Run:
    operate = COMPARING[sign]

    def run(rt: Evaluation) -> Value:
        one, two = left(rt), right(rt)
        try:
            return operate(one, two)
        except TypeError as error:
            raise placed(cannot_compare(sign, one, two)) from error
        except COMPUTING_ERRORS as error:
            raise placed(error) from error

    return run


def lone_comparison(
    sign: str, left: Run, right: Run, placed: Placed, limits: TemplateLimits
) -> Run:
    """As `comparison`, where nothing else of the template counts: pays for large sides only."""
    if sign == "==":
        return _lone_equality(left, right, placed, limits)
    if sign == "in":
        return _lone_containment(left, right, placed, limits)
    operate = COMPARING[sign]
    is_quick = _finds_quickly if sign == "not in" else _ends_quickly

    def run(rt: Evaluation) -> Value:
        one, two = left(rt), right(rt)
        try:
            if is_quick(one, two):
                return operate(one, two)
            return compare(evaluation_of(rt, limits), sign, one, two)
        except TypeError as error:
            raise placed(cannot_compare(sign, one, two)) from error
        except COMPUTING_ERRORS as error:
            raise placed(error) from error

    return run


def _lone_equality(left: Run, right: Run, placed: Placed, limits: TemplateLimits) -> Run:
    """The most usual of them: two short texts, or numbers, are compared at once."""

    most = _QUICK_CHARS_MAX

    def run(rt: Evaluation) -> Value:
        one, two = left(rt), right(rt)
        if (type(one) is str and len(one) <= most) or type(one) not in _SIZED:
            return one == two
        try:
            return compare(evaluation_of(rt, limits), "==", one, two)
        except COMPUTING_ERRORS as error:
            raise placed(error) from error

    return run


def _lone_containment(left: Run, right: Run, placed: Placed, limits: TemplateLimits) -> Run:
    """As usual: a short text is looked for in a text, or in a list, that is not long."""
    most = _QUICK_CHARS_MAX

    def run(rt: Evaluation) -> Value:
        one, two = left(rt), right(rt)
        try:
            if type(one) is str and type(two) is str and len(two) <= most:
                return one in two
            if type(two) is list and type(one) in _PLAIN and len(two) <= most:
                return one in two
            if _finds_quickly(one, two):
                return contains(two, one)
            return compare(evaluation_of(rt, limits), "in", one, two)
        except TypeError as error:
            raise placed(cannot_compare("in", one, two)) from error
        except COMPUTING_ERRORS as error:
            raise placed(error) from error

    return run


def _ends_quickly(left: Value, right: Value) -> bool:
    """A small value on one side ends a comparison, whatever the other is."""
    return (
        type(left) not in _SIZED
        or type(right) not in _SIZED
        or (type(left) is str and len(left) <= _QUICK_CHARS_MAX)
        or (type(right) is str and len(right) <= _QUICK_CHARS_MAX)
    )


def _finds_quickly(item: Value, container: Value) -> bool:
    if type(item) is not str and type(item) in _SIZED:
        return False
    if type(container) is str or type(container) is list:
        return len(container) <= _QUICK_CHARS_MAX
    return True


def counted_comparison(sign: str, left: Run, right: Run, placed: Placed, _: TemplateLimits) -> Run:
    """As `comparison`, for what may be repeated: the size of both sides is spent."""

    def run(rt: Evaluation) -> Value:
        one, two = left(rt), right(rt)
        try:
            return compare(rt, sign, one, two)
        except COMPUTING_ERRORS as error:
            raise placed(error) from error

    return run


def pair_comparison(sign: str, placed: Placed) -> Pair:
    operate = COMPARING[sign]

    def verdict(payer: Evaluation | None, left: Value, right: Value) -> bool:
        try:
            if payer is not None:
                return compare(payer, sign, left, right)
            return operate(left, right)
        except TypeError as error:
            raise placed(cannot_compare(sign, left, right)) from error
        except COMPUTING_ERRORS as error:
            raise placed(error) from error

    return verdict


def chain(first: Run, links: list[tuple[Run, Pair]], *, is_counted: bool) -> Run:
    """`a < b < c`: each operand is computed once, and the first false link ends it."""

    def run(rt: Evaluation) -> Value:
        left, payer = first(rt), rt if is_counted else None
        for operand, verdict in links:
            right = operand(rt)
            if not verdict(payer, left, right):
                return False
            left = right
        return True

    return run
