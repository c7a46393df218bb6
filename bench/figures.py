"""Turn samples into figures and rows: medians, their spread, ratios, and the verdicts on targets.

A `ratio` is always our value divided by the other one. `spread` is the lowest and the highest of
the rounds, `probe_ms` the wall time of the fixed piece of Python (bench/machine.py) right before
each of them. Knows nothing of what is measured.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from statistics import median, quantiles
from typing import Any, Self, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from bench.contest import ANEW, Entry

Row: TypeAlias = dict[str, Any]

_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    "≥": operator.ge,
    "≤": operator.le,
    "<": operator.lt,
}


class Figure(Struct, frozen=True):
    """What one side reached in each round, or why it did not.

    With `is_bound` it was cut short, and is no better than this.
    """

    side: str
    values: list[float]
    size: int
    probe_ms: float | None = None
    reason: str | None = None
    is_bound: bool = False

    def middle(self) -> float:
        return median(self.values)

    def spread(self) -> tuple[float, float]:
        return min(self.values), max(self.values)


def figure(entry: Entry, values: Sequence[float], name: str | None = None) -> Figure:
    """The figure of a side, under its name or another one."""
    return Figure(
        name or entry.side.name,
        list(values),
        entry.size,
        entry.probe_ms(),
        entry.reason,
        entry.is_bound(),
    )


class Workload(Struct):
    """One contest: what everyone reached, and what is asked of our figure.

    Ours is the first, unless it is named: see `of`.
    """

    name: str
    title: str
    unit: str
    figures: dict[str, Figure]
    rows: list[Row] = field(default_factory=list)
    key: str | None = None

    @property
    def ours(self) -> Figure:
        return self.figures[self.key or next(iter(self.figures))]

    def of(self, key: str) -> Workload:
        """The same contest seen from another figure of ours. Its rows are those of the contest."""
        return replace(self, key=key)

    @property
    def more_is_better(self) -> bool:
        return self.unit.endswith("/s")

    def alone(self, target: str | None = None) -> Self:
        """A row with our figure. A target is for its value, `≤ 10` or the like."""
        if target is None:
            return self._add()
        is_met = holds(target, self.ours.middle())
        return self._add(target=f"{target} {self.unit}", met=is_met)

    def beside(self, keys: str, target: str | None = None) -> Self:
        """A row with our figure and the best of others. A target is for the ratio."""
        others = [self.figures[key] for key in keys.split()]
        there = [one for one in others if one.values]
        asked = f"ratio {target}" if target else None
        if not there:
            return self._add(others[0].side, peer=others[0].reason, target=asked)
        best = (max if self.more_is_better else min)(there, key=Figure.middle)
        ratio = paired(self.ours.values, best.values)
        met = holds(target, ratio) if target else None
        told = described(best, self.unit, more_is_better=self.more_is_better)
        if best.is_bound and met is False:
            # It is slower than that, and nobody knows by how much.
            met, told = None, f"{told}; stopped too early to tell"
        if best.reason is not None:
            met, told = None, f"{told}; then {best.reason}"
        whom = best.side
        if len(others) > 1:
            names = dict.fromkeys(one.side.partition(" (")[0] for one in others)
            whom, told = f"the best of {', '.join(names)}", f"{best.side}: {told}"
        return self._add(whom, peer=told, ratio=rounded(ratio), target=asked, met=met)

    def beside_each(self, keys: str) -> Self:
        """A row beside each of these, without a target."""
        for key in keys.split():
            self.beside(key)
        return self

    def _add(self, whom: str | None = None, **judged: Any) -> Self:
        name = self.title + self.ours.side.removeprefix(ANEW.name) * (self.key is not None)
        name = f"{name}, compared with {whom}" if whom else name
        place = {"probe_ms": self.ours.probe_ms, "workload": self.name}
        self.rows.append(row(name, self.ours.values, self.unit, **place, **judged))
        return self


def row(name: str, values: Sequence[float], unit: str, **judged: Any) -> Row:
    """The median of the rounds and their spread; whoever judges adds what they were beside."""
    spread = [rounded(min(values)), rounded(max(values))]
    return {"name": name, "value": rounded(median(values)), "unit": unit, "spread": spread} | judged


def compared(
    name: str,
    title: str,
    unit: str,
    *,
    entries: Mapping[str, Entry],
    values: Callable[[Entry], Sequence[float]],
) -> Workload:
    """The contest of these entries, ours first; `values` are what each of them reached."""
    figures = {key: figure(entry, values(entry)) for key, entry in entries.items()}
    return Workload(name, title, unit, figures)


def described(one: Figure, unit: str, *, more_is_better: bool) -> str:
    """A side's figure in words."""
    low, high = one.spread()
    bound = ("at most " if more_is_better else "at least ") if one.is_bound else ""
    return f"{bound}{shown(one.middle())} {unit} [{shown(low)} to {shown(high)}]"


def shown(value: float) -> str:
    """As a person writes it: three figures that mean something."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == 0 else f"{value:.3g}"


def holds(target: str, value: float) -> bool:
    """Whether a value is as a target asks, which is a sign and a number."""
    sign, limit = target.split()
    return _SIGNS[sign](value, float(limit))


def paired(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median of the ratios of each round, in which both met the same moment."""
    return median(mine / other for mine, other in zip(ours, theirs, strict=False))


def percentile(values: Sequence[float], hundredth: int) -> float:
    return quantiles(values, n=100, method="inclusive")[hundredth - 1]


def rounded(value: float) -> float:
    """Three figures that mean something are enough."""
    if abs(value) >= 100:
        return round(value)
    return float(f"{value:.3g}")
