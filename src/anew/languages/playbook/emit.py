"""Write YAML blocks, taking over the author's own text wherever it did not change.

A block is a tree of keys whose values are new text, further keys, or pieces of the source.
Comments follow the key they belonged to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TypeAlias

from msgspec import Struct, field

from anew.languages.nodes import Entry, Item, ListNode, Node, ScalarNode, plain

_PLAIN_WORD = re.compile(r"[A-Za-z_][\w./-]*", re.ASCII)
_RESERVED = frozenset({"true", "false", "null", "True", "False", "Null", "TRUE", "FALSE", "NULL"})


class Raw(Struct, frozen=True):
    """The author's own text of an entry's value."""

    entry: Entry


class Inline(Struct, frozen=True):
    """New text that stands on the line of its key."""

    text: str


class RawItem(Struct, frozen=True):
    """The author's own text of a list element."""

    item: Item


class Key(Struct, frozen=True):
    """One line `name: value`, and the entries of the source whose comments it takes over."""

    name: str
    value: Out
    origins: tuple[Entry, ...] = ()


class Block(Struct, frozen=True):
    keys: tuple[Key, ...]


class Rows(Struct, frozen=True):
    items: tuple[Block | Inline | RawItem, ...]


Out: TypeAlias = Raw | Inline | Block | Rows


def scalar(value: object) -> Inline:
    """A value written on one line."""
    if isinstance(value, str) and _PLAIN_WORD.fullmatch(value) and value not in _RESERVED:
        return Inline(value)
    return Inline(json.dumps(value, ensure_ascii=False))


class Source(Struct):
    """The text of a document and its comments, by the offset of their `#`."""

    text: str
    comments: dict[int, int]  # start and end of each
    used: set[int] = field(default_factory=set)

    def line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        found = self.text.find("\n", offset)
        return len(self.text) if found < 0 else found

    def column(self, offset: int) -> int:
        return offset - self.line_start(offset)

    def stands_alone(self, comment: int) -> bool:
        return not self.text[self.line_start(comment) : comment].strip()

    def take(self, start: int, end: int) -> list[str]:
        """Unused comments between two offsets, which then count as used."""
        found = [at for at in self.comments if start <= at < end and at not in self.used]
        self.used.update(found)
        return [self.text[at : self.comments[at]].rstrip() for at in sorted(found)]

    def above(self, offset: int) -> list[str]:
        """The comments in the lines directly above the one of an offset."""
        start = self.line_start(offset)
        first = start
        while first > 0:
            before = self.line_start(first - 1)
            line = self.text[before : first - 1]
            if not line.strip().startswith("#"):
                break
            first = before
        return self.take(first, start)

    def end_of(self, node: Node, *, with_comment: bool = True) -> int:
        """Where the text of a node ends, with a comment that follows on its last line."""
        end = content_end(node)
        while end > node.begin and self.text[end - 1] in " \n\r":
            end -= 1
        rest = self.text[end : self.line_end(end)]
        if with_comment and re.fullmatch(r"\s+#.*", rest.rstrip("\r")):
            end += len(rest.rstrip())
        return end


def content_end(node: Node) -> int:
    """Where the last thing in a node ends; a block itself ends only where the next one starts."""
    if isinstance(node, ScalarNode) or node.is_flow:
        return node.end
    if isinstance(node, ListNode):
        return max((held_end(item) for item in node.items), default=node.end)
    return max((held_end(entry) for entry in node), default=node.end)


def held_end(holder: Entry | Item) -> int:
    """Where what a key or dash holds ends in the text, an alias being its own text."""
    return content_end(holder.node) if holder.alias_end is None else holder.alias_end


def find_comments(text: str, nodes: Iterable[ScalarNode]) -> dict[int, int]:
    """Every comment of a document: a `#` after white space that no scalar contains."""
    inside = sorted((node.begin, node.end) for node in nodes if node.end > node.begin)
    found: dict[int, int] = {}
    position = 0
    for begin, end in [*inside, (len(text), len(text))]:
        gap_start = position
        while gap_start < begin:
            at = text.find("#", gap_start, begin)
            if at < 0:
                break
            line_end = text.find("\n", at)
            line_end = len(text) if line_end < 0 else line_end
            if at == 0 or text[at - 1].isspace():
                found[at] = line_end
            gap_start = line_end
        position = max(position, end)
    return found


class Emitter:
    """Turns blocks into lines. Comments are written once, where they are met first."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def block(self, block: Block, indent: int) -> list[str]:
        lines: list[str] = []
        for key in block.keys:
            lines += self._key(key, indent)
        return lines

    def rows(self, rows: Rows, indent: int) -> list[str]:
        pad = " " * indent
        lines: list[str] = []
        for item in rows.items:
            match item:
                case Inline():
                    lines.append(f"{pad}- {item.text}")
                case RawItem():
                    lines += self._raw_item(item.item, indent)
                case Block():
                    lines += dashed(self.block(item, indent + 2), indent)
        return lines

    def _key(self, key: Key, indent: int) -> list[str]:
        pad = " " * indent
        lines: list[str] = []
        for origin in key.origins:
            comments = self.source.above(origin.name.begin)
            if not isinstance(key.value, Raw) or key.value.entry is not origin:
                end = self.source.end_of(origin.node)
                comments += self.source.take(origin.name.begin, end)
            lines += [pad + comment for comment in comments]
        match key.value:
            case Raw():
                return lines + self._raw(key.name, key.value.entry, indent)
            case Inline():
                return [*lines, f"{pad}{key.name}: {key.value.text}".rstrip()]
            case Block():
                return [*lines, f"{pad}{key.name}:", *self.block(key.value, indent + 2)]
            case Rows():
                return [*lines, f"{pad}{key.name}:", *self.rows(key.value, indent)]

    def _raw(self, name: str, entry: Entry, indent: int) -> list[str]:
        node, source = entry.node, self.source
        pad = " " * indent
        if entry.alias_end is not None:  # its text is only a reference
            return [f"{pad}{name}: {json.dumps(plain(node), ensure_ascii=False)}"]
        end = source.end_of(node)
        source.take(entry.name.begin, end)
        between = source.text[entry.name.end : node.begin]
        if between == ":" and end > node.begin:  # JSON needs no space there, a block does
            between = ": "
        text = name + between + source.text[node.begin : end]
        shift = indent - source.column(entry.name.begin)
        return shifted(pad + text, shift)

    def _raw_item(self, item: Item, indent: int) -> list[str]:
        node, source = item.node, self.source
        if item.alias_end is not None:
            return [f"{' ' * indent}- {json.dumps(plain(node), ensure_ascii=False)}"]
        lines = [" " * indent + comment for comment in source.above(node.begin)]
        end = source.end_of(node)
        source.take(node.begin, end)
        shift = indent + 2 - source.column(node.begin)
        return lines + dashed(
            shifted(" " * (indent + 2) + source.text[node.begin : end], shift), indent
        )


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
