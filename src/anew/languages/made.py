"""Make nodes that nobody wrote: the canonical form of something, or a default.

They have no text of their own, and are reported where the node stands that they were made of. What
changes nothing gives the same objects back, so that identity tells what was changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from anew.languages.nodes import NO_TEXT, Entry, Item, ListNode, MapNode, Node, ScalarNode
from anew.languages.scalars import Scalar
from anew.program.span import Span

_WORDS = {None: "null", True: "true", False: "false"}


def scalar(value: Scalar, place: Span, style: str = "") -> ScalarNode:
    """A value that is reported at `place`; with the style `'` it is written in those quotes."""
    text = _WORDS[value] if value is None or isinstance(value, bool) else str(value)
    return ScalarNode(value, text, place.file, place.line, place.column, NO_TEXT, NO_TEXT, style)


def entry(key: str, node: Node, place: Span, *origins: Entry) -> Entry:
    """`key: node`, which stands for `origins`."""
    return Entry(key, scalar(key, place), node, origins=origins)


def renamed(old: Entry, key: str, node: Node | None = None) -> Entry:
    """An entry under its canonical key, and with a new value if one is given."""
    if node is None or node is old.node:
        return old if old.key == key else Entry(key, old.name, old.node, old.alias_end)
    return Entry(key, old.name, node, origins=old.origins if old.node.is_made else (old,))


def mapping(entries: Iterable[Entry], place: Span, *, is_flow: bool = False) -> MapNode:
    return MapNode({each.key: each for each in entries}, place, is_flow=is_flow)


def sequence(items: Iterable[Item], place: Span) -> ListNode:
    return ListNode(tuple(items), place)


def with_entries(node: MapNode, entries: Iterable[Entry]) -> MapNode:
    """The mapping with these entries; itself where they are its own."""
    found = tuple(entries)
    own = node.entries.values()
    is_same = len(found) == len(own) and all(a is b for a, b in zip(found, own, strict=True))
    return node if is_same else mapping(found, node.span)


def with_items(node: ListNode, items: Iterable[Item]) -> ListNode:
    """The list with these elements; itself where they are its own."""
    found = tuple(items)
    own = node.items
    is_same = len(found) == len(own) and all(a is b for a, b in zip(found, own, strict=True))
    return node if is_same else sequence(found, node.span)


def with_node(item: Item, node: Node) -> Item:
    """The element with this value; itself where it is its own."""
    if node is item.node:
        return item
    is_own = item.begin >= 0 and not item.node.is_made
    return Item(item.place, node, item.begin, origin=item if is_own else item.origin)


def rewritten(node: Node, change: Callable[[ScalarNode, str], ScalarNode], key: str = "") -> Node:
    """A value with its scalars changed; each comes with the key it stands under."""
    match node:
        case ScalarNode():
            return change(node, key)
        case ListNode():
            items = (with_node(item, rewritten(item.node, change, key)) for item in node.items)
            return with_items(node, items)
        case MapNode():
            below = (renamed(e, e.key, rewritten(e.node, change, e.key)) for e in node)
            return with_entries(node, below)
