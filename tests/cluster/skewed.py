"""A machine whose clock is wrong: what this process is told about the time of day is shifted.

Only in Python, which is where Anew asks. The ledger of effects stays true: it is the world's.
"""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace

from tests.crash import effect_tool

NANOSECONDS = 1_000_000_000


def shift(seconds: float) -> None:
    """From now on this process lives that much in the future, or in the past."""
    true_time, true_nanoseconds = time.time, time.time_ns
    setattr(effect_tool, "time", SimpleNamespace(time_ns=true_nanoseconds))  # noqa: B010
    time.time = lambda: true_time() + seconds
    time.time_ns = lambda: true_nanoseconds() + int(seconds * NANOSECONDS)


def main(_: list[str]) -> int:
    """Say what time it is here, for those who test this."""
    sys.stdout.write(f"{time.time_ns()} {int(time.time())} {vars(effect_tool)['time'].time_ns()}")
    return 0
