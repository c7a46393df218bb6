"""How keys and indexes read values. Only data is read: never a Python attribute, never a call."""

from __future__ import annotations

from anew.expressions.evaluation import Evaluation, Run
from anew.expressions.problems import OperationError
from anew.expressions.undefined import UNDEFINED
from anew.result_aliases import MISSING, alias_in, body_field
from anew.values import Value

# Their keys are the author's own: whatever they look like, they are no results.
_OF_AUTHOR = frozenset({"workload", "ctx", "iter", "args", "input"})


def look_up(value: Value, key: Value) -> Value:
    """`value[key]`, or UNDEFINED."""
    if isinstance(value, dict):
        if type(key) is not str:
            return value.get(str(key), UNDEFINED) if isinstance(key, str) else UNDEFINED
        found = value.get(key, UNDEFINED)
        return _by_other_name(value, key) if found is UNDEFINED else found
    if type(key) is int and isinstance(value, (list, str)):
        return value[key] if -len(value) <= key < len(value) else UNDEFINED
    return UNDEFINED


def _by_other_name(value: dict[str, Value], key: str) -> Value:
    """`body` and its like; of an HTTP result, a field of the JSON object that came with it."""
    found = alias_in(value, key)
    if found is MISSING:
        found = body_field(value, key)
    return UNDEFINED if found is MISSING else found


def cut(value: Value, start: Value, stop: Value, step: Value) -> Value:
    """`value[start:stop:step]`; what has no order has no slices and is undefined."""
    if not isinstance(value, (list, str)):
        return UNDEFINED
    bounds = slice(_bound(start), _bound(stop), _bound(step))
    if bounds.step == 0:
        raise OperationError("the step of a slice cannot be 0")
    return value[bounds]


def _bound(value: Value) -> int | None:
    if value is None or value is UNDEFINED:
        return None
    if not isinstance(value, int):
        raise OperationError("the bounds of a slice must be whole numbers")
    return value


def _first_key(rt: Evaluation, name: str, root: Value, key: str | int) -> Value:
    """The first key of a path, by the ways that are not plain objects.

    What a scope knows of a step (`data`, `results`) comes before what an HTTP body may hold.
    """
    if not isinstance(key, str):
        return look_up(root, key)
    found = root.get(key, UNDEFINED) if type(root) is dict else UNDEFINED
    if found is UNDEFINED:
        found = rt.alias(name, key)
    if found is UNDEFINED and name not in _OF_AUTHOR:
        found = look_up(root, key)
    return found


def path_reader(name: str, keys: tuple[str | int, ...]) -> Run:
    """Reads `name.key.key`; one and two keys, the usual lengths, without a loop."""
    match keys:
        case (key,):
            return _one_key(name, key)
        case (first, second):
            return _two_keys(name, first, second)
        case _:
            return chain_reader(_one_key(name, keys[0]), keys[1:])


def _one_key(name: str, key: str | int) -> Run:
    def read(rt: Evaluation) -> Value:
        root = rt.get(name)
        if type(root) is dict:
            value = root.get(key, UNDEFINED)
            if value is not UNDEFINED:
                return value
        return _first_key(rt, name, root, key)

    return read


def _two_keys(name: str, first: str | int, second: str | int) -> Run:
    def read(rt: Evaluation) -> Value:
        root = rt.get(name)
        inner = root.get(first, UNDEFINED) if type(root) is dict else UNDEFINED
        if inner is UNDEFINED:
            inner = _first_key(rt, name, root, first)
        if type(inner) is dict:
            value = inner.get(second, UNDEFINED)
            if value is not UNDEFINED:
                return value
        return look_up(inner, second)

    return read


def chain_reader(head: Run, rest: tuple[str | int, ...]) -> Run:
    """Reads keys below any value."""
    if len(rest) == 1:
        return _key_below(head, rest[0])

    def read(rt: Evaluation) -> Value:
        value = head(rt)
        for key in rest:
            found = value.get(key, UNDEFINED) if type(value) is dict else UNDEFINED
            value = look_up(value, key) if found is UNDEFINED else found
        return value

    return read


def _key_below(head: Run, key: str | int) -> Run:
    def read(rt: Evaluation) -> Value:
        value = head(rt)
        if type(value) is dict:
            found = value.get(key, UNDEFINED)
            if found is not UNDEFINED:
                return found
        return look_up(value, key)

    return read


def local_reader(name: str, key: str | int) -> Run:
    """Reads `name.key` of a variable that is sure to be set, as loops do for every row."""

    def read(rt: Evaluation) -> Value:
        value = rt.locals[name]
        if type(value) is dict:
            found = value.get(key, UNDEFINED)
            if found is not UNDEFINED:
                return found
        return look_up(value, key)

    return read
