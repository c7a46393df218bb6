"""Filters that make or change numbers and booleans."""

from __future__ import annotations

import math

from anew.expressions import rendering
from anew.expressions.arguments import integer_of, number_of
from anew.expressions.costs import AS_IT_GOES, FREE, Priced
from anew.expressions.evaluation import Evaluation
from anew.expressions.operators import bounded
from anew.expressions.problems import OperationError
from anew.expressions.signature import Calls
from anew.expressions.undefined import UNDEFINED
from anew.values import Value

_BASES = (0, *range(2, 37))
# Past these a float has no digits left to round.
_PRECISION_MAX = 308
# Longer texts are no number that fits in 64 bits or a float. Reading one costs no more than an item
# of a list does.
_NUMBER_CHARS_MAX = 1_000


def to_int(run: Evaluation, value: Value, default: Value = 0, base: Value = 10) -> Value:
    """A whole number; what is none gives the default."""
    number = _parse_int(value, integer_of(base, "the base"))
    return default if number is None else bounded(number, run.limits)


def _parse_int(value: Value, base: int) -> int | None:
    if base not in _BASES:
        raise OperationError("the base must be 0 or 2 to 36")
    if isinstance(value, (int, float)):
        return int(value)
    if not isinstance(value, str) or len(value) > _NUMBER_CHARS_MAX:
        return None
    try:
        return int(value, base)
    except ValueError:
        number = _parse_float(value)
        return None if number is None else int(number)


def _parse_float(value: Value) -> float | None:
    if not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str) and len(value) > _NUMBER_CHARS_MAX:
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def to_float(run: Evaluation, value: Value, default: Value = 0.0) -> Value:
    """A float; what is none gives the default."""
    number = _parse_float(value)
    return default if number is None else number


def to_bool(run: Evaluation, value: Value) -> bool:
    """The truth a condition would see."""
    if isinstance(value, str):
        run.spend_bulk(len(value))
    return rendering.is_true(value)


def absolute(run: Evaluation, value: Value) -> Value:
    return bounded(abs(number_of(value, "'abs'")), run.limits)


def round_(run: Evaluation, value: Value, precision: Value = 0, method: Value = "common") -> Value:
    """Rounded to `precision` digits: `common` (half to even), `ceil` or `floor`."""
    number = number_of(value, "'round'")
    digits = integer_of(precision, "the precision")
    if abs(digits) > _PRECISION_MAX:
        raise OperationError(f"the precision passes {_PRECISION_MAX}")
    if method == "common":
        return bounded(round(number, digits), run.limits)
    if method not in ("ceil", "floor"):
        raise OperationError("the method must be 'common', 'ceil' or 'floor'")
    shift = 10**digits
    whole = math.ceil(number * shift) if method == "ceil" else math.floor(number * shift)
    return bounded(whole / shift, run.limits)


def default_(run: Evaluation, value: Value, fallback: Value = "", boolean: Value = False) -> Value:
    """`fallback` for what is undefined; with `boolean` for everything false."""
    missing = value is UNDEFINED or (boolean and not value)
    return fallback if missing else value


NUMBER_FILTERS: Calls = {
    "int": Priced(to_int, FREE),
    "float": Priced(to_float, FREE),
    "bool": Priced(to_bool, AS_IT_GOES),
    "abs": Priced(absolute, FREE),
    "round": Priced(round_, FREE),
    "default": Priced(default_, FREE),
    "d": Priced(default_, FREE),
}
