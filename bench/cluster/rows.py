"""Rows of the table for what a cluster does: percentiles, and targets that are a number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bench.durable.contest import Entry
from bench.durable.figures import Row, percentile, row

_NO_LIMITS: Mapping[int, float] = {}


def cluster_row(name: str, values: Sequence[float], unit: str, entry: Entry) -> Row:
    return row(name, values, unit, entry, part="cluster")


def percentiles(
    name: str,
    entry: Entry,
    hundredths: Sequence[int],
    *,
    limits: Mapping[int, float] = _NO_LIMITS,
) -> Iterator[Row]:
    """A row for each; the spread is that of all samples. `limits` are targets in milliseconds."""
    late = [one for values in entry.values("late_ms") for one in values]
    for hundredth in hundredths:
        found = percentile(late, hundredth)
        figure = cluster_row(f"{name}, p{hundredth}", [found], "ms", entry)
        figure["spread"] = [round(min(late), 2), round(max(late), 2)]
        if hundredth in limits:
            limit = limits[hundredth]
            figure |= {"target": f"≤ {limit:g} ms", "met": found <= limit}
        yield figure


def at_most(figure: Row, limit: float, unit: str) -> Row:
    """The figure with a target for its value."""
    return {**figure, "target": f"≤ {limit:g} {unit}", "met": figure["value"] <= limit}


def at_least(figure: Row, ratio_min: float) -> Row:
    """A row beside a peer with a target for its ratio, where there is one."""
    ratio = figure.get("ratio")
    if ratio is None:
        return figure
    return {**figure, "target": f"ratio ≥ {ratio_min:g}", "met": ratio >= ratio_min}
