"""A condition of an edge as a tree, the same for both dialects.

What a comparison means is for the evaluation; how it is written is for the two grammars.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct

from anew.values import Value

CONTEXT_PREFIX = "context."


class ContextKey(Struct, frozen=True):
    """`path` is the key without `context.`; `is_prefixed` tells that it was written with it."""

    path: str
    is_prefixed: bool = False
    at: int = 0

    @property
    def segments(self) -> list[str]:
        return self.path.split(".")


class ConditionLiteral(Struct, frozen=True):
    """A text, number, boolean, or a list of them."""

    value: Value
    at: int = 0


Operand: TypeAlias = ContextKey | ConditionLiteral


class Compare(Struct, frozen=True):
    """`sign` is the operator as the docs dialect writes it; spec's `=` is `==`."""

    sign: str
    left: Operand
    right: Operand


class Holds(Struct, frozen=True):
    """A bare key or literal: its own truth."""

    operand: Operand


class Not(Struct, frozen=True):
    inner: Tree


class All(Struct, frozen=True):
    parts: tuple[Tree, ...]


class AnyOf(Struct, frozen=True):
    parts: tuple[Tree, ...]


Tree: TypeAlias = Compare | Holds | Not | All | AnyOf


def key_of(written: str, at: int = 0) -> ContextKey:
    """The key that was written, which may begin with `context.`."""
    is_prefixed = written.startswith(CONTEXT_PREFIX)
    return ContextKey(written.removeprefix(CONTEXT_PREFIX), is_prefixed, at)


def keys_in(tree: Tree) -> Iterator[ContextKey]:
    """Every key of the tree, as often as it is written."""
    match tree:
        case Compare():
            yield from (side for side in (tree.left, tree.right) if isinstance(side, ContextKey))
        case Holds():
            yield from (side for side in (tree.operand,) if isinstance(side, ContextKey))
        case Not():
            yield from keys_in(tree.inner)
        case All() | AnyOf():
            for part in tree.parts:
                yield from keys_in(part)


def comparisons_in(tree: Tree) -> Iterator[Compare]:
    match tree:
        case Compare():
            yield tree
        case Not():
            yield from comparisons_in(tree.inner)
        case All() | AnyOf():
            for part in tree.parts:
                yield from comparisons_in(part)
        case Holds():
            pass


def specificity(tree: Tree) -> tuple[int, int]:
    """How specific a condition is: its operators, then the segments of its keys."""
    return _operators(tree), sum(len(key.segments) for key in keys_in(tree))


def _operators(tree: Tree) -> int:
    match tree:
        case Compare():
            return 1
        case Holds():
            return 0
        case Not():
            return 1 + _operators(tree.inner)
        case All() | AnyOf():
            return len(tree.parts) - 1 + sum(map(_operators, tree.parts))
