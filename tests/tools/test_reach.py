"""The page of what a task can reach is whole, and does not deny what a task reaches."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.abuse.reach import MODES, ROWS, ROWS_OF_ONE, TOOLS, cells, has_network, tried, why_not
from tests.abuse.test_reach import PAGE

MATRIX = cells(PAGE)
GRANTED = [
    pytest.param(mode, row, tool, id=f"{mode}-{row}-{tool}")
    for (mode, row), answer in MATRIX.items()
    for tool in TOOLS
    if answer == "yes" and ROWS_OF_ONE.get(row, tool) == tool
]


def test_the_page_has_every_row_that_is_tried_and_no_other() -> None:
    assert set(MATRIX) == {(mode, row) for mode in MODES for row in ROWS}
    assert set(MATRIX.values()) == {"yes", "no"}
    rows = PAGE.read_text().partition("## The matrix")[2].partition("\n¹")[0].splitlines()
    assert len([line for line in rows if line.startswith("|")]) == len(ROWS) + 2


@pytest.mark.parametrize(("mode", "row", "tool"), GRANTED)
def test_a_task_reaches_what_the_page_grants(
    tmp_path_factory: pytest.TempPathFactory, mode: str, row: str, tool: str
) -> None:
    if (why := why_not(mode)) is not None:
        pytest.skip(why)
    if row == "network" and not has_network():
        pytest.skip("this machine has no way to others")
    if (mode, row) == ("bubblewrap", "elsewhere") and os.geteuid() == 0:
        pytest.skip("root runs the tests, and tasks run as another user")
    if row == "rights" and "NoNewPrivs:\t1" in Path("/proc/self/status").read_text():
        pytest.skip("the tests themselves run without a way to more rights")
    assert tried(mode, tmp_path_factory.getbasetemp())[tool][row] == "yes", ROWS[row]
