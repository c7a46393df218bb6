"""Moments for people, in their own time zone; and moments people write at a terminal."""

from __future__ import annotations

import time
from datetime import datetime

from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.surfaces import moments

_DAY = 86_400 * NANOSECONDS


def local_moment(at: int) -> str:
    """`2026-03-01 14:05:09`, local."""
    return _local(at).strftime("%Y-%m-%d %H:%M:%S")


def local_clock(at: int) -> str:
    """`14:05:09`, local."""
    return _local(at).strftime("%H:%M:%S")


def _local(at: int) -> datetime:
    # East of Greenwich the last moments of UTC are past what a date can say.
    return datetime.fromtimestamp(min(at, LAST_MOMENT - _DAY) / NANOSECONDS)


def moment_said(text: str, *, now: int | None = None) -> int:
    """`2h` ago, or an ISO 8601 moment (local unless it names a zone)."""
    return moments.moment_said(text, now=time.time_ns() if now is None else now, zone=None)
