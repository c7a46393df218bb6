"""A document as a tree of values that remember where they stand.

A node that no text says (a canonical form, a default) has no offsets, and stands for messages where
the node stands that it was made of. Holds nothing of playbooks: scripts of the simulator and other
YAML files use the same tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct

from anew.program.span import Span
from anew.values import Value

# The offsets of a node that stands nowhere in the document's text.
NO_TEXT = -1


class ScalarNode(Struct, frozen=True):
    """`text` is what was written (without quotes), `value` what it means.

    Lines and columns count from 1; `begin` and `end` are offsets into the document's text.
    """

    value: str | int | float | bool | None
    text: str
    file: str
    line: int
    column: int
    begin: int
    end: int
    style: str = ""
    is_folded: bool = False  # written in several lines

    @property
    def span(self) -> Span:
        return Span(self.file, self.line, self.column)

    @property
    def is_made(self) -> bool:
        return self.begin < 0

    @property
    def is_inline(self) -> bool:
        """Whether an offset into `text` is an offset into the line it stands in."""
        quotes = 2 if self.style in ("'", '"') else 0
        return not self.is_folded and self.end - self.begin == len(self.text) + quotes


class Entry(Struct, frozen=True):
    """One `key: value` of a mapping; `name` is the node of the key, `place` where it stands.

    An alias shares the node it stands for; `alias_end` is then where the alias itself ends.
    A renamed entry has its canonical `key`, and the author's word as `name`. `origins` are the
    entries that a made one stands for: their comments belong to it.
    """

    key: str
    name: ScalarNode
    node: Node
    alias_end: int | None = None
    origins: tuple[Entry, ...] = ()

    @property
    def place(self) -> Span:
        return self.name.span

    @property
    def holder(self) -> Span:
        """Where something is reported that the value lacks: the key, or braces that stand apart."""
        node = self.node
        if isinstance(node, MapNode):
            if node.is_made:
                return node.span
            if node.is_flow and node.span.line != self.name.line:
                return self.place if self.alias_end is not None else node.span
        return self.place


class MapNode(Struct, frozen=True):
    entries: dict[str, Entry]
    span: Span
    begin: int = NO_TEXT
    end: int = NO_TEXT
    is_flow: bool = False

    @property
    def is_made(self) -> bool:
        return self.begin < 0

    def get(self, key: str) -> Entry | None:
        return self.entries.get(key)

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())


class Item(Struct, frozen=True):
    """One element of a list; `place` is its dash (in brackets, the element itself).

    `origin` is the element that a made one stands for.
    """

    place: Span
    node: Node
    begin: int = NO_TEXT
    alias_end: int | None = None
    origin: Item | None = None


class ListNode(Struct, frozen=True):
    items: tuple[Item, ...]
    span: Span
    begin: int = NO_TEXT
    end: int = NO_TEXT
    is_flow: bool = False

    @property
    def is_made(self) -> bool:
        return self.begin < 0


Node: TypeAlias = ScalarNode | MapNode | ListNode


def plain(node: Node) -> Value:
    """The JSON value of a node. Depth is bounded by the reader, so recursion is safe."""
    match node:
        case ScalarNode():
            return node.value
        case ListNode():
            return [plain(item.node) for item in node.items]
        case MapNode():
            return {entry.key: plain(entry.node) for entry in node}


def is_null(node: Node) -> bool:
    """Whether nothing was written, or `null`."""
    return isinstance(node, ScalarNode) and node.value is None


def scalars(node: Node, *, with_keys: bool = False) -> Iterator[ScalarNode]:
    """Every scalar below a node, in file order; those of keys only if asked for."""
    match node:
        case ScalarNode():
            yield node
        case ListNode():
            for item in node.items:
                yield from scalars(item.node, with_keys=with_keys)
        case MapNode():
            for entry in node:
                if with_keys:
                    yield entry.name
                yield from scalars(entry.node, with_keys=with_keys)
