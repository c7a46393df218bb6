"""Run every abuse case, and print how many got through, by area, as one JSON object."""

from __future__ import annotations

import json
import os
import sys
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
        area = Path(report.location[0]).stem.removeprefix("test_")
        self.cases[area] += report.when == "call" and not report.skipped
        self.through[area] += report.failed
        if report.when == "call":
            asked = dict(report.user_properties).get("requests", 0)
            self.requests[area] += int(str(asked))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:  # a module that cannot be read proves nothing
            self.through[Path(report.nodeid).stem.removeprefix("test_")] += 1

    def summary(self) -> dict[str, object]:
        areas = sorted({*self.cases, *self.through})
        rows = [
            {"area": area, "cases": self.cases[area], "through": self.through[area]}
            | ({"requests": self.requests[area]} if self.requests[area] else {})
            for area in areas
        ]
        return {"cases": self.cases.total(), "through": self.through.total(), "rows": rows}


def main(arguments: list[str]) -> int:
    # What pytest says goes where progress belongs; standard output is for the sum alone.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as output:
        os.dup2(2, 1)
        tally = Tally()
        status = pytest.main([str(ABUSE), "-q", *arguments], plugins=[tally])
        print(json.dumps(tally.summary(), indent=2), file=output)
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
