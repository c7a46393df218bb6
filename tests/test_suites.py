"""Every test is in one of two suites, and the daily one has some of each family."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tests.suites import FAMILIES, TESTS, assign, daily, mostly_long, tried

ROOT = TESTS.parent
FILES = [path for family in FAMILIES for path in sorted((TESTS / family).rglob("test_*.py"))]


class Item:
    """A test as pytest collects it, with the marks that it was written with."""

    def __init__(self, path: str, *marks: str) -> None:
        self.path = TESTS / path
        self.marks = list(marks)

    def get_closest_marker(self, name: str) -> str | None:
        return name if name in self.marks else None

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks.append(mark.name)


def recipe(target: str) -> str:
    found = re.search(
        rf"^{target}:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M
    )
    assert found, f"the Makefile has no {target}"
    return found[1]


def test_what_one_suite_leaves_out_is_what_the_other_has() -> None:
    assert recipe("test").endswith(" test-daily check check-page\n")
    assert recipe("test-daily") == '\t+$(PYTEST) -m "not long"\n'
    assert recipe("test-long") == "\t$(PYTEST) -m long\n"
    calls = [x for x in (ROOT / ".ci/run").read_text().splitlines() if "make test" in x]
    assert calls == ["make test", "exec make test-long"]


def test_in_the_folder_of_a_family_only_what_is_daily_is_not_long() -> None:
    items = [Item("crash/test_x.py"), Item("crash/test_x.py", "daily"), Item("engine/test_x.py")]
    assign(items)  # type: ignore[arg-type]
    assert [item.marks for item in items] == [["long"], ["daily"], []]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(TESTS).as_posix())
def test_each_file_of_a_family_has_a_daily_test(path: Path) -> None:
    assert re.search(r"mark\.daily\b|\bdaily\(", path.read_text(encoding="utf-8"))


def test_of_several_cases_the_first_is_daily() -> None:
    first, *others = daily("abc")
    assert ([mark.name for mark in first.marks], others) == (["daily"], ["b", "c"])
    assert mostly_long("abc")[:1] == ["a"]
    assert [one.marks[0].name for one in mostly_long("abc")[1:]] == ["long", "long"]


def test_a_property_is_tried_as_often_as_each_share_says() -> None:
    seen: list[int] = []

    @tried(st.integers(0, 10**9), examples=5, long=(20,))
    def check(number: int) -> None:
        seen.append(number)

    (shares,) = (mark for mark in check.pytestmark if mark.name == "parametrize")
    for share, count, marks in zip(shares.args[1], (5, 20), ([], ["long"]), strict=True):
        seen.clear()
        check(*share.values)
        assert (len(seen), [mark.name for mark in share.marks]) == (count, marks)
