"""What a check found in a document: severity, rule, place, message and remedy."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum

from msgspec import Struct

from anew.program.span import Span

# A document with more misspelt names than this is not read suggestion by suggestion.
_SEARCHES_MAX = 50
# Comparing two names costs 30 µs: these are the ones that begin and end most like the word.
_CANDIDATES_MAX = 100
_LISTED_MAX = 8
LIKENESS_MIN = 0.6


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


def errors_in(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity is Severity.ERROR]


def has_error(findings: Iterable[Finding]) -> bool:
    return any(finding.severity is Severity.ERROR for finding in findings)


class Suggestions(Struct):
    """Remedies for unknown names, at a bounded cost for each document."""

    searches: int = 0

    def near(self, word: str, known: Iterable[str], likeness: float = LIKENESS_MIN) -> str | None:
        """As `near`, but None once the document has used up its searches."""
        self.searches += 1
        return near(word, known, likeness) if self.searches <= _SEARCHES_MAX else None

    def remedy(self, word: str, known: Collection[str]) -> str:
        """The name that was probably meant, else the names there are."""
        return self.sentence(self.near(word, known), known)

    def sentence(self, match: str | None, known: Collection[str]) -> str:
        """The remedy for a name of which `match` is the nearest."""
        if match is not None:
            return f"Did you mean {match!r}?"
        return listed(known) if self.searches <= _SEARCHES_MAX else "Check how it is written."


def near(word: str, known: Iterable[str], likeness: float = LIKENESS_MIN) -> str | None:
    """The known word most like `word`, if any is close enough to be what was meant."""
    import difflib  # noqa: PLC0415 - only a document with a mistake pays for it

    candidates = _candidates(word, known)
    matches = difflib.get_close_matches(word, candidates, n=1, cutoff=likeness)
    if matches:
        return matches[0]
    lowered = {name.lower(): name for name in candidates}
    return lowered.get(word.lower())


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A suggestion sentence, or None when nothing is near."""
    match = near(word, known)
    return f"Did you mean {match!r}?" if match else None


def listed(names: Collection[str]) -> str:
    """A sentence with the names there are, or the first of them; a list keeps its order."""
    first = (names if isinstance(names, list) else sorted(names))[:_LISTED_MAX]
    more = ", …" if len(names) > len(first) else ""
    return f"Known are {', '.join(map(repr, first))}{more}." if first else "Remove it."


def _candidates(word: str, known: Iterable[str]) -> list[str]:
    names = list(known)
    if len(names) <= _CANDIDATES_MAX:
        return names
    # A name of less than a third or more than three times the length is like the word by chance.
    alike = [name for name in names if len(word) <= 3 * len(name) and len(name) <= 3 * len(word)]
    alike.sort(key=lambda name: _same_ends(word.lower(), name.lower()), reverse=True)
    return alike[:_CANDIDATES_MAX]


def _same_ends(one: str, other: str) -> int:
    """How many characters two words share at their beginning and at their end."""
    shortest = min(len(one), len(other))
    start = 0
    while start < shortest and one[start] == other[start]:
        start += 1
    end = 0
    while end < shortest - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return start + end
