"""How much there is in a value, each part counted as often as it would be written.

A value may hold one list in many places, and that list another: little memory can stand for more
than anybody could write. Counting takes time for what is there once, and ends where a limit is
passed. Knows nothing of what the size is needed for.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from msgspec import Struct

from anew.values import Value

# What holds more than one thing.
SIZED: Final = frozenset({str, list, dict})
_CONTAINERS = frozenset({list, dict})
# So many lists and objects are gone through without looking for those that come again.
_VISITS_FREE = 512


class Size(Struct, frozen=True):
    """Items and keys at every depth, and the characters of all texts and keys."""

    parts: int
    chars: int


def size_of(value: list[Value] | dict[str, Value], parts_max: int) -> Size:
    """The size of `value`; where it has more parts than `parts_max`, some size that has, too."""
    waiting: list[Value] = [value]
    parts = chars = visits = 0
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            chars += len(part)
        elif isinstance(part, (list, dict)):
            visits += 1
            if visits > _VISITS_FREE:
                return _shared_size(value, parts_max)
            parts += len(part)
            if isinstance(part, dict):
                chars += sum(map(len, part))
            if parts > parts_max:
                break
            items = _items(part)
            # Most long lists hold numbers only.
            if not SIZED.isdisjoint(map(type, items)):
                waiting.extend(items)
    return Size(parts, chars)


def _shared_size(value: Value, parts_max: int) -> Size:
    """As `size_of`: each list and object is gone through once, wherever it stands."""
    parts_of: dict[int, int] = {}
    chars_of: dict[int, int] = {}
    distinct, waiting = 0, [value]
    while waiting:
        part = waiting[-1]
        if id(part) in parts_of:
            waiting.pop()
            continue
        before, items = len(waiting), _items(part)
        parts, chars = len(part), sum(map(len, part)) if isinstance(part, dict) else 0
        if not SIZED.isdisjoint(map(type, items)):
            for item in items:
                if type(item) is str:
                    chars += len(item)
                elif type(item) in _CONTAINERS and id(item) in parts_of:
                    parts += parts_of[id(item)]
                    chars += chars_of[id(item)]
                elif type(item) in _CONTAINERS:
                    waiting.append(item)
        if len(waiting) > before:
            continue  # what is in it comes first
        parts_of[id(part)], chars_of[id(part)] = parts, chars
        distinct += len(part)
        if parts > parts_max or distinct > parts_max:
            return Size(max(parts, distinct), chars)
    return Size(parts_of[id(value)], chars_of[id(value)])


def _items(part: Value) -> Collection[Value]:
    return part.values() if isinstance(part, dict) else part
