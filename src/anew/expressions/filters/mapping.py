"""Filters that apply another filter or a test to every item: map, select and their like."""

from __future__ import annotations

from anew.expressions.arguments import attribute_of, items_of
from anew.expressions.evaluation import Evaluation
from anew.expressions.filters.table import FILTERS
from anew.expressions.predicates import PREDICATES
from anew.expressions.problems import Refusal, unknown
from anew.expressions.rendering import kind, weigh
from anew.expressions.signature import Callee, Calls
from anew.expressions.undefined import UNDEFINED, plain
from anew.values import Value


def map_(run: Evaluation, value: Value, *arguments: Value, **named: Value) -> list[Value]:
    """Every item through the filter that is named first, or its `attribute`."""
    items = items_of(run, value, "'map'")
    if not arguments:
        return _map_attribute(run, items, **named)
    callee = _named(FILTERS, "filter", arguments[0])
    rest = arguments[1:]
    callee.check(len(rest), tuple(named))
    made = []
    for item in items:
        result = plain(callee.call(run, item, *rest, **named))
        # A filter may answer with its argument, so one large value could come many times.
        run.spend_bulk(weigh(result, run.limits) if rest or named else 0)
        made.append(result)
    return made


def _map_attribute(
    run: Evaluation, items: list[Value], attribute: Value = None, default: Value = None
) -> list[Value]:
    if attribute is None:
        raise Refusal("'map' needs the name of a filter, or attribute=")
    weight = weigh(default, run.limits)
    made = []
    for item in items:
        found = attribute_of(item, attribute)
        if found is UNDEFINED:
            run.spend(weight)
            found = default
        made.append(plain(found))
    return made


def _named(table: dict[str, Callee], what: str, name: Value) -> Callee:
    if not isinstance(name, str):
        raise Refusal(f"the name of a {what} must be a text, found {kind(name)}")
    callee = table.get(name)
    if callee is None:
        raise Refusal(unknown(what, name, table))
    return callee


def _chosen(
    run: Evaluation, value: Value, wanted: bool, attribute: Value, test: tuple[Value, ...]
) -> list[Value]:
    """The items whose value, or attribute, passes the test; without one, whose truth is it."""
    items = items_of(run, value, "this filter")
    callee = _named(PREDICATES, "test", test[0]) if test else None
    if callee is not None:
        callee.check(len(test) - 1, ())
    kept = []
    for item in items:
        tested = item if attribute is None else attribute_of(item, attribute)
        verdict = bool(tested) if callee is None else callee.call(run, tested, *test[1:])
        if verdict is wanted:
            kept.append(item)
    return kept


def select(run: Evaluation, value: Value, *test: Value) -> list[Value]:
    return _chosen(run, value, True, None, test)


def reject(run: Evaluation, value: Value, *test: Value) -> list[Value]:
    return _chosen(run, value, False, None, test)


def selectattr(run: Evaluation, value: Value, attribute: Value, *test: Value) -> list[Value]:
    return _chosen(run, value, True, attribute, test)


def rejectattr(run: Evaluation, value: Value, attribute: Value, *test: Value) -> list[Value]:
    return _chosen(run, value, False, attribute, test)


MAPPING_FILTERS: Calls = {
    "map": map_,
    "select": select,
    "reject": reject,
    "selectattr": selectattr,
    "rejectattr": rejectattr,
}
