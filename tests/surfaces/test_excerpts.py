"""Source excerpts: the caret stands under the column, and the terminal stays in one piece."""

from __future__ import annotations

import io

import pytest

from anew.surfaces.cli.excerpts import EXCERPT_CHARACTERS_MAX, document_lines, excerpt
from anew.surfaces.cli.paint import paint_for


def test_the_caret_stands_under_the_column() -> None:
    assert excerpt(["a: 1", "bb: oops"], 2, 5) == [" 2 | bb: oops", "   |     ^"]


def test_a_tab_takes_one_column_so_that_the_caret_fits() -> None:
    assert excerpt(["a:\toops"], 1, 4) == [" 1 | a: oops", "   |    ^"]


def test_wide_characters_take_two_columns() -> None:
    assert excerpt(["键: x"], 1, 4)[1] == "   |     ^"


def test_combining_characters_take_none() -> None:
    assert excerpt(["e\u0301: x"], 1, 5)[1] == "   |    ^"


def test_control_characters_never_reach_the_terminal() -> None:
    shown = "".join(excerpt(["a: \x1b[2Jb\x07\u202e"], 1, 1))
    assert shown.isprintable()


@pytest.mark.parametrize("column", [1, 500, 1000, 1001])
def test_a_long_line_is_cut_around_the_column(column: int) -> None:
    source = "".join(chr(ord("a") + number % 26) for number in range(1000)) + "!"
    line, caret = excerpt([source], 1, column)
    assert len(line) <= EXCERPT_CHARACTERS_MAX + len(" 1 | ……")
    assert line[caret.index("^")] == source[column - 1]


def test_a_column_past_the_end_puts_the_caret_behind_the_line() -> None:
    assert excerpt(["ab"], 1, 99) == [" 1 | ab", "   |   ^"]


@pytest.mark.parametrize("line", [0, 3])
def test_a_line_the_document_does_not_have_has_no_excerpt(line: int) -> None:
    assert excerpt(["a", "b"], line, 1) == []


def test_lines_are_counted_as_yaml_counts_them() -> None:
    document = "\ufeffa\r\nb\rc\u2028d\x0be\n".encode()
    assert document_lines(document) == ["a", "b", "c", "d\x0be", ""]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def _a_plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.usefixtures("_a_plain_environment")
def test_a_terminal_gets_colour_and_a_file_does_not() -> None:
    assert paint_for(Terminal())("red", "error") == "\x1b[31merror\x1b[0m"
    assert paint_for(io.StringIO())("red", "error") == "error"


@pytest.mark.usefixtures("_a_plain_environment")
@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colour_can_be_refused(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert paint_for(Terminal())("red", "error") == "error"
