"""Where in a document something stands."""

from __future__ import annotations

from msgspec import Struct


class Span(Struct, frozen=True):
    """Line and column count from 1; `file` is the name the user gave."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


NOWHERE = Span("<program>", 1, 1)
