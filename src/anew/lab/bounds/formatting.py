"""Numbers of bounds as people read them."""

from __future__ import annotations

from math import isinf

from anew.lab.bounds.amounts import Bound

_UNITS = ((86400, "d"), (3600, "h"), (60, "m"))
_DAYS_MAX = 10_000


def count_text(number: float) -> str:
    return "∞" if isinf(number) else f"{number:,.0f}"


def amount_text(bound: Bound) -> str:
    """`5`; `∞` where the document leaves it open, with what ends it all the same."""
    return _open(bound, count_text(bound.at_most))


def time_text(bound: Bound) -> str:
    """`2 m 30 s`; `∞` where the document leaves it open."""
    return _open(bound, seconds_text(bound.at_most))


def _open(bound: Bound, shown: str) -> str:
    if bound.is_bounded:
        return shown
    return "∞" if isinf(bound.at_most) else f"∞ (≤ {shown})"


def seconds_text(seconds: float) -> str:
    """`0 s`, `0.25 s`, `2 m 30 s`, `1 d 2 h`: the two largest units."""
    if isinf(seconds):
        return "∞"
    if seconds >= _DAYS_MAX * 86400:
        return f"{seconds / 86400:,.0f} d"
    # Short times keep their fraction; nobody reads the milliseconds of an hour.
    rest = round(seconds, 3) if seconds < 60 else float(round(seconds))
    parts: list[str] = []
    for size, unit in _UNITS:
        whole, rest = divmod(rest, size)
        if whole:
            parts.append(f"{whole:.0f} {unit}")
    if rest or not parts:
        parts.append(f"{rest:g} s")
    return " ".join(parts[:2])
