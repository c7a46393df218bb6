"""Where the chance of one run comes from: one seed, and a stream of numbers for each fault.

A fault that is added or left out does not move the others. After `FAULTS_MAX` faults a run is left
in peace, so that it can be asked whether it then comes to its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from random import Random

from msgspec import Struct

# In one run. Far above what a run of a hundred steps meets, and an end for one that retries for
# as long as it is refused.
FAULTS_MAX = 1_000


def seed_of_run(seed: int, index: int) -> int:
    """The seed of one run of many: the same for the same two numbers, for ever."""
    return int.from_bytes(sha256(f"{seed}:{index}".encode()).digest()[:7], "big")


class InjectedFault(Struct, frozen=True):
    """One fault that happened, by the true time, in a few words."""

    at: int
    fault: str
    what: str


class Chance:
    """Draws whether faults strike, and keeps those that did (`struck`)."""

    def __init__(self, seed: int, rates: Mapping[str, float]) -> None:
        self.seed = seed
        self.struck: list[InjectedFault] = []
        self._rates = {name: rate for name, rate in rates.items() if rate > 0}
        self._streams = {name: Random(f"{seed}:{name}") for name in self._rates}
        self._left = FAULTS_MAX

    def rate(self, fault: str) -> float:
        """How often a fault strikes; 0 when it never does, or not any more."""
        return self._rates.get(fault, 0.0) if self._left > 0 else 0.0

    def strikes(self, fault: str) -> bool:
        """Whether the fault happens here."""
        rate = self.rate(fault)
        return rate > 0 and self._streams[fault].random() < rate

    def note(self, fault: str, what: str, *, at: int) -> None:
        """The fault has happened."""
        self.struck.append(InjectedFault(at, fault, what))
        self._left -= 1

    def stream(self, fault: str) -> Random:
        """More numbers about a fault that strikes."""
        return self._streams[fault]
