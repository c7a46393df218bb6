"""Filters that compare items: sorting, extremes, groups. Texts compare without case by default."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from anew.expressions.arguments import attribute_reader, attributes_of, items_of, object_of
from anew.expressions.costs import AS_IT_GOES, Priced, work_of
from anew.expressions.evaluation import Evaluation
from anew.expressions.operators import NUMBERS
from anew.expressions.problems import OperationError
from anew.expressions.rendering import kind, to_json
from anew.expressions.signature import Calls
from anew.expressions.undefined import UNDEFINED
from anew.values import Value

Key: TypeAlias = Callable[[Value], Value]

# Comparing two numbers, or two texts that differ at once.
_COMPARISONS_PER_OPERATION = 32
# Comparing texts again is this much cheaper than making them comparable.
_REPEATED = 16
_KEYS_PER_OPERATION = 4
# Writing even a short list as JSON.
_JSON_OPERATIONS = 4
_ATTRIBUTES_CHARS_PER_OPERATION = 16


def _key(run: Evaluation, attribute: Value, case_sensitive: Value, items: int) -> Key:
    """What so many items are compared by. Only numbers and texts have an order."""
    read = attribute_reader(run, attribute, items)

    def key(item: Value) -> Value:
        value = read(item)
        if isinstance(value, str):
            run.spend_bulk(len(value))
            return str(value) if case_sensitive else value.lower()
        if type(value) not in NUMBERS:
            raise OperationError(f"{kind(value)} cannot be put in order")
        return value

    return key


def _several_keys(run: Evaluation, attribute: Value, case_sensitive: Value, items: int) -> Key:
    """As `_key`, and `a,b` orders by two attributes."""
    if not isinstance(attribute, str) or "," not in attribute:
        return _key(run, attribute, case_sensitive, items)
    run.spend(len(attribute) // _ATTRIBUTES_CHARS_PER_OPERATION)
    keys = [_key(run, part.strip(), case_sensitive, items) for part in attribute.split(",")]

    def several(item: Value) -> Value:
        run.spend(len(keys) // _KEYS_PER_OPERATION)
        return [key(item) for key in keys]

    return several


def _ordered(run: Evaluation, items: list[Value], key: Key, *, reverse: bool) -> list[Value]:
    """The items in order. Whoever gives them has paid for each of them once."""
    run.spend(len(items) * len(items).bit_length() // _COMPARISONS_PER_OPERATION)
    before = run.spent
    try:
        made = sorted(items, key=key, reverse=reverse)
    except TypeError:
        raise OperationError("a number and a text cannot be put in order") from None
    # Each key was compared as often as a list of this length is halved.
    run.spend((run.spent - before) * len(items).bit_length() // _REPEATED)
    return made


def sort(
    run: Evaluation,
    value: Value,
    reverse: Value = False,
    case_sensitive: Value = False,
    attribute: Value = None,
) -> list[Value]:
    items = items_of(run, value, "'sort'")
    key = _several_keys(run, attribute, case_sensitive, len(items))
    return _ordered(run, items, key, reverse=bool(reverse))


def minimum(
    run: Evaluation, value: Value, case_sensitive: Value = False, attribute: Value = None
) -> Value:
    """The least item; undefined when there is none."""
    return _extreme(run, value, attribute, case_sensitive, min)


def maximum(
    run: Evaluation, value: Value, case_sensitive: Value = False, attribute: Value = None
) -> Value:
    """The greatest item; undefined when there is none."""
    return _extreme(run, value, attribute, case_sensitive, max)


def _extreme(
    run: Evaluation,
    value: Value,
    attribute: Value,
    case_sensitive: Value,
    choose: Callable[..., Value],
) -> Value:
    items = items_of(run, value, f"{choose.__name__!r}")
    try:
        key = _key(run, attribute, case_sensitive, len(items))
        return choose(items, key=key, default=UNDEFINED)
    except TypeError:
        raise OperationError("a number and a text cannot be put in order") from None


def dictsort(
    run: Evaluation,
    value: Value,
    case_sensitive: Value = False,
    by: Value = "key",
    reverse: Value = False,
) -> list[Value]:
    """Pairs of key and value, in the order of one of them."""
    if by not in ("key", "value"):
        raise OperationError("'dictsort' orders by 'key' or 'value'")
    found = object_of(value, "'dictsort'")
    run.spend(len(found))
    pairs = [[key, item] for key, item in found.items()]
    key = _key(run, 0 if by == "key" else 1, case_sensitive, len(pairs))
    return _ordered(run, pairs, key, reverse=bool(reverse))


def unique(
    run: Evaluation, value: Value, case_sensitive: Value = False, attribute: Value = None
) -> list[Value]:
    """The first of every value, in order."""
    seen: set[Value] = set()
    kept: list[Value] = []
    items = items_of(run, value, "'unique'")
    for item, chosen in zip(items, attributes_of(run, items, attribute), strict=True):
        identity = _identity(run, chosen, case_sensitive)
        if identity not in seen:
            seen.add(identity)
            kept.append(item)
    return kept


def _identity(run: Evaluation, value: Value, case_sensitive: Value) -> Value:
    """Something hashable that is equal for equal values."""
    if isinstance(value, str):
        run.spend_bulk(len(value))
        return ("text", str(value) if case_sensitive else value.lower())
    if isinstance(value, (list, dict)):
        run.spend(_JSON_OPERATIONS + work_of(run, value))
        text = to_json(value, run.limits)
        run.spend_bulk(len(text))
        return ("json", text)
    return value


def groupby(
    run: Evaluation,
    value: Value,
    attribute: Value,
    default: Value = UNDEFINED,
    case_sensitive: Value = False,
) -> list[Value]:
    """Objects of `grouper` and `list`, in the order of the groupers."""
    groups: dict[Value, dict[str, Value]] = {}
    items = items_of(run, value, "'groupby'")
    read = attribute_reader(run, attribute, len(items))
    key_of = _key(run, None, case_sensitive, len(items))
    for item in items:
        found = read(item)
        grouper = default if found is UNDEFINED else found
        key = key_of(grouper)
        groups.setdefault(key, {"grouper": grouper, "list": []})["list"].append(item)
    order = _ordered(run, list(groups), _key(run, None, True, len(groups)), reverse=False)
    return [groups[key] for key in order]


ORDERING_FILTERS: Calls = {
    "sort": Priced(sort, AS_IT_GOES),
    "min": Priced(minimum, AS_IT_GOES),
    "max": Priced(maximum, AS_IT_GOES),
    "dictsort": Priced(dictsort, AS_IT_GOES),
    "unique": Priced(unique, AS_IT_GOES),
    "groupby": Priced(groupby, AS_IT_GOES),
}
