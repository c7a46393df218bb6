"""The tests after `is`. Each takes the evaluation, the value and its arguments."""

from __future__ import annotations

from anew.expressions.arguments import integer_of
from anew.expressions.costs import AS_IT_GOES, FREE, Call, Priced, by_size
from anew.expressions.evaluation import Evaluation
from anew.expressions.operators import compare
from anew.expressions.problems import OperationError
from anew.expressions.signature import Callee, table_of
from anew.expressions.undefined import UNDEFINED
from anew.values import Value


def _is_divisible(run: Evaluation, value: Value, number: Value) -> bool:
    divisor = integer_of(number, "the divisor")
    if divisor == 0:
        raise OperationError("division by zero")
    return integer_of(value, "the value of 'divisibleby'") % divisor == 0


def _comparing(sign: str) -> Call:
    return lambda run, value, other: compare(run, sign, value, other)


# They only look at the value, so they need no evaluation that counts.
_SIMPLE: dict[str, Call] = {
    "defined": lambda _, value: value is not UNDEFINED,
    "undefined": lambda _, value: value is UNDEFINED,
    "none": lambda _, value: value is None,
    "string": lambda _, value: isinstance(value, str),
    # As in Jinja, a boolean is a number but not an integer.
    "number": lambda _, value: isinstance(value, (int, float)),
    "integer": lambda _, value: type(value) is int,
    "float": lambda _, value: type(value) is float,
    "boolean": lambda _, value: type(value) is bool,
    "sequence": lambda _, value: isinstance(value, (str, list, dict)),
    "mapping": lambda _, value: isinstance(value, dict),
    "iterable": lambda _, value: value is UNDEFINED or isinstance(value, (str, list, dict)),
    "true": lambda _, value: value is True,
    "false": lambda _, value: value is False,
    "odd": lambda _, value: integer_of(value, "the value of 'odd'") % 2 == 1,
    "even": lambda _, value: integer_of(value, "the value of 'even'") % 2 == 0,
}
SIMPLE_PREDICATES = frozenset(_SIMPLE)

# Each pays for the values that it compares, and stands for an operator.
_SIGNS = {
    "==": ("eq", "equalto"), "!=": ("ne",), "<": ("lt", "lessthan"), "<=": ("le",),
    ">": ("gt", "greaterthan"), ">=": ("ge",),
}  # fmt: skip
_COMPARING: dict[str, Call] = {
    # Identity has no meaning for data; the same type and value is what authors want of it.
    "sameas": lambda run, value, other: (
        type(value) is type(other) and compare(run, "==", value, other)
    ),
    "in": lambda run, value, container: compare(run, "in", value, container),
    **{name: _comparing(sign) for sign, words in _SIGNS.items() for name in (sign, *words)},
}

PREDICATES: dict[str, Callee] = table_of(
    "test",
    {
        **{name: Priced(call, FREE) for name, call in _SIMPLE.items()},
        **{name: Priced(call, AS_IT_GOES) for name, call in _COMPARING.items()},
        "divisibleby": Priced(_is_divisible, FREE),
        "lower": Priced(lambda _, value: isinstance(value, str) and value.islower(), by_size),
        "upper": Priced(lambda _, value: isinstance(value, str) and value.isupper(), by_size),
    },
    leading=2,
)
