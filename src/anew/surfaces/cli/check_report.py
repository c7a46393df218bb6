"""What `anew check` says of whole folders: what is refused, and how often each rule was broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from anew.languages.rules import RULES
from anew.program.findings import Finding, Severity
from anew.surfaces.cli.findings import counted
from anew.surfaces.cli.paint import Paint
from anew.values import Object

_ORDER = {severity: number for number, severity in enumerate(Severity)}


class RuleCount(Struct, frozen=True):
    """How often one rule was broken, and in how many documents."""

    severity: Severity
    rule: str
    findings: int
    documents: int


class FolderCounts(Struct):
    """What is known once every document was looked at."""

    documents: int = 0
    accepted: int = 0
    skipped: int = 0
    _findings: Counter[tuple[Severity, str]] = field(default_factory=Counter)
    _documents: Counter[tuple[Severity, str]] = field(default_factory=Counter)

    def add(self, findings: Iterable[Finding], *, is_accepted: bool) -> None:
        self.documents += 1
        self.accepted += is_accepted
        keys = [(found.severity, found.rule) for found in findings]
        self._findings.update(keys)
        self._documents.update(set(keys))

    @property
    def rules(self) -> list[RuleCount]:
        """The gravest first, then the most frequent."""
        rows = [
            RuleCount(severity, rule, count, self._documents[severity, rule])
            for (severity, rule), count in self._findings.items()
        ]
        return sorted(rows, key=lambda row: (_ORDER[row.severity], -row.documents, row.rule))


def count_lines(counts: FolderCounts, paint: Paint) -> Iterator[str]:
    """The summary: one line for all, then one for each rule."""
    refused = counts.documents - counts.accepted
    yield (
        f"{counted(counts.documents, 'document')}: {counts.accepted} accepted, {refused} refused; "
        f"{counted(counts.skipped, 'other file')} skipped"
    )
    colours = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}
    for row in counts.rules:
        word = paint(colours[row.severity], f"{row.severity.value:<7}")
        times = f"{row.findings} in {counted(row.documents, 'document')}"
        yield f"  {word}  {row.rule:<24} {times:<20} {_meaning(row.rule)}".rstrip()


def _meaning(rule: str) -> str:
    known = RULES.get(rule)
    return known.summary if known is not None else ""


def counts_row(counts: FolderCounts) -> Object:
    return {
        "documents": counts.documents,
        "accepted": counts.accepted,
        "refused": counts.documents - counts.accepted,
        "skipped": counts.skipped,
        "rules": [
            {
                "rule": row.rule,
                "severity": row.severity.value,
                "findings": row.findings,
                "documents": row.documents,
            }
            for row in counts.rules
        ],
    }
