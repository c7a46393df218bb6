"""What calling an operation costs, as a column of the tables of filters, tests, methods, functions.

A row is charged before it is called. One that declares no cost pays for everything it is given,
and as if every text were held against every other: forgetting to think is never cheap. Says how
much; `Evaluation` refuses. See `limits.py` for what one operation is worth.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, TypeAlias

from msgspec import Struct

from anew.expressions.evaluation import Evaluation
from anew.expressions.limits import BULK, PAIRS_PER_OPERATION, PARTS_PER_OPERATION
from anew.expressions.sizes import size_of
from anew.values import Value

Call: TypeAlias = Callable[..., Value]


class Cost(Struct, frozen=True):
    """`spend` takes what the call takes; one text shorter than `chars_free` costs nothing."""

    spend: Callable[..., None]
    chars_free: int


class Priced(Struct, frozen=True):
    """A function of a table, and what calling it costs; None charges nothing."""

    call: Call
    cost: Cost | None


def charged(call: Call, cost: Cost | None) -> Call:
    """`call`, paid for before it begins."""
    if cost is None:
        return call

    spend, chars_free = cost.spend, cost.chars_free

    @wraps(call)
    def paid(run: Evaluation, value: Value, *more: Value, **named: Value) -> Value:
        if not more and not named:
            if type(value) is not str or len(value) >= chars_free:
                spend(run, value)
            return call(run, value)
        spend(run, value, *more, **named)
        return call(run, value, *more, **named)

    return paid


def work_of(run: Evaluation, value: Value) -> int:
    """Operations for looking at everything in `value`, counted as often as it would print."""
    if isinstance(value, str):
        return len(value) // BULK
    if not isinstance(value, (list, dict)):
        return 0
    # More is more than anyone can pay.
    most = (run.limits.operations_max + 1) * PARTS_PER_OPERATION
    size = size_of(value, parts_max=most)
    return size.parts // PARTS_PER_OPERATION + size.chars // BULK


def spend_for_parts(run: Evaluation, value: Value) -> None:
    """As `spend_for`, where each part takes a whole operation."""
    if isinstance(value, (list, dict)):
        size = size_of(value, parts_max=run.limits.operations_max)
        run.spend(size.parts + size.chars // BULK)
    else:
        spend_for(run, value)


def spend_for(run: Evaluation, value: Value) -> None:
    """Pay for looking at everything in `value`."""
    work = work_of(run, value)
    if work:
        run.spend(work)


def spend_pairs(run: Evaluation, left: int, right: int) -> None:
    """Pay for holding each of `left` things against each of `right` others."""
    run.spend(left * right // PAIRS_PER_OPERATION)


# The costs that rows declare


def _everything(run: Evaluation, *values: Value, **named: Value) -> None:
    sizes = []
    for value in (*values, *named.values()):
        work = work_of(run, value)
        if work:
            run.spend(work)
            sizes.append(work * BULK)
    for place, size in enumerate(sizes):
        spend_pairs(run, size, sum(sizes[:place]))


def _by_size(run: Evaluation, *values: Value, **named: Value) -> None:
    for value in values:
        if type(value) is str:
            size = len(value)
            if size >= BULK:
                run.spend(size // BULK)
        else:
            spend_for(run, value)
    for value in named.values():
        spend_for(run, value)


def slowly(factor: int) -> Cost:
    """As `by_size`, for what takes `factor` times as long for a character or a part."""

    def spend(run: Evaluation, *values: Value, **named: Value) -> None:
        for value in (*values, *named.values()):
            if isinstance(value, str):
                run.spend(len(value) * factor // BULK)
            else:
                run.spend(work_of(run, value) * factor)

    return Cost(spend, BULK // factor)


def _by_characters(run: Evaluation, value: Value, chars: Value = None) -> None:
    _by_size(run, value, chars)
    if isinstance(chars, str) and isinstance(value, str):
        spend_pairs(run, len(value), len(chars))
    elif chars is not None:
        _everything(run, value, chars)


# What a row costs that says nothing: all it is given, and each part against each other.
everything: Final = Cost(_everything, BULK)
# Every text and every part of the values once.
by_size: Final = Cost(_by_size, BULK)
# A text, each character of which is looked for among some.
by_characters: Final = Cost(_by_characters, BULK)
# It only looks at the value, whatever its size.
FREE: Final = None
# How much there is to do shows while it is done, and it pays for each part before.
AS_IT_GOES: Final = None
