"""Amounts that no run can exceed, and why some of them have no end in the document.

Adding, multiplying and choosing keep the reasons. Knows nothing of programs.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, inf, isinf

from msgspec import Struct

from anew.program.span import Span

# Nobody reads more reasons for one number; all of them are listed once for the whole program.
_REASONS_MAX = 32


class BoundReason(Struct, frozen=True):
    """Why a part of a program has no bound of its author's, and what ends it all the same.

    `rule` is a word for machines, `what` a sentence for people.
    """

    rule: str
    place: Span
    what: str
    ends: str | None = None


class Bound(Struct, frozen=True):
    """No run exceeds `at_most`. With reasons, it is not the author who saw to that.

    `at_most` is then what limits of the engine allow, or infinity.
    """

    at_most: float
    reasons: tuple[BoundReason, ...] = ()

    @property
    def is_bounded(self) -> bool:
        return not self.reasons

    def __add__(self, other: Bound) -> Bound:
        return Bound(self.at_most + other.at_most, _both(self, other))

    def __mul__(self, other: Bound) -> Bound:
        """Nothing at all stays nothing, however often it happens."""
        if not self.at_most or not other.at_most:
            return ZERO
        return Bound(self.at_most * other.at_most, _both(self, other))

    def times(self, number: float) -> Bound:
        return self * Bound(number)


ZERO, ONE = Bound(0.0), Bound(1.0)


def endless(reason: BoundReason, at_most: float = inf) -> Bound:
    """A bound that only an engine's limit gives, or nothing does."""
    return Bound(at_most, (reason,))


def larger(one: Bound, other: Bound) -> Bound:
    """What both stay below. What is open in one of them is open."""
    if not one.reasons and not other.reasons:
        return one if one.at_most >= other.at_most else other
    return Bound(max(one.at_most, other.at_most), _both(one, other))


def smaller(one: Bound, other: Bound) -> Bound:
    """Both hold, so the one that says more is kept: an author's bound before the engine's."""
    if one.is_bounded != other.is_bounded:
        return one if one.is_bounded else other
    return one if one.at_most <= other.at_most else other


def at_most(bound: Bound, number: float) -> Bound:
    """What is known to end at a number by the engine's limits stays as open as it was."""
    return bound if bound.at_most <= number else Bound(number, bound.reasons)


def largest(bounds: Iterable[Bound]) -> Bound:
    found = ZERO
    for bound in bounds:
        found = larger(found, bound)
    return found


def total(bounds: Iterable[Bound]) -> Bound:
    found = ZERO
    for bound in bounds:
        found = found + bound
    return found


def rounds(items: Bound, width: int) -> Bound:
    """How often so many at a time have to begin until all have had their turn."""
    if isinf(items.at_most):
        return items
    return Bound(float(ceil(items.at_most / width)), items.reasons)


def _both(one: Bound, other: Bound) -> tuple[BoundReason, ...]:
    if not other.reasons or one.reasons == other.reasons:
        return one.reasons
    if not one.reasons:
        return other.reasons
    return tuple(dict.fromkeys((*one.reasons, *other.reasons)))[:_REASONS_MAX]
