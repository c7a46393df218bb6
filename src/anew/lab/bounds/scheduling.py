"""How long work takes that is done side by side, so many at a time, and how long it waits."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heapreplace
from math import isinf

from anew.lab.bounds.amounts import ZERO, Bound, larger, largest, smaller, total


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
    return _as_open_as(amounts, Bound(max(ends))) if amounts else ZERO


def waits_of_one(waits: Sequence[Bound], width: int | None, time: Bound) -> Bound:
    """The longest waits that follow each other, within the time all of it takes."""
    if width is None or width >= len(waits):
        return largest(waits)
    number = int(in_one_place(Bound(float(len(waits))), width).at_most)
    longest = sorted(waits, key=lambda one: one.at_most, reverse=True)[:number]
    return smaller(_as_open_as(waits, total(longest)), time)


def in_one_place(number: Bound, width: int) -> Bound:
    """How many can follow each other in one place, while long work keeps all other places."""
    if isinf(number.at_most):
        return number
    return Bound(max(min(number.at_most, 1.0), number.at_most - width + 1), number.reasons)


def _as_open_as(amounts: Sequence[Bound], found: Bound) -> Bound:
    """What is open in one of the amounts is open in what they come to."""
    for amount in amounts:
        found = larger(found, Bound(0.0, amount.reasons)) if amount.reasons else found
    return found
