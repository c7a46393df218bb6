"""Each process starts with its share of what is slow, and no test is lost or doubled."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct

from tests.ordering import SLOW, TESTS, arranged, row_of


class Case(Struct, frozen=True):
    path: Path
    number: int


def cases_of(*names: str, count: int) -> list[Case]:
    return [Case(TESTS / name, number) for name in names for number in range(count)]


SMALL = cases_of(*(f"engine/test_{letter}.py" for letter in "abcde"), count=145)
LARGE = cases_of(*(f"{row}test_x.py" if row.endswith("/") else row for row in SLOW), count=5)


@pytest.mark.parametrize("processes", [1, 2, 3, 4, 16])
def test_no_test_is_lost_or_doubled(processes: int) -> None:
    found = arranged([*LARGE, *SMALL], processes)
    assert len(found) == len(LARGE) + len(SMALL)
    assert set(found) == {*LARGE, *SMALL}


def test_each_process_starts_with_what_is_slow_and_ends_with_what_is_not() -> None:
    found = arranged([*SMALL, *LARGE][: 4 * 200], 4)
    for at in range(0, 4 * 200, 200):
        assert row_of(found[at].path) is not None
        assert row_of(found[at + 199].path) is None


def test_one_process_has_all_of_a_row() -> None:
    found = arranged([*SMALL, *LARGE], 4)
    rows = [row_of(test.path) for test in found]
    for row in SLOW:
        first = rows.index(row)
        assert rows[first : first + 5] == [row] * 5


@pytest.mark.parametrize("processes", [1, 4])
def test_a_few_tests_are_arranged_too(processes: int) -> None:
    few = cases_of("web/test_run.py", count=3)
    assert arranged(few, processes) == few
    assert arranged(few[:0], processes) == []


@pytest.mark.parametrize("row", SLOW)
def test_every_row_is_a_file_or_a_folder_of_tests(row: str) -> None:
    assert (TESTS / row).exists()
