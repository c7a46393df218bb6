"""Make run ids: whole numbers of 63 bits that grow with time.

41 bits of milliseconds since 2024, 10 bits that tell processes apart, 12 bits that count. Users put
them into BIGINT columns, and stores cut tables by their ranges.
"""

from __future__ import annotations

from os import urandom

from anew.clock import Clock
from anew.store import RunId

RUN_ID_MAX = 2**63 - 1
RUN_ID_DIGITS_MAX = len(str(RUN_ID_MAX))
EPOCH_MILLISECONDS = 1_704_067_200_000
_PROCESS_BITS, _COUNT_BITS = 10, 12
_COUNT_MAX = (1 << _COUNT_BITS) - 1


def _random_process() -> int:
    return int.from_bytes(urandom(2)) % (1 << _PROCESS_BITS)


class RunIds:
    """Ids of one process: each larger than the one before, even if the clock is set back.

    `process` is its number, below 1,024; without it chance gives one. Where time stands still, only
    the number tells the first run of one process from that of another.
    """

    def __init__(self, clock: Clock, process: int | None = None) -> None:
        self._clock = clock
        self._process = _random_process() if process is None else process
        assert self._process < 1 << _PROCESS_BITS
        self._millisecond = 0
        self._count = 0

    def next(self) -> RunId:
        now = self._clock.now() // 1_000_000 - EPOCH_MILLISECONDS
        if now > self._millisecond:
            self._millisecond, self._count = now, 0
        elif self._count < _COUNT_MAX:
            self._count += 1
        else:
            self._millisecond, self._count = self._millisecond + 1, 0
        high = (self._millisecond << _PROCESS_BITS) | self._process
        return RunId((high << _COUNT_BITS) | self._count)
