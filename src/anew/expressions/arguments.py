"""What filters, tests and methods may ask of the values they are given."""

from __future__ import annotations

from anew.expressions.evaluation import Evaluation
from anew.expressions.lookup import look_up
from anew.expressions.problems import Refusal
from anew.expressions.rendering import kind, to_text
from anew.expressions.undefined import UNDEFINED
from anew.values import Value

_INDEX_DIGITS_MAX = 9


def text_of(run: Evaluation, value: Value) -> str:
    """`value` as text; making or scanning it is counted."""
    text = to_text(value, run.limits)
    run.spend_bulk(len(text))
    return text


def integer_of(value: Value, what: str) -> int:
    if isinstance(value, int):
        return int(value)
    raise Refusal(f"{what} must be a whole number, found {kind(value)}")


def number_of(value: Value, what: str) -> int | float:
    if isinstance(value, (int, float)):
        return value
    raise Refusal(f"{what} needs a number, found {kind(value)}")


def object_of(value: Value, what: str) -> dict[str, Value]:
    """`value` as an object; undefined is an empty one."""
    if isinstance(value, dict):
        return value
    if value is UNDEFINED:
        return {}
    raise Refusal(f"{what} needs an object, found {kind(value)}")


def items_of(run: Evaluation, value: Value, what: str) -> list[Value]:
    """What iterating `value` gives: items, keys or characters. Each one is counted."""
    if value is UNDEFINED:
        return []
    if not isinstance(value, (list, dict, str)):
        raise Refusal(f"{what} needs a list, found {kind(value)}")
    run.spend(len(value))
    return value if isinstance(value, list) else list(value)


def attribute_of(value: Value, attribute: Value) -> Value:
    """`value.a.b` for the attribute `a.b` of filters; digits are indexes."""
    if isinstance(attribute, int):
        return look_up(value, attribute)
    if not isinstance(attribute, str):
        raise Refusal(f"an attribute must be a text, found {kind(attribute)}")
    for key in attribute.split("."):
        is_index = key.isdecimal() and len(key) <= _INDEX_DIGITS_MAX
        value = look_up(value, int(key) if is_index else key)
    return value
