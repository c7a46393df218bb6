"""How many calls may be at work at once, counted before they begin so that no two share a slot."""

from __future__ import annotations


class Slots:
    """A count of free places. `close` lets nobody in any more, until `open`.

    Closed, `free` is below zero: not even a place that is just becoming free is to be used.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self._free = total
        self._is_open = True

    @property
    def free(self) -> int:
        return self._free if self._is_open else -1

    @property
    def taken(self) -> int:
        return self.total - self._free

    def take(self, count: int) -> None:
        self._free -= count

    def give_back(self, count: int = 1) -> None:
        self._free += count

    def close(self) -> None:
        self._is_open = False

    def open(self) -> None:
        self._is_open = True
