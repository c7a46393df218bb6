"""What may be said under a key of `expect`: the forms of its values, without what they mean."""

from __future__ import annotations

from collections.abc import Callable

from anew.values import Value, is_number, is_whole


def is_text(value: Value) -> bool:
    return isinstance(value, str)


def are_texts(value: Value) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


def is_mapping(value: Value) -> bool:
    return isinstance(value, dict)


def are_counts(value: Value) -> bool:
    return isinstance(value, dict) and all(is_whole(one) and one >= 0 for one in value.values())


def are_lists(value: Value) -> bool:
    return isinstance(value, list) and all(map(are_texts, value))


def are_delays(value: Value) -> bool:
    return isinstance(value, list) and all(is_number(one) or _names_delay(one) for one in value)


def _names_delay(value: Value) -> bool:
    known = {"task", "attempt", "seconds"}
    is_known = isinstance(value, dict) and bool(value) and value.keys() <= known
    return is_known and is_number(value.get("seconds", 0))


def or_null(fits: Callable[[Value], bool]) -> Callable[[Value], bool]:
    return lambda value: value is None or fits(value)


def is_anything(_: Value) -> bool:
    return True


def is_flag(value: Value) -> bool:
    return isinstance(value, bool)
