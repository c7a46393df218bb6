"""The methods authors may call on values: these functions, chosen by name and by type.

A value's own Python methods are never reached.
"""

from __future__ import annotations

from anew.expressions.arguments import integer_of, text_of
from anew.expressions.costs import AS_IT_GOES, Priced, by_characters, by_size
from anew.expressions.evaluation import Evaluation
from anew.expressions.filters import sequences, texts
from anew.expressions.operators import compare
from anew.expressions.problems import OperationError
from anew.expressions.rendering import kind
from anew.expressions.signature import Callee, table_of
from anew.expressions.undefined import UNDEFINED
from anew.values import Value


def get(run: Evaluation, value: dict[str, Value], key: Value, default: Value = None) -> Value:
    if not isinstance(key, str):
        return default
    run.spend_bulk(len(key))
    return value.get(key, default)


def lstrip(run: Evaluation, value: str, chars: Value = None) -> str:
    return text_of(run, value).lstrip(_chars(chars))


def rstrip(run: Evaluation, value: str, chars: Value = None) -> str:
    return text_of(run, value).rstrip(_chars(chars))


def _chars(chars: Value) -> str | None:
    if chars is None or isinstance(chars, str):
        return chars
    raise OperationError(f"the characters to strip must be a text, found {kind(chars)}")


def starts_with(run: Evaluation, value: str, prefix: Value) -> bool:
    return any(value.startswith(word) for word in _words(prefix))


def ends_with(run: Evaluation, value: str, suffix: Value) -> bool:
    return any(value.endswith(word) for word in _words(suffix))


def _words(given: Value) -> list[str]:
    """One text, or a list of them any of which will do."""
    words = given if isinstance(given, list) else [given]
    for word in words:
        if not isinstance(word, str):
            raise OperationError(f"this method needs a text, found {kind(word)}")
    return words


def find(run: Evaluation, value: str, part: Value, start: Value = 0) -> int:
    return value.find(_words(part)[0], integer_of(start, "the start"))


def is_digit(run: Evaluation, value: str) -> bool:
    return value.isdigit()


def join(run: Evaluation, value: str, parts: Value) -> str:
    return sequences.join(run, parts, value)


def count_text(run: Evaluation, value: str, part: Value) -> int:
    return value.count(_words(part)[0])


def count_items(run: Evaluation, value: list[Value], item: Value) -> int:
    run.spend(len(value))
    return sum(compare(run, "==", each, item) for each in value)


def index(run: Evaluation, value: list[Value], item: Value) -> int:
    for position, each in enumerate(value):
        run.spend(1)
        if compare(run, "==", each, item):
            return position
    raise OperationError("the list does not hold that value")


METHODS: dict[type, dict[str, Callee]] = {
    dict: table_of(
        "method",
        {
            "get": Priced(get, AS_IT_GOES),
            "items": sequences.ITEMS,
            "keys": sequences.KEYS,
            "values": sequences.VALUES,
        },
        leading=2,
    ),
    list: table_of(
        "method",
        {"index": Priced(index, AS_IT_GOES), "count": Priced(count_items, AS_IT_GOES)},
        leading=2,
    ),
    str: table_of(
        "method",
        {
            "lower": texts.LOWER, "upper": texts.UPPER, "capitalize": texts.CAPITALIZE,
            "title": texts.TITLE, "strip": texts.STRIP, "lstrip": Priced(lstrip, by_characters),
            "rstrip": Priced(rstrip, by_characters), "split": texts.SPLIT,
            "replace": texts.REPLACE, "join": Priced(join, AS_IT_GOES),
            "startswith": Priced(starts_with, by_size), "endswith": Priced(ends_with, by_size),
            "find": Priced(find, by_size), "count": Priced(count_text, by_size),
            "isdigit": Priced(is_digit, by_size),
        },
        leading=2,
    ),
}  # fmt: skip

METHOD_NAMES = frozenset(name for table in METHODS.values() for name in table)


def methods_named(name: str) -> list[Callee]:
    """What `name` may mean, whatever the value turns out to be."""
    return [table[name] for table in METHODS.values() if name in table]


def method_of(value: Value, name: str) -> Callee:
    """The method `name` of `value`, or a refusal that says which values have it."""
    for type_, table in METHODS.items():
        if isinstance(value, type_) and name in table:
            return table[name]
    if value is UNDEFINED:
        raise OperationError(f"{name!r} cannot be called: the value is undefined")
    raise OperationError(f"{kind(value)} has no method {name!r}")
