"""Say which words there are where a request has a wrong one.

Knows the types that requests are read as, and how msgspec names a place in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec import inspect

_WRONG_WORD = re.compile(r"Invalid enum value .* - at `\$(?P<place>[^`]*)`$", re.DOTALL)
_PART = re.compile(r"\.(\w+)|\[[^\]]*\]")


def allowed_values(problem: str, kind: Any) -> str:
    """`; choose from queued, running, …`; nothing where the problem is another one."""
    found = _WRONG_WORD.search(problem)
    words = [] if found is None else _words_at(inspect.type_info(kind), found["place"])
    return f"; choose from {', '.join(words)}" if words else ""


def _words_at(kind: inspect.Type, place: str) -> list[str]:
    """The words that a place such as `.filter.state[...]` may have."""
    kinds = [kind]
    for part in _PART.finditer(place):
        kinds = [inner for one in kinds for inner in _inside(_plain(one), part[1])]
    return [str(word) for kind in kinds for one in _plain(kind) for word in _values(one)]


def _values(kind: inspect.Type) -> Iterable[object]:
    if isinstance(kind, inspect.EnumType):
        return [word.value for word in kind.cls]
    return kind.values if isinstance(kind, inspect.LiteralType) else ()


def _plain(kind: inspect.Type) -> list[inspect.Type]:
    """What a type may be: each of a union."""
    if isinstance(kind, inspect.Metadata):
        return _plain(kind.type)
    return list(kind.types) if isinstance(kind, inspect.UnionType) else [kind]


def _inside(kinds: list[inspect.Type], name: str | None) -> list[inspect.Type]:
    """The types of a field of these, or without a name of their items."""
    if name is None:
        return [one.item_type for one in kinds if isinstance(one, inspect.ListType)]
    structs = [one for one in kinds if isinstance(one, inspect.StructType)]
    return [
        field.type
        for one in structs
        for field in one.fields
        if name in (field.encode_name, field.name)
    ]
