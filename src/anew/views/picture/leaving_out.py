"""Make a large value small enough to show: its biggest parts give way to a marker each.

What is left is JSON of the same form, so that a page can show it in the same way. Knows nothing of
what the value means.
"""

from __future__ import annotations

from itertools import islice

import msgspec

from anew.values import Object, Value

# The only key of the object that stands for what was left out.
MARK = "…"
# What is nested deeper is not worth the search for what could stay.
_DEPTH_MAX = 8
# A marker, and a key in front of it.
_MARKER_BYTES = 64


def bounded(value: Value, bytes_max: int) -> Value:
    """The value itself where its JSON is that small, else as much of it as fits."""
    return _bounded(value, bytes_max, _DEPTH_MAX)


def bounded_object(value: Object, bytes_max: int) -> Object:
    """The same of an object, which stays one."""
    found = bounded(value, bytes_max)
    assert isinstance(found, dict)
    return found


def _bounded(value: Value, bytes_max: int, depth: int) -> Value:
    size = _size(value)
    if size <= bytes_max:
        return value
    if depth > 0 and isinstance(value, dict):
        return _object(value, bytes_max, depth)
    if depth > 0 and isinstance(value, list):
        return _list(value, bytes_max, depth)
    return {MARK: f"{size:,} bytes left out"}


def _object(value: Object, bytes_max: int, depth: int) -> Object:
    pairs = list(islice(value.items(), _room(bytes_max)))
    shares = _shares([_size(key) + _size(part) for key, part in pairs], bytes_max)
    kept = {
        key: _bounded(part, share - _size(key), depth - 1)
        for (key, part), share in zip(pairs, shares, strict=True)
    }
    if len(kept) < len(value):
        kept[MARK] = f"{len(value) - len(kept):,} more left out"
    return kept


def _list(value: list[Value], bytes_max: int, depth: int) -> list[Value]:
    parts = value[: _room(bytes_max)]
    shares = _shares([_size(part) for part in parts], bytes_max)
    kept = [_bounded(part, share, depth - 1) for part, share in zip(parts, shares, strict=True)]
    if len(kept) < len(value):
        kept.append({MARK: f"{len(value) - len(kept):,} more left out"})
    return kept


def _room(bytes_max: int) -> int:
    """How many parts have room for a marker each, one for all others beside them."""
    return max(0, bytes_max // _MARKER_BYTES - 1)


def _shares(sizes: list[int], bytes_max: int) -> list[int]:
    """How many bytes each part gets: small ones what they need, others of what is left."""
    left, shares = bytes_max - _MARKER_BYTES, [0] * len(sizes)
    by_size = sorted(range(len(sizes)), key=sizes.__getitem__)
    for number, index in enumerate(by_size):
        # With what stands between two parts.
        shares[index] = min(sizes[index] + 2, left // (len(sizes) - number))
        left -= shares[index]
    return [max(0, share - 2) for share in shares]


def _size(value: Value) -> int:
    return len(msgspec.json.encode(value))
