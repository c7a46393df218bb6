"""Filters that apply another filter or a test to every item: map, select and their like."""

from __future__ import annotations

from anew.expressions.arguments import attribute_reader, items_of
from anew.expressions.costs import AS_IT_GOES, Priced, spend_for, work_of
from anew.expressions.evaluation import Evaluation
from anew.expressions.filters.table import FILTERS
from anew.expressions.predicates import PREDICATES
from anew.expressions.problems import OperationError, unknown
from anew.expressions.rendering import kind
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
        if rest or named:
            spend_for(run, result)
        made.append(result)
    return made


def _map_attribute(
    run: Evaluation, items: list[Value], attribute: Value = None, default: Value = None
) -> list[Value]:
    if attribute is None:
        raise OperationError("'map' needs the name of a filter, or attribute=")
    work = 1 + work_of(run, default)
    read, made = attribute_reader(run, attribute, len(items)), []
    for item in items:
        found = read(item)
        if found is UNDEFINED:
            run.spend(work)
            found = default
        made.append(plain(found))
    return made


def _named(table: dict[str, Callee], what: str, name: Value) -> Callee:
    if not isinstance(name, str):
        raise OperationError(f"the name of a {what} must be a text, found {kind(name)}")
    callee = table.get(name)
    if callee is None:
        raise OperationError(unknown(what, name, table))
    return callee


def _chosen(
    run: Evaluation, value: Value, wanted: bool, attribute: Value, test: tuple[Value, ...]
) -> list[Value]:
    """The items whose value, or attribute, passes the test; without one, whose truth is it."""
    items = items_of(run, value, "this filter")
    callee = _named(PREDICATES, "test", test[0]) if test else None
    if callee is not None:
        callee.check(len(test) - 1, ())
    read, kept = attribute_reader(run, attribute, len(items)), []
    for item in items:
        tested = read(item)
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
    "map": Priced(map_, AS_IT_GOES),
    "select": Priced(select, AS_IT_GOES),
    "reject": Priced(reject, AS_IT_GOES),
    "selectattr": Priced(selectattr, AS_IT_GOES),
    "rejectattr": Priced(rejectattr, AS_IT_GOES),
}
