"""Write nodes as YAML, in the author's own text wherever it says the same.

Nodes that nobody wrote become new text. Comments follow the key they belonged to.
"""

from __future__ import annotations

from collections.abc import Iterable

from anew.languages.nodes import Entry, Item, ListNode, MapNode, ScalarNode, plain
from anew.languages.playbook.comments import CommentedText, held_end
from anew.languages.yaml_writer import flow, scalar, scalar_lines


class Emitter:
    """Turns nodes into lines. Comments are written once."""

    def __init__(self, source: CommentedText) -> None:
        self.source = source
        self._written: set[int] = set()

    def block(self, entries: Iterable[Entry], indent: int) -> list[str]:
        found = tuple(entries)
        # What the author's own pieces contain stays in them, so nothing else may take it.
        for entry in found:
            self._reserve(entry)
        return self._block(found, indent)

    def _reserve(self, holder: Entry | Item) -> None:
        node = holder.node
        begin = holder.name.begin if isinstance(holder, Entry) else holder.begin
        if not node.is_made:
            self.source.take(begin if begin >= 0 else node.begin, self._end(holder))
        elif isinstance(node, MapNode):
            for entry in node:
                self._reserve(entry)
        elif isinstance(node, ListNode):
            for item in node.items:
                self._reserve(item)

    def _end(self, holder: Entry | Item) -> int:
        is_alias = holder.alias_end is not None
        return held_end(holder) if is_alias else self.source.end_of(holder.node)

    # --- entries and elements --------------------------------------------------------------------

    def _block(self, entries: Iterable[Entry], indent: int) -> list[str]:
        return [line for entry in entries for line in self._entry(entry, indent)]

    def _entry(self, entry: Entry, indent: int) -> list[str]:
        is_own = not entry.node.is_made and not entry.name.is_made
        origins = entry.origins or ((entry,) if is_own else ())
        above = [c for origin in origins for c in self.source.above(origin.name.begin)]
        lines = self._valued(entry, indent)
        # What is inside takes its comments first; the rest of them belongs to the whole.
        beside = [c for origin in origins for c in self.source.beside(origin)]
        if len(beside) == 1 and entry.node.is_made:
            lines[0] += f"  {beside.pop()}"
        above += beside
        for origin in origins:
            above += self.source.take(origin.name.begin, self._end(origin))
        return [*_indented(above, indent), *lines]

    def _valued(self, entry: Entry, indent: int) -> list[str]:
        node, name = entry.node, scalar(entry.key)
        start = f"{' ' * indent}{name}:"
        if not node.is_made:
            return self._raw(name, entry, indent)
        match node:
            case ScalarNode() if node.style == "'":
                return [f"{start} '{node.text}'"]
            case ScalarNode():
                return scalar_lines(start, node.value, indent)
            case MapNode() if node.is_flow or not node.entries:
                return [f"{start} {flow(plain(node))}"]
            case MapNode():
                return [start, *self._block(node, indent + 2)]
            case ListNode():
                rows = [line for item in node.items for line in self._item(item, indent)]
                return [start, *rows] if rows else [f"{start} []"]

    def _item(self, item: Item, indent: int) -> list[str]:
        if not item.node.is_made:
            return self._raw_item(item, indent)
        if isinstance(item.node, ScalarNode):
            return scalar_lines(f"{' ' * indent}-", item.node.value, indent)
        if not isinstance(item.node, MapNode):
            return [f"{' ' * indent}- {flow(plain(item.node))}"]
        origin = item.origin
        above = self.source.above(origin.begin) if origin is not None else []
        lines = dashed(self._block(item.node, indent + 2), indent)
        if origin is not None:
            above += self.source.take(origin.begin, self._end(origin))
        return [*_indented(above, indent), *lines]

    # --- the author's own text -------------------------------------------------------------------

    def _raw(self, name: str, entry: Entry, indent: int) -> list[str]:
        node, source = entry.node, self.source
        pad = " " * indent
        if entry.alias_end is not None:  # its text is only a reference
            return [f"{pad}{name}: {scalar(plain(node))}"]
        end = source.end_of(node)
        if entry.name.is_made:
            return self._raw_below(name, entry, indent)
        between = self._piece(entry.name.end, node.begin)
        if between == ":" and end > node.begin:  # JSON needs no space there, a block does
            between = ": "
        text = name + between + self._piece(node.begin, end)
        shift = indent - source.column(entry.name.begin)
        return shifted(pad + text, shift)

    def _raw_below(self, name: str, entry: Entry, indent: int) -> list[str]:
        """A value that stands in the source under another key, or under none."""
        node, source, start = entry.node, self.source, f"{' ' * indent}{name}:"
        is_short = isinstance(node, ScalarNode) or node.is_flow
        shift = indent + (0 if is_short else 2) - source.column(node.begin)
        first, *others = shifted(self._piece(node.begin, source.end_of(node)), shift)
        if is_short:
            return [f"{start} {first}", *others]
        return [start, f"{' ' * (indent + 2)}{first}", *others]

    def _raw_item(self, item: Item, indent: int) -> list[str]:
        node, source = item.node, self.source
        if item.alias_end is not None:
            return [f"{' ' * indent}- {scalar(plain(node))}"]
        above = source.above(node.begin)
        shift = indent + 2 - source.column(node.begin)
        text = self._piece(node.begin, source.end_of(node))
        return _indented(above, indent) + dashed(shifted(" " * (indent + 2) + text, shift), indent)

    def _piece(self, start: int, end: int) -> str:
        """CommentedText text; where it is written a second time, without its comments."""
        found = set(self.source.between(start, end))
        text = self.source.without(start, end, found & self._written)
        self._written |= found
        return text


def _indented(lines: Iterable[str], indent: int) -> list[str]:
    return [(" " * indent + line).rstrip() for line in lines]


def shifted(text: str, shift: int) -> list[str]:
    """The lines of a piece of source; all but the first move by `shift` columns."""
    first, *others = [line.rstrip("\r") for line in text.split("\n")]
    return [first.rstrip(), *(_moved(line, shift) for line in others)]


def _moved(line: str, shift: int) -> str:
    if not line.strip():
        return ""
    if shift >= 0:
        return " " * shift + line
    spaces = len(line) - len(line.lstrip(" "))
    return line[min(-shift, spaces) :]


def dashed(lines: list[str], indent: int) -> list[str]:
    """The lines of a block with the dash of a list element before its first key."""
    for index, line in enumerate(lines):
        if not line.strip().startswith("#"):
            before = [" " * indent + comment.strip() for comment in lines[:index]]
            return [*before, f"{' ' * indent}- {line.lstrip(' ')}", *lines[index + 1 :]]
    return lines
