"""Which plots there are: one for each contest with several sides, one for each curve of growth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.figures import Workload
from bench.report.plots import bars, lines
from bench.results import Results


def pictures(results: Results, growth: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """SVG texts by the names of their files."""
    drawn = {picture_name(one.name): _bars(one) for one in results.workloads if is_drawn(one)}
    return drawn | {curve_name(curve): _line(curve) for curve in growth}


def is_drawn(work: Workload) -> bool:
    """A bar alone says no more than its number."""
    return sum(1 for one in work.figures.values() if one.values) > 1


def picture_name(workload: str) -> str:
    return workload.replace(".", "-")


def curve_name(curve: Mapping[str, Any]) -> str:
    name = "".join(letter if letter.isalnum() else "-" for letter in str(curve["name"]).lower())
    return f"growth-{name.strip('-')}"


def _bars(work: Workload) -> str:
    values = {
        one.side: (one.middle(), *one.spread()) for one in work.figures.values() if one.values
    }
    return bars(work.title, work.unit, values)


def _line(curve: Mapping[str, Any]) -> str:
    points = list(zip(curve["x"], curve["y"], strict=True))
    title = str(curve.get("title", curve["name"]))
    return lines(title, str(curve["x_label"]), str(curve["unit"]), {str(curve["name"]): points})
