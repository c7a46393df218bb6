"""Closures for one comparison, by operator and by what is known when compiling."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from anew.expressions.evaluation import Evaluation, Run
from anew.expressions.operators import COMPARING, cannot_compare, compare
from anew.expressions.problems import COMPUTING_ERRORS, Placed
from anew.values import Value

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


def counted_comparison(sign: str, left: Run, right: Run, placed: Placed) -> Run:
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
