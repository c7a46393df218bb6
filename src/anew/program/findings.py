"""What a check found in a document: severity, rule, place, message and remedy."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from anew.program.span import Span


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Finding(Struct, frozen=True):
    severity: Severity
    rule: str
    message: str
    place: Span
    suggestion: str | None = None


def near(word: str, known: Iterable[str]) -> str | None:
    """The known word most like `word`, if any is close enough to be what was meant."""
    import difflib  # noqa: PLC0415 - only a document with a mistake pays for it

    known = list(known)
    matches = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if matches:
        return matches[0]
    lowered = {name.lower(): name for name in known}
    return lowered.get(word.lower())


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A suggestion sentence, or None when nothing is near."""
    match = near(word, known)
    return f"Did you mean {match!r}?" if match else None
