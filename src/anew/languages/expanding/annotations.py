"""What is said beside the parts of an expanded document: where each comes from, and what is absent.

A part is named by its path in the document. Knows neither programs nor YAML.
"""

from __future__ import annotations

from os.path import basename

from msgspec import Struct, field

from anew.languages.yaml_writer import Path
from anew.program.span import NOWHERE, Span


class Annotations(Struct):
    """`beside` stands at the end of a part's line, `above` and `below` on lines of their own."""

    beside: dict[Path, list[str]] = field(default_factory=dict)
    above: dict[Path, list[str]] = field(default_factory=dict)
    below: dict[Path, list[str]] = field(default_factory=dict)
    places: dict[Path, Span] = field(default_factory=dict)

    def remark(self, path: Path, *words: str) -> None:
        """Remarks about a part; those that say nothing are left out."""
        text = [word for word in words if word]
        if text:
            self.beside.setdefault(path, []).extend(text)

    def place(self, path: Path, span: Span | None, word: str = "", *, on: str = "") -> None:
        """Where a part stands in the author's document, after what it is called.

        An element of a list has no line of its own: it is said `on` the line of its first key.
        """
        where = place_text(span)
        text = ", ".join(part for part in (word, where) if part)
        self.remark((*path, on) if on else path, text)
        if span is not None and where:
            self.places[path] = span

    def absent(self, path: Path, remark: str) -> None:
        """What a part does not have, and the language has no value for."""
        self.below.setdefault(path, []).append(remark)

    def note(self, path: Path, remark: str) -> None:
        """What has to be known before a part is read."""
        self.above.setdefault(path, []).append(remark)

    def remarks(self) -> dict[Path, list[str]]:
        """What is said beside and below each part."""
        paths = dict.fromkeys([*self.beside, *self.below])
        return {path: [*self.beside.get(path, ()), *self.below.get(path, ())] for path in paths}

    def remarked(self) -> frozenset[Path]:
        """Every path at or below which something is said."""
        found: set[Path] = set()
        for path in (*self.beside, *self.above, *self.below):
            found.update(path[:end] for end in range(len(path) + 1))
        return frozenset(found)


def place_text(span: Span | None) -> str:
    """`flow.yaml:7`; nothing for what stands nowhere."""
    if span is None or span == NOWHERE:
        return ""
    return f"{basename(span.file)}:{span.line}"


def default_of(value: object, usual: object) -> str:
    """The remark about a value that is the one nobody needs to write."""
    return "the default" if value == usual else ""
