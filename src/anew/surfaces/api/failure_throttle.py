"""Slow down who shows wrong tokens, without ever making the right one wait.

Decides how long the answer to a failed guess is held back, by the address it came from. The answer
is held, not the address: whoever has the token is let in at once, even from behind the same proxy
as who guesses. Knows neither tokens nor requests.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Address, ip_address

from msgspec import Struct

# Mistakes that cost nothing: of a person who types, or of a worker with yesterday's token.
FREE_FAILURES = 5
FAILURE_PAUSE_SECONDS_FIRST = 0.05
FAILURE_PAUSE_SECONDS_MAX = 1.0
# An address that made no mistake for so long has made none.
FORGOTTEN_SECONDS = 60.0
# Held-back answers hold connections: of one address, and of all together.
HELD_PER_ADDRESS_MAX = 4
HELD_MAX = 64
# What is remembered; the address that failed longest ago is forgotten for a new one.
ADDRESSES_MAX = 1_024
# The doubling has long reached its end by then.
_DOUBLINGS_MAX = 10
# Whoever has one IPv6 address has all that share these bits.
_SITE_BITS = 64


class _Failures(Struct):
    count: int
    last_at: float


class FailureThrottle:
    """One for each server. `seconds_max` is the longest an answer is held back."""

    def __init__(
        self,
        seconds_max: float = FAILURE_PAUSE_SECONDS_MAX,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._seconds_max = seconds_max
        self._clock = clock
        self._sleep = sleep
        self._failures: OrderedDict[str, _Failures] = OrderedDict()
        self._held: Counter[str] = Counter()

    async def hold(self, client: str) -> bool:
        """Count a failure, and return when it may be answered; False at once if too many wait."""
        site = site_of(client)
        pause = self._pause_after(site)
        if pause == 0:
            return True
        if self._held[site] >= HELD_PER_ADDRESS_MAX or self._held.total() >= HELD_MAX:
            return False
        self._held[site] += 1
        try:
            await self._sleep(pause)
        finally:
            self._held[site] -= 1
            if not self._held[site]:
                del self._held[site]
        return True

    def _pause_after(self, site: str) -> float:
        now = self._clock()
        known = self._failures.pop(site, None)
        if known is None or now - known.last_at > FORGOTTEN_SECONDS:
            known = _Failures(0, now)
        known.count, known.last_at = known.count + 1, now
        self._failures[site] = known
        if len(self._failures) > ADDRESSES_MAX:
            self._failures.popitem(last=False)
        if known.count <= FREE_FAILURES:
            return 0.0
        doublings = min(known.count - FREE_FAILURES - 1, _DOUBLINGS_MAX)
        return min(self._seconds_max, FAILURE_PAUSE_SECONDS_FIRST * 2.0**doublings)


def site_of(client: str) -> str:
    """What is counted together: an IPv4 address, or the network of an IPv6 address."""
    try:
        address = ip_address(client.partition("%")[0])
    except ValueError:
        return client
    if isinstance(address, IPv4Address):
        return client
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return f"{int(address) >> (128 - _SITE_BITS):x}::/{_SITE_BITS}"
