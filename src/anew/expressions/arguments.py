"""What filters, tests and methods may ask of the values they are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from anew.expressions.evaluation import Evaluation
from anew.expressions.limits import BULK, PARTS_PER_OPERATION
from anew.expressions.lookup import look_up
from anew.expressions.problems import OperationError
from anew.expressions.rendering import kind, to_text
from anew.expressions.undefined import UNDEFINED
from anew.values import Value

_INDEX_DIGITS_MAX = 9


def text_of(run: Evaluation, value: Value) -> str:
    """`value` as text. A text was paid for by the row that is called, what is made here is not."""
    if type(value) is str:
        return value
    text = to_text(value, run.limits)
    if not isinstance(value, str):
        run.spend_bulk(len(text))
    return text


def integer_of(value: Value, what: str) -> int:
    if isinstance(value, int):
        return int(value)
    raise OperationError(f"{what} must be a whole number, found {kind(value)}")


def number_of(value: Value, what: str) -> int | float:
    if isinstance(value, (int, float)):
        return value
    raise OperationError(f"{what} needs a number, found {kind(value)}")


def object_of(value: Value, what: str) -> dict[str, Value]:
    """`value` as an object; undefined is an empty one."""
    if isinstance(value, dict):
        return value
    if value is UNDEFINED:
        return {}
    raise OperationError(f"{what} needs an object, found {kind(value)}")


def items_of(run: Evaluation, value: Value, what: str) -> list[Value]:
    """What iterating `value` gives: items, keys or characters. Each one is counted."""
    if value is UNDEFINED:
        return []
    if not isinstance(value, (list, dict, str)):
        raise OperationError(f"{what} needs a list, found {kind(value)}")
    run.spend(len(value))
    return value if isinstance(value, list) else list(value)


def attribute_reader(run: Evaluation, attribute: Value, items: int) -> Callable[[Value], Value]:
    """How `a.b` is read from each of so many items, which is paid for; digits are indexes.

    Without an attribute it is the item itself.
    """
    if attribute is None or not items:
        return _itself
    if isinstance(attribute, int):
        return lambda item: look_up(item, attribute)
    if not isinstance(attribute, str):
        raise OperationError(f"an attribute must be a text, found {kind(attribute)}")
    # Read from each item: a long key is held against the one that is there.
    run.spend((1 + items) * (len(attribute) // BULK))
    keys = [_key(part) for part in attribute.split(".")]
    if len(keys) == 1:
        only = keys[0]
        return lambda item: look_up(item, only)
    run.spend(items * (len(keys) // PARTS_PER_OPERATION))
    return partial(_below, tuple(keys))


def _key(written: str) -> str | int:
    is_index = written.isdecimal() and len(written) <= _INDEX_DIGITS_MAX
    return int(written) if is_index else written


def _below(keys: tuple[str | int, ...], item: Value) -> Value:
    for key in keys:
        item = look_up(item, key)
    return item


def attributes_of(run: Evaluation, items: list[Value], attribute: Value) -> Iterable[Value]:
    """The items, or what `attribute` reads from each."""
    return items if attribute is None else map(attribute_reader(run, attribute, len(items)), items)


def _itself(item: Value) -> Value:
    return item
