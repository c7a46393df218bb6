"""Filters that compare items: sorting, extremes, groups. Texts compare without case by default."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from anew.expressions.arguments import attribute_of, items_of, object_of
from anew.expressions.evaluation import Evaluation
from anew.expressions.operators import NUMBERS
from anew.expressions.problems import Refusal
from anew.expressions.rendering import kind, to_json
from anew.expressions.signature import Calls
from anew.expressions.undefined import UNDEFINED
from anew.values import Value

Key: TypeAlias = Callable[[Value], Value]


def _key(run: Evaluation, attribute: Value, case_sensitive: Value) -> Key:
    """What items are compared by. Only numbers and texts have an order."""

    def key(item: Value) -> Value:
        value = item if attribute is None else attribute_of(item, attribute)
        if isinstance(value, str):
            run.spend_bulk(len(value))
            return str(value) if case_sensitive else value.lower()
        if type(value) not in NUMBERS:
            raise Refusal(f"{kind(value)} cannot be put in order")
        return value

    return key


def _several_keys(run: Evaluation, attribute: Value, case_sensitive: Value) -> Key:
    """As `_key`, and `a,b` orders by two attributes."""
    if not isinstance(attribute, str) or "," not in attribute:
        return _key(run, attribute, case_sensitive)
    keys = [_key(run, part.strip(), case_sensitive) for part in attribute.split(",")]
    return lambda item: [key(item) for key in keys]


def _ordered(items: list[Value], key: Key, *, reverse: bool) -> list[Value]:
    try:
        return sorted(items, key=key, reverse=reverse)
    except TypeError:
        raise Refusal("a number and a text cannot be put in order") from None


def sort(
    run: Evaluation,
    value: Value,
    reverse: Value = False,
    case_sensitive: Value = False,
    attribute: Value = None,
) -> list[Value]:
    key = _several_keys(run, attribute, case_sensitive)
    return _ordered(items_of(run, value, "'sort'"), key, reverse=bool(reverse))


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
        return choose(items, key=_key(run, attribute, case_sensitive), default=UNDEFINED)
    except TypeError:
        raise Refusal("a number and a text cannot be put in order") from None


def dictsort(
    run: Evaluation,
    value: Value,
    case_sensitive: Value = False,
    by: Value = "key",
    reverse: Value = False,
) -> list[Value]:
    """Pairs of key and value, in the order of one of them."""
    if by not in ("key", "value"):
        raise Refusal("'dictsort' orders by 'key' or 'value'")
    found = object_of(value, "'dictsort'")
    run.spend(len(found))
    pairs = [[key, item] for key, item in found.items()]
    key = _key(run, 0 if by == "key" else 1, case_sensitive)
    return _ordered(pairs, key, reverse=bool(reverse))


def unique(
    run: Evaluation, value: Value, case_sensitive: Value = False, attribute: Value = None
) -> list[Value]:
    """The first of every value, in order."""
    seen: set[Value] = set()
    kept: list[Value] = []
    for item in items_of(run, value, "'unique'"):
        chosen = item if attribute is None else attribute_of(item, attribute)
        identity = _identity(run, chosen, case_sensitive)
        if identity not in seen:
            seen.add(identity)
            kept.append(item)
    return kept


def _identity(run: Evaluation, value: Value, case_sensitive: Value) -> Value:
    """Something hashable that is equal for equal values."""
    if isinstance(value, str):
        return ("text", str(value) if case_sensitive else value.lower())
    if isinstance(value, (list, dict)):
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
    for item in items_of(run, value, "'groupby'"):
        found = attribute_of(item, attribute)
        grouper = default if found is UNDEFINED else found
        key = _key(run, None, case_sensitive)(grouper)
        groups.setdefault(key, {"grouper": grouper, "list": []})["list"].append(item)
    return [groups[key] for key in _ordered(list(groups), lambda key: key, reverse=False)]


ORDERING_FILTERS: Calls = {
    "sort": sort,
    "min": minimum,
    "max": maximum,
    "dictsort": dictsort,
    "unique": unique,
    "groupby": groupby,
}
