"""How long work takes that is done side by side, so many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heapreplace

from anew.lab.bounds.amounts import ZERO, Bound, larger, largest


def makespan(amounts: Sequence[Bound], width: int | None) -> Bound:
    """When the last of them has ended, each begun in turn as soon as there is room.

    Shorter work never makes it later, so that the longest of each gives the longest of all.
    """
    if width is None or width >= len(amounts):
        return largest(amounts)
    ends = [0.0] * width
    heapify(ends)
    for amount in amounts:
        heapreplace(ends, ends[0] + amount.at_most)
    reasons = Bound(0.0)
    for amount in amounts:
        reasons = larger(reasons, Bound(0.0, amount.reasons)) if amount.reasons else reasons
    return Bound(max(ends), reasons.reasons) if amounts else ZERO
