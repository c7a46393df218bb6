"""The global functions: `rand()`, `now()`, `range(…)` and `dict(…)`, and those of pages."""

from __future__ import annotations

from anew.expressions.arguments import integer_of
from anew.expressions.costs import AS_IT_GOES, FREE, Priced
from anew.expressions.evaluation import Evaluation
from anew.expressions.limits import PARTS_PER_OPERATION
from anew.expressions.pages import read_page, turn_page
from anew.expressions.problems import OperationError
from anew.expressions.signature import Callee, table_of
from anew.expressions.undefined import UNDEFINED, plain
from anew.values import Value


def rand(run: Evaluation) -> float:
    """A number in [0, 1). The scope draws it, so that it can be recorded."""
    return run.scope.rand()


def now(run: Evaluation) -> str:
    """The present moment: ISO 8601 in UTC with `Z`."""
    return run.scope.now()


def range_(run: Evaluation, start: Value, stop: Value = UNDEFINED, step: Value = 1) -> list[int]:
    """`range(stop)`, `range(start, stop)` or `range(start, stop, step)`, as a list."""
    first, last = integer_of(start, "the start of a range"), stop
    if last is UNDEFINED:
        first, last = 0, first
    stride = integer_of(step, "the step of a range")
    if stride == 0:
        raise OperationError("the step of a range cannot be 0")
    numbers = range(first, integer_of(last, "the stop of a range"), stride)
    # `len` itself cannot count very long ranges.
    run.spend((numbers[-1] - first) // stride + 1 if numbers else 0)
    return list(numbers)


def dict_(run: Evaluation, **named: Value) -> dict[str, Value]:
    """`dict(a=1)` is `{'a': 1}`."""
    run.spend(len(named) // PARTS_PER_OPERATION)
    return {key: plain(value) for key, value in named.items()}


FUNCTIONS: dict[str, Callee] = table_of(
    "function",
    {
        "rand": Priced(rand, FREE),
        "now": Priced(now, FREE),
        "range": Priced(range_, AS_IT_GOES),
        "dict": Priced(dict_, AS_IT_GOES),
        "read_page": Priced(read_page, AS_IT_GOES),
        "turn_page": Priced(turn_page, AS_IT_GOES),
    },
    leading=1,
)
