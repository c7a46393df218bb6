"""Findings as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from anew.program.findings import Finding, Severity
from anew.surfaces.cli.excerpts import document_lines, excerpt, visible
from anew.surfaces.cli.paint import Paint

COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}


def finding_lines(findings: Iterable[Finding], document: bytes, paint: Paint) -> Iterator[str]:
    """One located line per finding, then the source with a caret, then the remedy."""
    source = document_lines(document)
    for finding in findings:
        place, severity = finding.place, finding.severity
        word = paint(COLOURS[severity], severity.value)
        message = visible(" ".join(finding.message.splitlines()))
        yield f"{paint('bold', visible(str(place)))}: {word} {finding.rule}: {message}"
        yield from (paint("dim", line) for line in excerpt(source, place.line, place.column))
        if finding.suggestion:
            yield "  help: " + "\n        ".join(map(visible, finding.suggestion.splitlines()))


def counts(findings: Sequence[Finding]) -> str:
    """`3 errors, 1 warning`, without the severities that do not occur."""
    numbers = [
        (sum(finding.severity is severity for finding in findings), severity)
        for severity in Severity
    ]
    return ", ".join(
        counted(number, "note" if severity is Severity.INFO else severity.value)
        for number, severity in numbers
        if number
    )


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
