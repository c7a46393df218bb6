"""Findings as programs read them, and the order people read them in."""

from __future__ import annotations

from collections.abc import Iterable

from anew.program.findings import Finding
from anew.values import Object


def finding_row(finding: Finding) -> Object:
    """The JSON form of `anew check --json`."""
    return {
        "severity": finding.severity.value,
        "rule": finding.rule,
        "message": finding.message,
        "file": finding.place.file,
        "line": finding.place.line,
        "column": finding.place.column,
        "suggestion": finding.suggestion,
    }


def in_file_order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by line and column; those of one place keep their order."""
    return sorted(findings, key=lambda finding: (finding.place.line, finding.place.column))
