"""Closures for one comparison, by operator and by what is known when compiling."""

from __future__ import annotations

from collections.abc import Callable

from anew.expressions.evaluation import Evaluation, Run
from anew.expressions.operators import COMPARING, cannot_compare, compare
from anew.expressions.problems import COMPUTING_ERRORS, ExpressionError
from anew.values import Value

Placed = Callable[[BaseException], ExpressionError]


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
