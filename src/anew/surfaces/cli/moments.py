"""Moments for people, in their own time zone; and moments people write."""

from __future__ import annotations

import time
from datetime import datetime
from math import isfinite

from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.errors import ConfigError
from anew.values import parse_seconds

# Stores keep moments in 64 bits.
STORED_MOMENT_MAX = 2**63 - 1
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
    try:
        seconds = parse_seconds(text)
        if seconds is None:
            said = round(datetime.fromisoformat(text).timestamp() * NANOSECONDS)
        else:
            said = (time.time_ns() if now is None else now) - round(seconds * NANOSECONDS)
    except (ValueError, OverflowError, OSError):
        hint = "write a duration (30m, 2h, 1d) or a date (2026-03-01, 2026-03-01T14:00Z)"
        raise ConfigError(f"{text[:80]!r} is no moment; {hint}") from None
    return min(max(0, said), STORED_MOMENT_MAX)


def moment_ahead(text: str, *, now: int) -> int:
    """The moment that is `10m` from now."""
    seconds = parse_seconds(text)
    if seconds is None or not isfinite(seconds) or seconds < 0:
        raise ConfigError(f"{text[:80]!r} is no duration; write 30s, 10m, 2h")
    return min(now + round(seconds * NANOSECONDS), STORED_MOMENT_MAX)
