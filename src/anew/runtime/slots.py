"""How many calls may be at work at once, counted before they begin so that no two share a slot."""

from __future__ import annotations

from collections.abc import Callable


class Slots:
    """A count of free places. `close` lets nobody in any more, until `open`.

    Closed, `free` is below zero: not even a place that is just becoming free is to be used.
    `is_work_waiting` tells whether there is ready work that has no place yet; whoever looks for
    work sets it.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self._free = total
        self._is_open = True
        self.is_work_waiting: Callable[[], bool] = _is_nothing_waiting

    @property
    def free(self) -> int:
        return self._free if self._is_open else -1

    @property
    def taken(self) -> int:
        return self.total - self._free

    @property
    def are_contended(self) -> bool:
        """Whether a place that is held by a wait is one that ready work could use."""
        return self.free <= 0 and self.is_work_waiting()

    def take(self, count: int) -> None:
        self._free -= count

    def give_back(self, count: int = 1) -> None:
        self._free += count

    def close(self) -> None:
        self._is_open = False

    def open(self) -> None:
        self._is_open = True


def _is_nothing_waiting() -> bool:
    return False
