"""Event rows as lines: aligned, bounded, and relative to the start of the run."""

from __future__ import annotations

from anew.surfaces.cli.rows import VALUE_CHARACTERS_MAX, row_lines

START = "2000-01-01T00:00:00.000000Z"


def row(name: str, *, step: str | None = None, at: str = START, **data: object) -> dict:
    return {"seq": 7, "at": at, "name": name, "step": step, "visit": None, "data": data}


def test_rows_are_aligned_and_count_from_the_start() -> None:
    rows = [
        row("action_started", step="fetch", attempt=1),
        row("execution_failed", at="2000-01-01T00:00:02.500000Z"),
    ]
    assert list(row_lines(rows, START)) == [
        "    0.000  7  fetch  action_started    attempt=1",
        "    2.500  7  run    execution_failed",
    ]


def test_a_long_value_is_cut() -> None:
    (line,) = row_lines([row("x", result="a" * 1000)], START)
    assert line.endswith("…")
    assert len(line) < VALUE_CHARACTERS_MAX + 40


def test_no_rows_are_no_lines() -> None:
    assert list(row_lines([], START)) == []


def test_rows_without_a_number_have_no_column_for_it() -> None:
    node = {"timestamp": START, "type": "node.started", "node_id": "a", "data": {}}
    assert list(row_lines([node], START)) == ["    0.000  a  node.started"]
