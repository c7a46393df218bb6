"""Read what an attribute says, as the type it must have.

What is written badly counts as absent here: `lint` has reported it, and a graph with such
an error does not become a program.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeAlias, TypeVar

from anew.languages.dot.attributes import Wrong, duration_of, number_of, truth_of, whole_of
from anew.languages.dot.graph import Attribute, Edge, Graph, Node

Holder: TypeAlias = Node | Edge | Graph
_T = TypeVar("_T")


def given(holder: Holder, *keys: str) -> Attribute | None:
    """The attribute under the first of these keys that is there and not empty."""
    for key in keys:
        found = holder.attributes.get(key)
        if found is not None and found.raw.strip():
            return found
    return None


def text(holder: Holder, *keys: str) -> str:
    found = given(holder, *keys)
    return "" if found is None else found.raw


def flag(holder: Holder, key: str) -> bool | None:
    return _read(holder, (key,), truth_of)


def is_goal_gate(node: Node) -> bool:
    """Whether a node is a goal gate: any text but `false` says so."""
    return given(node, "goal_gate") is not None and flag(node, "goal_gate") is not False


def whole(holder: Holder, *keys: str, least: int = 0) -> int | None:
    value = _read(holder, keys, whole_of)
    return value if value is not None and value >= least else None


def number(holder: Holder, key: str) -> float | None:
    return _read(holder, (key,), number_of)


def seconds(holder: Holder, key: str) -> float | None:
    return _read(holder, (key,), duration_of)


def word(holder: Holder, key: str, known: Collection[str]) -> str | None:
    said = text(holder, key).strip().lower()
    return said if said in known else None


def _read(
    holder: Holder, keys: tuple[str, ...], read: Callable[[Attribute], _T | Wrong]
) -> _T | None:
    found = given(holder, *keys)
    value = None if found is None else read(found)
    return None if isinstance(value, Wrong) else value
