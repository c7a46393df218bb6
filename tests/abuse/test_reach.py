"""What the page says that a task cannot reach, tried by a real run, cell by cell."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.abuse.reach import MODES, ROWS, ROWS_OF_ONE, TOOLS, cells, tried, why_not

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "sandbox.md"
MATRIX = cells(PAGE)
DENIED = [
    pytest.param(mode, row, tool, id=f"{mode}-{row}-{tool}")
    for (mode, row), answer in MATRIX.items()
    for tool in TOOLS
    if answer == "no" and ROWS_OF_ONE.get(row, tool) == tool
]


@pytest.mark.parametrize(("mode", "row", "tool"), DENIED)
def test_a_task_does_not_reach_it(
    tmp_path_factory: pytest.TempPathFactory, mode: str, row: str, tool: str
) -> None:
    if (why := why_not(mode)) is not None:
        pytest.skip(why)
    if (mode, row) == (MODES[0], "secrets") and os.geteuid() == 0:
        pytest.skip("root runs the tests, and root reads every process")
    assert tried(mode, tmp_path_factory.getbasetemp())[tool][row] == "no", ROWS[row]
