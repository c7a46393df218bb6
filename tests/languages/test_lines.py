"""Lines are counted as the reader of the language counts them, whatever ends them."""

from __future__ import annotations

import pytest

from anew.languages.lines import line_end, line_starts, span_at
from anew.languages.playbook.migrate import migrate

OLDER = """\
metadata: {name: t, description: "a{0}b"}
workflow:
  # above
  - step: a   # beside
    tool: {kind: noop}   # below
    case:
      - when: "{{ true }}"   # when
        then: {next: b}
  - step: b
    tool: {kind: noop}
"""
ENDS = ("\n", "\r\n", "\r", "\x85", "\u2028", "\u2029")


@pytest.mark.parametrize("end", ENDS)
def test_each_line_starts_behind_the_end_of_another(end: str) -> None:
    text = f"one{end}two{end}"
    starts = line_starts(text)
    assert [text[at:][:3] for at in starts] == ["one", "two", ""]
    assert line_end(text, 1) == starts[1] - 1
    assert line_end("one", 1) == 3
    assert str(span_at(starts, "f", starts[1] + 2)) == "f:2:3"


@pytest.mark.parametrize("inside", ["", "\x85", "\u2028", "\u2029"])
def test_a_quoted_end_of_a_line_moves_nothing_that_is_migrated(inside: str) -> None:
    text = OLDER.replace("{0}", inside)
    migrated = migrate(text, "x.yaml").text
    assert migrated is not None
    kept, rest = migrated.split("    case:" if "    case:" in migrated else "    next:")
    assert kept == text.split("    case:")[0]
    assert "# when" in rest
    assert "next: b" not in rest


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_document_is_migrated_whatever_ends_its_lines(end: str) -> None:
    plain = migrate(OLDER.replace("{0}", ""), "x.yaml").text
    migrated = migrate(OLDER.replace("{0}", "").replace("\n", end), "x.yaml").text
    assert migrated is not None
    assert plain is not None
    assert migrated.splitlines() == plain.splitlines()
    assert "next: b" not in migrated
