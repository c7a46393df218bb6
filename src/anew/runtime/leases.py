"""How long a worker that says nothing keeps its jobs, and how often it says that it is there."""

from __future__ import annotations

import os

from anew.errors import ConfigError

# Three heartbeats fit into it: two may be missed.
LEASE_SECONDS = 30.0
LEASE_SECONDS_MIN = 0.5
LEASE_SECONDS_MAX = 24 * 3600
BEATS_PER_LEASE = 3
# For people who ask who works, whatever the leases.
HEARTBEAT_SECONDS = 10.0


def lease_seconds() -> float:
    """$ANEW_LEASE_SECONDS, if it is set."""
    said = os.environ.get("ANEW_LEASE_SECONDS", str(LEASE_SECONDS))
    try:
        seconds = float(said)
    except ValueError:
        seconds = 0.0
    if not LEASE_SECONDS_MIN <= seconds <= LEASE_SECONDS_MAX:
        raise ConfigError(
            f"ANEW_LEASE_SECONDS is {said!r}; it must be from {LEASE_SECONDS_MIN:g} to "
            f"{LEASE_SECONDS_MAX} seconds"
        )
    return seconds
