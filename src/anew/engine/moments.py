"""Moments: whole nanoseconds since 1970 in UTC, and how they are written.

Floats of seconds lose microseconds once they are added to a date, so there are none here.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

NANOSECONDS = 1_000_000_000
# The years 1677 and 2262: what 64 bits hold, in every store. A delay past the last moment is due
# at it.
FIRST_MOMENT = -9_223_372_036 * NANOSECONDS
LAST_MOMENT = 9_223_372_036 * NANOSECONDS


def moment_text(at: int) -> str:
    """ISO 8601 in UTC with microseconds and `Z`."""
    seconds, rest = divmod(min(max(at, FIRST_MOMENT), LAST_MOMENT), NANOSECONDS)
    return f"{_second_text(seconds)}.{rest // 1000:06d}Z"


def moment_of(text: str) -> int | None:
    """The moment an ISO 8601 text names, in UTC where it does not say; None when it names none."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    aware = found if found.tzinfo else found.replace(tzinfo=UTC)
    return min(int(aware.timestamp() * 1_000_000) * 1000, LAST_MOMENT)


@lru_cache(maxsize=64)
def _second_text(seconds: int) -> str:
    # Many events share a second, and formatting a date costs more than the rest of a transition.
    return datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00")
