"""Moments for people, in their own time zone; and moments people write at a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial

from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.surfaces import moments

_DAY = 86_400 * NANOSECONDS


def local_moment(at: int) -> str:
    """`2026-03-01 14:05:09`, local."""
    return _local(at).strftime("%Y-%m-%d %H:%M:%S")


def local_clock(at: int, now: int) -> str:
    """`14:05:09`, local; with its date in front where that is not today's, as of now."""
    return _local(at).strftime("%H:%M:%S") if is_today(at, now) else local_moment(at)


def is_today(at: int, now: int) -> bool:
    """Whether a moment needs no date for whoever reads it now."""
    return _local(at).date() == _local(now).date()


def column_clock(moments: Iterable[int], now: int) -> Callable[[int], str]:
    """How a column of moments is written: all with their date as soon as one needs it."""
    with_date = not all(is_today(at, now) for at in moments)
    return local_moment if with_date else partial(local_clock, now=now)


def _local(at: int) -> datetime:
    # East of Greenwich the last moments of UTC are past what a date can say.
    return datetime.fromtimestamp(min(at, LAST_MOMENT - _DAY) / NANOSECONDS)


def parsed_moment(text: str, *, now: int | None = None) -> int:
    """`2h` ago, or an ISO 8601 moment (local unless it names a zone)."""
    return moments.parsed_moment(text, now=time.time_ns() if now is None else now, zone=None)
