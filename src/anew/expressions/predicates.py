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


def is_defined(run: Evaluation, value: Value) -> bool:
    return value is not UNDEFINED


def is_undefined(run: Evaluation, value: Value) -> bool:
    return value is UNDEFINED


def is_none(run: Evaluation, value: Value) -> bool:
    return value is None


def is_string(run: Evaluation, value: Value) -> bool:
    return isinstance(value, str)


def is_number(run: Evaluation, value: Value) -> bool:
    # As in Jinja, a boolean is a number but not an integer.
    return isinstance(value, (int, float))


def is_integer(run: Evaluation, value: Value) -> bool:
    return type(value) is int


def is_float(run: Evaluation, value: Value) -> bool:
    return type(value) is float


def is_boolean(run: Evaluation, value: Value) -> bool:
    return type(value) is bool


def is_sequence(run: Evaluation, value: Value) -> bool:
    return isinstance(value, (str, list, dict))


def is_mapping(run: Evaluation, value: Value) -> bool:
    return isinstance(value, dict)


def is_iterable(run: Evaluation, value: Value) -> bool:
    return value is UNDEFINED or isinstance(value, (str, list, dict))


def is_true(run: Evaluation, value: Value) -> bool:
    return value is True


def is_false(run: Evaluation, value: Value) -> bool:
    return value is False


def is_lower(run: Evaluation, value: Value) -> bool:
    return isinstance(value, str) and value.islower()


def is_upper(run: Evaluation, value: Value) -> bool:
    return isinstance(value, str) and value.isupper()


def is_odd(run: Evaluation, value: Value) -> bool:
    return integer_of(value, "the value of 'odd'") % 2 == 1


def is_even(run: Evaluation, value: Value) -> bool:
    return integer_of(value, "the value of 'even'") % 2 == 0


def is_divisible(run: Evaluation, value: Value, number: Value) -> bool:
    divisor = integer_of(number, "the divisor")
    if divisor == 0:
        raise OperationError("division by zero")
    return integer_of(value, "the value of 'divisibleby'") % divisor == 0


def is_same(run: Evaluation, value: Value, other: Value) -> bool:
    # Identity has no meaning for data; the same type and value is what authors want of it.
    return type(value) is type(other) and compare(run, "==", value, other)


def equals(run: Evaluation, value: Value, other: Value) -> bool:
    return compare(run, "==", value, other)


def differs(run: Evaluation, value: Value, other: Value) -> bool:
    return compare(run, "!=", value, other)


def is_less(run: Evaluation, value: Value, other: Value) -> bool:
    return compare(run, "<", value, other)


def is_at_most(run: Evaluation, value: Value, other: Value) -> bool:
    return compare(run, "<=", value, other)


def is_greater(run: Evaluation, value: Value, other: Value) -> bool:
    return compare(run, ">", value, other)


def is_at_least(run: Evaluation, value: Value, other: Value) -> bool:
    return compare(run, ">=", value, other)


def is_in(run: Evaluation, value: Value, container: Value) -> bool:
    return compare(run, "in", value, container)


# They only look at the value, so they need no evaluation that counts.
_SIMPLE: dict[str, Call] = {
    "defined": is_defined, "undefined": is_undefined, "none": is_none, "string": is_string,
    "number": is_number, "integer": is_integer, "float": is_float, "boolean": is_boolean,
    "sequence": is_sequence, "mapping": is_mapping, "iterable": is_iterable, "true": is_true,
    "false": is_false, "odd": is_odd, "even": is_even,
}  # fmt: skip
SIMPLE_PREDICATES = frozenset(_SIMPLE)

# Each pays for the values that it compares.
_COMPARING: dict[str, Call] = {
    "sameas": is_same, "eq": equals, "equalto": equals, "==": equals, "ne": differs,
    "!=": differs, "lt": is_less, "lessthan": is_less, "<": is_less, "le": is_at_most,
    "<=": is_at_most, "gt": is_greater, "greaterthan": is_greater, ">": is_greater,
    "ge": is_at_least, ">=": is_at_least, "in": is_in,
}  # fmt: skip

PREDICATES: dict[str, Callee] = table_of(
    "test",
    {
        **{name: Priced(call, FREE) for name, call in _SIMPLE.items()},
        **{name: Priced(call, AS_IT_GOES) for name, call in _COMPARING.items()},
        "divisibleby": Priced(is_divisible, FREE),
        "lower": Priced(is_lower, by_size),
        "upper": Priced(is_upper, by_size),
    },
    leading=2,
)
