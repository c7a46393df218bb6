"""A number over many samples: its mean, and between what it lies."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil

from msgspec import Struct

from anew.values import Object

# The share of samples that an interval holds.
INTERVAL = 0.95
DIGITS = 6


class Estimate(Struct, frozen=True):
    """A number with its 95 % interval. `is_certain`: it is the same in all samples."""

    mean: float
    low: float
    high: float
    is_certain: bool = True

    def report(self) -> Object:
        return {
            "mean": round(self.mean, DIGITS),
            "low": round(self.low, DIGITS),
            "high": round(self.high, DIGITS),
        }


def estimate(values: Iterable[float]) -> Estimate:
    """The mean of some numbers, and the interval that holds 95 % of them."""
    ordered = sorted(map(float, values))
    if not ordered:
        return Estimate(0.0, 0.0, 0.0)
    outside = (1 - INTERVAL) / 2
    low = ordered[int(outside * len(ordered))]
    high = ordered[ceil((1 - outside) * len(ordered)) - 1]
    mean = sum(ordered) / len(ordered)
    return Estimate(mean, low, high, is_certain=ordered[0] == ordered[-1])


def shifted(found: Estimate, by: float) -> Estimate:
    """The same, so much more."""
    return Estimate(found.mean + by, found.low + by, found.high + by, is_certain=found.is_certain)
