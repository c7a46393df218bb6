"""Write values as YAML that reads as the same values: blocks for what is long, braces for the rest.

Where remarks are given for parts of a document, they stand beside, above and below them as
comments. Knows nothing of the author's own text: `playbook/emit.py` keeps that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from anew.values import Value

Path: TypeAlias = tuple[str | int, ...]

_PLAIN_WORD = re.compile(r"[A-Za-z_][\w./-]*", re.ASCII)
# The words that readers of YAML 1.2 or of 1.1 take for another value.
_RESERVED = frozenset("true false null y n yes no on off".split())
# YAML reads a longer key only after a question mark.
_KEY_CHARACTERS_MAX = 1_000
# Remarks stand in one column, unless the line is longer.
_REMARK_COLUMN = 56

# --- values on one line, and texts on several ----------------------------------------------------


def scalar(value: object) -> str:
    """A value written on one line; lists and mappings as JSON."""
    if isinstance(value, str) and _PLAIN_WORD.fullmatch(value):
        return value if value.lower() not in _RESERVED else json.dumps(value)
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else "".join(map(_seen, text))


def _seen(character: str) -> str:
    """Escaped is all that a reader does not see.

    That is what YAML takes for the end of a line or for a mark of the encoding, and what turns the
    direction of a terminal or hides in it.
    """
    number = ord(character)
    if character.isprintable():
        return character
    return f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"


def flow(value: Value) -> str:
    """A value on one line, in braces and brackets."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow_key(key)}: {flow(value[key])}" for key in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def _flow_key(key: str) -> str:
    text = scalar(key)
    return text if len(text) <= _KEY_CHARACTERS_MAX else f"? {text} "


def _fits_literal(value: str) -> bool:
    """Whether a text is one of several lines that can keep them."""
    if "\n" not in value:
        return False
    lines = value.removesuffix("\n").split("\n")
    is_plain = all(line.isprintable() and line == line.rstrip() for line in lines)
    return is_plain and bool(lines[0] and lines[-1]) and lines[0][0] != " "


def scalar_lines(start: str, value: Value, indent: int) -> list[str]:
    """A value after its key as an author would write it: a text of several lines keeps them."""
    if not isinstance(value, str) or not _fits_literal(value):
        return [f"{start} {flow(value)}"]
    kept = value.removesuffix("\n")
    body = ((" " * (indent + 2) + line).rstrip() for line in kept.split("\n"))
    return [f"{start} |" if value != kept else f"{start} |-", *body]


# --- documents -----------------------------------------------------------------------------------


