"""Write YAML blocks, taking over the author's own text wherever it did not change.

A block is a tree of keys whose values are new text, further keys, or pieces of the source.
Comments follow the key they belonged to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TypeAlias

from msgspec import Struct

from anew.languages.nodes import Entry, Item, plain
from anew.languages.playbook.comments import Source, held_end

_PLAIN_WORD = re.compile(r"[A-Za-z_][\w./-]*", re.ASCII)
_RESERVED = frozenset({"true", "false", "null", "True", "False", "Null", "TRUE", "FALSE", "NULL"})


class Raw(Struct, frozen=True):
    """The author's own text of an entry's value."""

    entry: Entry


class Inline(Struct, frozen=True):
    """New text that stands on the line of its key."""

    text: str


class Literal(Struct, frozen=True):
    """New text of several lines."""

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
    """`item` is the list element of the source whose comments it takes over, where it is one."""

    keys: tuple[Key, ...]
    item: Item | None = None


class Rows(Struct, frozen=True):
    items: tuple[Block | Inline | RawItem, ...]


Out: TypeAlias = Raw | Inline | Literal | Block | Rows


def scalar(value: object) -> Inline:
    """A value written on one line."""
    if isinstance(value, str) and _PLAIN_WORD.fullmatch(value) and value not in _RESERVED:
        return Inline(value)
    return Inline(_json(value))


def _json(value: object) -> str:
    """JSON that YAML reads as the same value.

    Escaped is all that a reader does not see: what YAML takes for the end of a line or for a mark
    of the encoding, and what turns the direction of a terminal or hides in it.
    """
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else "".join(map(_seen, text))


def _seen(character: str) -> str:
    number = ord(character)
    if character.isprintable():
        return character
    return f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"


def written(value: object) -> Inline | Literal:
    """A value as an author would write it: a text of several lines keeps them."""
    if isinstance(value, str) and _fits_literal(value):
        return Literal(value)
    return scalar(value)


def _fits_literal(text: str) -> bool:
    lines = text.removesuffix("\n").split("\n")
    is_plain = all(line.isprintable() and line == line.rstrip() for line in lines)
    return "\n" in text and is_plain and bool(lines[0] and lines[-1]) and lines[0][0] != " "


class Emitter:
    """Turns blocks into lines. Comments are written once."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._written: set[int] = set()

    def block(self, block: Block, indent: int) -> list[str]:
        # What the author's own pieces contain stays in them, so nothing else may take it.
        self._reserve(block)
        return self._block(block, indent)

    def rows(self, rows: Rows, indent: int) -> list[str]:
        self._reserve(rows)
        return self._rows(rows, indent)

    def _reserve(self, value: Out | RawItem) -> None:
        match value:
            case Raw():
                self.source.take(value.entry.name.begin, self._end(value.entry))
            case RawItem():
                self.source.take(value.item.begin, self._end(value.item))
            case Block():
                for key in value.keys:
                    self._reserve(key.value)
            case Rows():
                for item in value.items:
                    self._reserve(item)
            case Inline() | Literal():
                pass

    def _end(self, holder: Entry | Item) -> int:
        is_alias = holder.alias_end is not None
        return held_end(holder) if is_alias else self.source.end_of(holder.node)

    # --- keys and rows ---------------------------------------------------------------------------

    def _block(self, block: Block, indent: int) -> list[str]:
        return [line for key in block.keys for line in self._key(key, indent)]

    def _rows(self, rows: Rows, indent: int) -> list[str]:
        lines: list[str] = []
        for item in rows.items:
            match item:
                case Inline():
                    lines.append(f"{' ' * indent}- {item.text}")
                case RawItem():
                    lines += self._raw_item(item.item, indent)
                case Block():
                    lines += self._row(item, indent)
        return lines

    def _row(self, block: Block, indent: int) -> list[str]:
        above = self.source.above(block.item.begin) if block.item is not None else []
        lines = dashed(self._block(block, indent + 2), indent)
        if block.item is not None:
            above += self.source.take(block.item.begin, self._end(block.item))
        return [*_indented(above, indent), *lines]

    def _key(self, key: Key, indent: int) -> list[str]:
        above = [c for origin in key.origins for c in self.source.above(origin.name.begin)]
        lines = self._valued(key, indent)
        # What is inside takes its comments first; the rest of them belongs to the whole.
        beside = [c for origin in key.origins for c in self.source.beside(origin)]
        if len(beside) == 1 and not isinstance(key.value, Raw):
            lines[0] += f"  {beside.pop()}"
        above += beside
        for origin in key.origins:
            above += self.source.take(origin.name.begin, self._end(origin))
        return [*_indented(above, indent), *lines]

    def _valued(self, key: Key, indent: int) -> list[str]:
        name = scalar(key.name).text
        start = f"{' ' * indent}{name}:"
        match key.value:
            case Raw():
                return self._raw(name, key.value.entry, indent)
            case Inline():
                return [f"{start} {key.value.text}".rstrip()]
            case Literal():
                chomping = "" if key.value.text.endswith("\n") else "-"
                inner = key.value.text.removesuffix("\n").split("\n")
                return [f"{start} |{chomping}", *_indented(inner, indent + 2)]
            case Block():
                inner = self._block(key.value, indent + 2)
                return [start, *inner] if inner else [f"{start} {{}}"]
            case Rows():
                inner = self._rows(key.value, indent)
                return [start, *inner] if inner else [f"{start} []"]

    # --- the author's own text -------------------------------------------------------------------

    def _raw(self, name: str, entry: Entry, indent: int) -> list[str]:
        node, source = entry.node, self.source
        pad = " " * indent
        if entry.alias_end is not None:  # its text is only a reference
            return [f"{pad}{name}: {_json(plain(node))}"]
        end = source.end_of(node)
        between = self._piece(entry.name.end, node.begin)
        if between == ":" and end > node.begin:  # JSON needs no space there, a block does
            between = ": "
        text = name + between + self._piece(node.begin, end)
        shift = indent - source.column(entry.name.begin)
        return shifted(pad + text, shift)

    def _raw_item(self, item: Item, indent: int) -> list[str]:
        node, source = item.node, self.source
        if item.alias_end is not None:
            return [f"{' ' * indent}- {_json(plain(node))}"]
        above = source.above(node.begin)
        shift = indent + 2 - source.column(node.begin)
        text = self._piece(node.begin, source.end_of(node))
        return _indented(above, indent) + dashed(shifted(" " * (indent + 2) + text, shift), indent)

    def _piece(self, start: int, end: int) -> str:
        """Source text; where it is written a second time, without its comments."""
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
