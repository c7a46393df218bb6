"""Write a document as YAML with what is said beside its parts as comments.

The result reads as the same document without them. What nothing is said about, and what is short,
stands in braces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from anew.languages.expanding.annotations import Annotations, Path
from anew.languages.playbook.emit import Inline, scalar, written
from anew.values import Value

_FLOW_CHARACTERS_MAX = 90
# Remarks stand in one column, unless the line is longer.
_REMARK_COLUMN = 56


def yaml_lines(document: Mapping[str, Value], notes: Annotations) -> Iterator[str]:
    """The lines, with an empty one before each section and each step."""
    writer = _Writer(notes, notes.annotated())
    yield from writer.remarks(notes.above.get((), ()), 0)
    for number, (key, value) in enumerate(document.items()):
        if number or notes.above.get(()):
            yield ""
        if key == "workflow" and isinstance(value, list):
            yield "workflow:"
            yield from writer.steps(value, (key,))
        else:
            yield from writer.entry(key, value, (key,), 0)


class _Writer(Struct, frozen=True):
    notes: Annotations
    annotated: frozenset[Path]

    def steps(self, steps: Sequence[Value], path: Path) -> Iterator[str]:
        for index, step in enumerate(steps):
            if index:
                yield ""
            yield from self.item(step, (*path, index), 2)

    def entry(self, key: str, value: Value, path: Path, indent: int) -> list[str]:
        start = f"{' ' * indent}{scalar(key).text}:"
        above = self.remarks(self.notes.above.get(path, ()), indent)
        return [*above, *self._entry(start, value, path, indent)]

    def _entry(self, start: str, value: Value, path: Path, indent: int) -> list[str]:
        if not isinstance(value, dict | list):
            return self._scalar(start, value, path, indent)
        flow = self._flow_of(value, path)
        if flow is not None and len(start) + len(flow) < _FLOW_CHARACTERS_MAX:
            below = self.remarks(self.notes.below.get(path, ()), indent + 2)
            return [self._remarked(f"{start} {flow}", path), *below]
        return [self._remarked(start, path), *self._inside(value, path, indent + 2)]

    def _inside(self, value: Value, path: Path, indent: int) -> list[str]:
        if isinstance(value, list):
            parts = [self.item(item, (*path, n), indent) for n, item in enumerate(value)]
        else:
            parts = [self.entry(k, item, (*path, k), indent) for k, item in value.items()]
        below = self.remarks(self.notes.below.get(path, ()), indent)
        return [*(line for part in parts for line in part), *below]

    def item(self, value: Value, path: Path, indent: int) -> list[str]:
        above = self.remarks(self.notes.above.get(path, ()), indent)
        flow = self._flow_of(value, path)
        is_short = flow is not None and len(flow) + indent + 2 < _FLOW_CHARACTERS_MAX
        if not isinstance(value, dict) or not value or is_short:
            text = flow if flow is not None else _flow(value)
            return [*above, self._remarked(f"{' ' * indent}- {text}", path)]
        lines = self._inside(value, path, indent + 2)
        return [*above, f"{' ' * indent}- {lines[0].lstrip()}", *lines[1:]]

    def _scalar(self, start: str, value: Value, path: Path, indent: int) -> list[str]:
        found = written(value) if isinstance(value, str) else Inline(_flow(value))
        if isinstance(found, Inline):
            return [self._remarked(f"{start} {found.text}", path)]
        chomping = "" if found.text.endswith("\n") else "-"
        inner = found.text.removesuffix("\n").split("\n")
        body = ((" " * (indent + 2) + line).rstrip() for line in inner)
        return [self._remarked(f"{start} |{chomping}", path), *body]

    def _flow_of(self, value: Value, path: Path) -> str | None:
        """A value on one line, if nothing is said about what is inside of it."""
        has_remarks = any((*path, key) in self.annotated for key in _keys(value))
        is_bare = not has_remarks and not (value and path in self.notes.below)
        return _flow(value) if is_bare and not _has_lines(value) else None

    def _remarked(self, line: str, path: Path) -> str:
        told = self.notes.beside.get(path)
        if not told:
            return line
        return f"{line:<{_REMARK_COLUMN}}  # {_visible('; '.join(told))}"

    def remarks(self, told: Sequence[str], indent: int) -> list[str]:
        return [f"{' ' * indent}# {_visible(remark)}" for remark in told]


def _keys(value: Value) -> Iterable[str | int]:
    if isinstance(value, dict):
        return value.keys()
    return range(len(value)) if isinstance(value, list) else ()


def _flow(value: Value) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{scalar(key).text}: {_flow(item)}" for key, item in value.items())
        return "{" + inside + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return scalar(value).text


def _has_lines(value: Value) -> bool:
    """Whether a text of several lines stands somewhere in it."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return "\n" in value if isinstance(value, str) else any(map(_has_lines, inner))


def _visible(remark: str) -> str:
    """A remark that stays on its line."""
    return "".join(character if character.isprintable() else "�" for character in remark)
