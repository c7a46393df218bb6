"""Turn samples into the rows of the table: medians, their spread, ratios, and the targets.

`spread` is the lowest and the highest of the rounds, `probe_ms` the wall time of the fixed piece
of Python (bench/machine.py) right before each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median, quantiles
from typing import Any, TypeAlias

from bench.durable.contest import Entry

Row: TypeAlias = dict[str, Any]


def row(
    name: str, values: Sequence[float], unit: str, entry: Entry, *, part: str = "durable"
) -> Row:
    """A figure of our own. Ratio and target are added by whoever has them."""
    return {
        "name": f"{part}: {name}",
        "value": rounded(median(values)),
        "unit": unit,
        "spread": [rounded(min(values)), rounded(max(values))],
        "probe_ms": entry.probe_ms(),
    }


def against(figure: Row, peer: str, ratio: float, bound: str) -> Row:
    """The figure with a ratio and its target, `bound` being `≥ 0.6` or the like."""
    sign, limit = bound.split()
    is_met = ratio >= float(limit) if sign == "≥" else ratio <= float(limit)
    named = {"peer": peer, "ratio": rounded(ratio), "target": f"ratio {bound}"}
    return {**figure, **named, "met": is_met}


def beside(figure: Row, peer: Entry, values: Sequence[float], *, more_is_better: bool) -> Row:
    """The figure beside a peer's. The ratio says how many times better ours is."""
    name = f"{figure['name']}, beside {peer.side.name}"
    if not values:
        return {**figure, "name": name, "value": None, "spread": None, "peer": peer.reason}
    theirs = median(values)
    ratio = figure["value"] / theirs if more_is_better else theirs / figure["value"]
    low, high = rounded(min(values)), rounded(max(values))
    told = f"{rounded(theirs):,} {figure['unit']} [{low:,} to {high:,}]"
    return {**figure, "name": name, "peer": told, "ratio": rounded(ratio), "target": None}


def paired(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median of the ratios of each round, in which both met the same moment."""
    return median(mine / other for mine, other in zip(ours, theirs, strict=True))


def percentile(values: Sequence[float], hundredth: int) -> float:
    return quantiles(values, n=100, method="inclusive")[hundredth - 1]


def rounded(value: float) -> float:
    """Three figures that mean something are enough."""
    if abs(value) >= 100:
        return round(value)
    return float(f"{value:.3g}")
