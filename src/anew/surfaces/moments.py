"""Moments as people write them: a duration that counts from now, or a date.

Which zone a date without one is in is the caller's to say. How moments are shown is not known here.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from math import isfinite

from anew.engine.moments import NANOSECONDS
from anew.errors import ConfigError
from anew.values import parse_seconds

# Stores keep moments in 64 bits.
STORED_MOMENT_MAX = 2**63 - 1


def parsed_moment(text: str, *, now: int, zone: tzinfo | None = UTC) -> int:
    """`2h` before now, or an ISO 8601 moment; in `zone` where it names none (None: local)."""
    try:
        seconds = parse_seconds(text)
        ago = None if seconds is None else round(seconds * NANOSECONDS)
        said = _dated(text, zone) if ago is None else now - ago
    except (ValueError, OverflowError, OSError):
        hint = "write a duration (30m, 2h, 1d) or a date (2026-03-01, 2026-03-01T14:00Z)"
        raise ConfigError(f"{text[:80]!r} is not a time; {hint}") from None
    return min(max(0, said), STORED_MOMENT_MAX)


def _dated(text: str, zone: tzinfo | None) -> int:
    found = datetime.fromisoformat(text)
    aware = found if found.tzinfo is not None else found.replace(tzinfo=zone)
    return round(aware.timestamp() * NANOSECONDS)


def moment_ahead(text: str, *, now: int) -> int:
    """The moment that is `10m` from now."""
    return min(now + _duration(text), STORED_MOMENT_MAX)


def moment_passed(text: str, *, now: int) -> int:
    """The moment that was `10m` before now."""
    return max(0, now - _duration(text))


def _duration(text: str) -> int:
    seconds = parse_seconds(text)
    if seconds is None or not isfinite(seconds) or seconds < 0:
        raise ConfigError(f"{text[:80]!r} is not a duration; write 30s, 10m, 2h")
    return round(seconds * NANOSECONDS)
