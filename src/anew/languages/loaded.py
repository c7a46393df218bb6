"""What a document becomes, whatever language it is written in: a program, and findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from anew.program.findings import Finding
from anew.program.program import Program
from anew.program.span import Span


class Loaded(Struct, frozen=True):
    """What became of a document. There is a program exactly when no finding is an error.

    `strict` are the findings of strict mode, which are not among `findings`. What the program was
    made of besides the document: `files` that it names, by name, and the `dialect` someone chose.
    `scripts` are the files that its tasks read when they are called, and where they are named.
    """

    program: Program | None
    findings: list[Finding]
    strict: list[Finding] = field(default_factory=list)
    files: Mapping[str, str] = field(default_factory=dict)
    dialect: str | None = None
    scripts: tuple[tuple[str, Span], ...] = ()


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """In file order, each once."""
    unique = dict.fromkeys(findings)
    return sorted(unique, key=lambda f: (f.place.line, f.place.column, f.rule))
