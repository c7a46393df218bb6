"""Say of values that code or a file gives which part of them no log could hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from anew.errors import ConfigError
from anew.values import Value
from anew.weight import VALUE_DEPTH_MAX, problem_of

# A place this deep is found with the eyes, and its name still fits a line.
_PARTS_NAMED_MAX = 6
_NAME_CHARACTERS_MAX = 40


def fitting(value: Value, where: str) -> Value:
    """The same value; ConfigError names the part that is too much, or not JSON."""
    problem = problem_of(value)
    if problem is None:
        return value
    place = "".join(_place_of(value, _PARTS_NAMED_MAX)).removeprefix(".")
    raise ConfigError(f"{where}: {place or 'the value'} {problem}")


def _place_of(value: Value, most: int) -> Iterator[str]:
    """How to get to the smallest part that has the problem."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    wrong = next((one for one in parts if problem_of(one[1]) is not None), None)
    if wrong is None or not most:
        return
    name, part = wrong
    yield f".{str(name)[:_NAME_CHARACTERS_MAX]}" if isinstance(value, dict) else f"[{name}]"
    if isinstance(part, (dict, list)):
        yield from _place_of(part, most - 1)


def plain(value: Value, where: str, *, depth: int = 0) -> Value:
    """What code says, as a file would have it: mappings and lists of any kind are plain ones."""
    if depth > VALUE_DEPTH_MAX:
        raise ConfigError(f"{where}: a value is nested deeper than {VALUE_DEPTH_MAX} levels")
    match value:
        case bool() | bytes() | bytearray():
            return value
        case str():
            return str.__str__(value)  # a word of an enumeration is its text
        case int():
            return int(value)
        case float():
            return float(value)
        case Mapping():
            return {key: plain(part, where, depth=depth + 1) for key, part in value.items()}
        case Sequence():
            return [plain(part, where, depth=depth + 1) for part in value]
        case _:
            return value
