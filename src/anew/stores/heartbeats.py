"""How long a heartbeat waits for its answer before it is sent again another way.

Knows leases. Does not know how a store is reached.
"""

from __future__ import annotations

from anew.engine.moments import NANOSECONDS

# A heartbeat comes after a third of a lease. With each try given twice the time of the last, two
# that stay unanswered leave a sixth of the lease for a third one.
TRIES_PER_LEASE = 6


def extend_seconds(until: int, now: int) -> float:
    """For the first answer, when leases are to be extended until a moment."""
    return max(0, until - now) / NANOSECONDS / TRIES_PER_LEASE
