"""How many abuse cases there were in a test run, and how many got through, by area."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

ABUSE = Path(__file__).parent


class Tally:
    """Counts the cases of each area, and those the product did not resist."""

    def __init__(self) -> None:
        self.cases: Counter[str] = Counter()
        self.through: Counter[str] = Counter()
        self.requests: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not _is_abuse(report):
            return
        area = Path(report.location[0]).stem.removeprefix("test_")
        self.cases[area] += report.when == "call" and not report.skipped
        self.through[area] += report.failed
        if report.when == "call":
            asked = dict(report.user_properties).get("requests", 0)
            self.requests[area] += int(str(asked))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and _is_abuse(report):  # a module that cannot be read proves nothing
            self.through[Path(report.nodeid).stem.removeprefix("test_")] += 1

    def summary(self) -> dict[str, object]:
        areas = sorted({*self.cases, *self.through})
        rows = [
            {"area": area, "cases": self.cases[area], "through": self.through[area]}
            | ({"requests": self.requests[area]} if self.requests[area] else {})
            for area in areas
        ]
        return {"cases": self.cases.total(), "through": self.through.total(), "rows": rows}

    def line(self) -> str:
        """The sum in one line."""
        areas = ", ".join(f"{area} {count}" for area, count in sorted(self.cases.items()))
        return f"abuse: {self.cases.total():,} cases, {self.through.total()} through ({areas})"


def _is_abuse(report: pytest.TestReport | pytest.CollectReport) -> bool:
    return ABUSE.name in Path(report.nodeid.partition("::")[0]).parts
