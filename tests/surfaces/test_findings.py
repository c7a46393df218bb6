"""Findings as text: in the order of the file, counted, and harmless to a terminal."""

from __future__ import annotations

from anew.program.findings import Finding, Severity
from anew.program.span import Span
from anew.surfaces.cli.findings import counts, finding_lines
from anew.views.findings import in_file_order


def found(line: int, column: int = 1, *, severity: str = "error", message: str = "m") -> Finding:
    return Finding(Severity(severity), "a.rule", message, Span("f", line, column), "one\ntwo")


def plain(colour: str, text: str) -> str:
    return text


def test_findings_come_in_the_order_of_the_file() -> None:
    shuffled = [found(2, 5), found(10), found(2, 1), found(1, 9)]
    places = [(one.place.line, one.place.column) for one in in_file_order(shuffled)]
    assert places == [(1, 9), (2, 1), (2, 5), (10, 1)]


def test_findings_of_one_place_keep_their_order() -> None:
    pair = [found(1, message="first"), found(1, message="second")]
    assert in_file_order(pair) == pair


def test_only_severities_that_occur_are_counted() -> None:
    many = [found(1), found(2), found(3, severity="warning")]
    assert counts(many) == "2 errors, 1 warning"
    assert counts([found(1, severity="info")]) == "1 note"


def test_a_message_stays_on_one_line_and_a_remedy_is_indented() -> None:
    lines = list(finding_lines([found(1, message="a\nb\x1b[2J")], b"x: 1", plain))
    assert lines == [
        "f:1:1: error a.rule: a b�[2J",
        " 1 | x: 1",
        "   | ^",
        "  help: one\n        two",
    ]
