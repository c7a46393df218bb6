"""Filters on lists and objects that keep their order."""

from __future__ import annotations

from anew.expressions.arguments import attributes_of, integer_of, items_of, object_of, text_of
from anew.expressions.costs import AS_IT_GOES, FREE, Priced, work_of
from anew.expressions.evaluation import Evaluation
from anew.expressions.operators import add
from anew.expressions.problems import OperationError
from anew.expressions.rendering import check_chars, kind, to_text
from anew.expressions.signature import Calls
from anew.expressions.undefined import UNDEFINED, plain
from anew.values import Value


def length(run: Evaluation, value: Value) -> int:
    if value is UNDEFINED:
        return 0
    if not isinstance(value, (str, list, dict)):
        raise OperationError(f"'length' needs a text, a list or an object, found {kind(value)}")
    return len(value)


def first(run: Evaluation, value: Value) -> Value:
    _need_sequence(value, "first")
    return next(iter(value), UNDEFINED) if value else UNDEFINED


def last(run: Evaluation, value: Value) -> Value:
    _need_sequence(value, "last")
    return next(reversed(value), UNDEFINED) if value else UNDEFINED


def _need_sequence(value: Value, name: str) -> None:
    if value is not UNDEFINED and not isinstance(value, (str, list, dict)):
        raise OperationError(f"{name!r} needs a list, found {kind(value)}")


def join(run: Evaluation, value: Value, separator: Value = "", attribute: Value = None) -> str:
    """The items as text, `separator` between them."""
    items, mark = items_of(run, value, "'join'"), text_of(run, separator)
    parts: list[str] = []
    size = 0
    for item in attributes_of(run, items, attribute):
        part = to_text(item, run.limits)
        size += len(part) + len(mark)
        check_chars(size - len(mark), run.limits)
        parts.append(part)
    run.spend_bulk(size)
    return mark.join(parts)


def to_list(run: Evaluation, value: Value) -> list[Value]:
    """A list of the items, the keys or the characters."""
    return list(items_of(run, value, "'list'"))


def reverse(run: Evaluation, value: Value) -> Value:
    if isinstance(value, str):
        run.spend_bulk(len(value))
        return str(value)[::-1]
    return items_of(run, value, "'reverse'")[::-1]


def keys(run: Evaluation, value: Value) -> list[Value]:
    found = object_of(value, "'keys'")
    run.spend_bulk(len(found))
    return list(found)


def values(run: Evaluation, value: Value) -> list[Value]:
    found = object_of(value, "'values'")
    run.spend_bulk(len(found))
    return list(found.values())


def items(run: Evaluation, value: Value) -> list[Value]:
    """Pairs of key and value."""
    found = object_of(value, "'items'")
    run.spend(len(found))
    return [[key, item] for key, item in found.items()]


def get(run: Evaluation, value: Value, key: Value, default: Value = UNDEFINED) -> Value:
    found = object_of(value, "'get'")
    if not isinstance(key, str):
        return default
    run.spend_bulk(len(key))
    return found.get(key, default)


def total(run: Evaluation, value: Value, attribute: Value = None, start: Value = 0) -> Value:
    """`start` plus every item; also joins lists, from `start=[]`."""
    result, items = start, items_of(run, value, "'sum'")
    for item in attributes_of(run, items, attribute):
        result = add(run, result, item)
    return result


def batch(
    run: Evaluation, value: Value, linecount: Value, fill_with: Value = None
) -> list[list[Value]]:
    """Lists of `linecount` items each; the last is filled up when there is a filler."""
    size = integer_of(linecount, "the size of a batch")
    if size < 1:
        raise OperationError("the size of a batch must be at least 1")
    items = items_of(run, value, "'batch'")
    made = [items[i : i + size] for i in range(0, len(items), size)]
    if made and fill_with is not None:
        missing = size - len(made[-1])
        run.spend(missing * (1 + work_of(run, fill_with)))
        made[-1] = made[-1] + [plain(fill_with)] * missing
    return made


def slice_(
    run: Evaluation, value: Value, slices: Value, fill_with: Value = None
) -> list[list[Value]]:
    """`slices` lists of nearly equal length; the shorter ones get a filler when there is one."""
    count = integer_of(slices, "the number of slices")
    if count < 1:
        raise OperationError("the number of slices must be at least 1")
    items = items_of(run, value, "'slice'")
    run.spend(count * (1 + work_of(run, fill_with)))
    each, longer = divmod(len(items), count)
    made, start = [], 0
    for number in range(count):
        stop = start + each + (number < longer)
        shorter = [] if number < longer or fill_with is None or not longer else [plain(fill_with)]
        made.append(items[start:stop] + shorter)
        start = stop
    return made


JOIN, KEYS = Priced(join, AS_IT_GOES), Priced(keys, AS_IT_GOES)
VALUES, ITEMS = Priced(values, AS_IT_GOES), Priced(items, AS_IT_GOES)

SEQUENCE_FILTERS: Calls = {
    "length": Priced(length, FREE),
    "count": Priced(length, FREE),
    "len": Priced(length, FREE),
    "first": Priced(first, FREE),
    "last": Priced(last, FREE),
    "join": JOIN,
    "list": Priced(to_list, AS_IT_GOES),
    "reverse": Priced(reverse, AS_IT_GOES),
    "keys": KEYS,
    "values": VALUES,
    "items": ITEMS,
    "get": Priced(get, AS_IT_GOES),
    "sum": Priced(total, AS_IT_GOES),
    "batch": Priced(batch, AS_IT_GOES),
    "slice": Priced(slice_, AS_IT_GOES),
}