class YamlWriter(Struct, frozen=True):
    """`width` is how long a line in braces may be; `blocks` are keys that always stand in lines.

    `beside` are remarks at the end of a part's line, `above` and `below` on lines of their own,
    `remarked` every path at or below which something is remarked.
    """

    width: int
    blocks: frozenset[str] = frozenset()
    # Braces in braces in braces are hard to read.
    depth_max: int | None = None
    beside: Mapping[Path, Sequence[str]] = {}
    above: Mapping[Path, Sequence[str]] = {}
    below: Mapping[Path, Sequence[str]] = {}
    remarked: frozenset[Path] = frozenset()

    def document(self, document: Mapping[str, Value]) -> str:
        """The document, with an empty line before each section and each step."""
        return "\n".join([*self._lines(document), ""])

    def _lines(self, document: Mapping[str, Value]) -> Iterator[str]:
        yield from _comments(self.above.get((), ()), 0)
        for number, (key, value) in enumerate(document.items()):
            if (number or self.above.get(())) and isinstance(value, dict | list):
                yield ""
            if key == "workflow" and isinstance(value, list):
                yield "workflow:"
                for index, step in enumerate(value):
                    yield from ([""] if index else [])
                    yield from self._item(step, (key, index), 2)
            else:
                yield from self._entry(key, value, (key,), 0)

    def _entry(self, key: str, value: Value, path: Path, indent: int) -> list[str]:
        pad, name = " " * indent, scalar(key)
        above = _comments(self.above.get(path, ()), indent)
        if len(name) > _KEY_CHARACTERS_MAX:
            return [*above, f"{pad}? {name}", *self._valued(f"{pad}:", value, path, indent)]
        return [*above, *self._valued(f"{pad}{name}:", value, path, indent)]

    def _valued(self, start: str, value: Value, path: Path, indent: int) -> list[str]:
        if not isinstance(value, dict | list):
            first, *others = scalar_lines(start, value, indent)
            return [self._remarked(first, path), *others]
        text = self._flow_of(value, path)
        is_short = text is not None and len(start) + len(text) < self.width
        is_block = not is_short or path[-1] in self.blocks or _is_deep(value, self.depth_max)
        if text is not None and not (value and is_block):
            below = _comments(self.below.get(path, ()), indent + 2)
            return [self._remarked(f"{start} {text}", path), *below]
        is_plain = isinstance(value, list) and not any(map(_parts, value))
        if is_plain and text is not None and path not in self.beside:
            return _wrapped(f"{start} [", list(map(flow, value)), indent + 2, self.width)
        return [self._remarked(start, path), *self._inside(value, path, indent + 2)]

    def _inside(self, value: Value, path: Path, indent: int) -> list[str]:
        if isinstance(value, list):
            parts = [self._item(item, (*path, n), indent) for n, item in enumerate(value)]
        else:
            parts = [self._entry(k, item, (*path, k), indent) for k, item in value.items()]
        below = _comments(self.below.get(path, ()), indent)
        return [*(line for part in parts for line in part), *below]

    def _item(self, value: Value, path: Path, indent: int) -> list[str]:
        above = _comments(self.above.get(path, ()), indent)
        text = self._flow_of(value, path)
        is_short = text is not None and indent + 2 + len(text) <= self.width
        is_step = isinstance(value, dict) and "step" in value and "tool" in value
        if not isinstance(value, dict) or not value or (is_short and not is_step):
            line = f"{' ' * indent}- {flow(value) if text is None else text}"
            return [*above, self._remarked(line, path)]
        lines = self._inside(value, path, indent + 2)
        return [*above, f"{' ' * indent}- {lines[0].lstrip()}", *lines[1:]]

    def _flow_of(self, value: Value, path: Path) -> str | None:
        """A value on one line, if nothing is said about what is inside of it."""
        has_remarks = any((*path, key) in self.remarked for key in _keys(value))
        is_bare = not has_remarks and not (value and path in self.below)
        return flow(value) if is_bare and not _has_lines(value) else None

    def _remarked(self, line: str, path: Path) -> str:
        said = self.beside.get(path)
        return f"{line:<{_REMARK_COLUMN}}  # {_visible('; '.join(said))}" if said else line


def _wrapped(start: str, items: Sequence[str], indent: int, width: int) -> list[str]:
    """A list of plain values, as many on a line as fit."""
    lines = [start]
    for number, item in enumerate(items, 1):
        text = item + ("]" if number == len(items) else ",")
        if len(lines[-1]) + len(text) + 1 > width and lines[-1].strip():
            lines.append(" " * indent + text)
        else:
            lines[-1] += text if lines[-1].endswith("[") else f" {text}"
    return lines


def _comments(remarks: Iterable[str], indent: int) -> list[str]:
    return [f"{' ' * indent}# {_visible(remark)}".rstrip() for remark in remarks]


def _visible(remark: str) -> str:
    """A remark that stays on its line."""
    return "".join(character if character.isprintable() else "�" for character in remark)


def _keys(value: Value) -> Iterable[str | int]:
    if isinstance(value, dict):
        return value.keys()
    return range(len(value)) if isinstance(value, list) else ()


def _parts(value: Value) -> Iterable[Value]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _is_deep(value: Value, levels: int | None) -> bool:
    if levels is None:
        return False
    return levels == 0 or any(_is_deep(item, levels - 1) for item in _parts(value))


def _has_lines(value: Value) -> bool:
    """Whether a text of several lines stands somewhere in it."""
    return "\n" in value if isinstance(value, str) else any(map(_has_lines, _parts(value)))
