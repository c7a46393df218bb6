"""How busy a stretch of time was, in a fixed number of slices, however many things happened in it.

Adding an interval costs the same whether it covers one slice or all of them.
"""

from __future__ import annotations

from itertools import accumulate

from msgspec import Struct

# Finer than any terminal is wide.
SLICES = 240


class Density(Struct):
    """Sums of time per slice; `averages` turns them into how many at once."""

    begin: int
    width: int  # of a slice, in nanoseconds
    part_work: list[int]
    whole_work: list[int]
    part_wait: list[int]
    whole_wait: list[int]
    errors: list[int]

    @classmethod
    def over(cls, begin: int, end: int) -> Density:
        """An empty one over this stretch."""
        width = max(1, -(-(end - begin) // SLICES))
        # Slices that are covered wholly are noted where they begin and end, hence one more.
        lists = [[0] * (SLICES + 1) for _ in range(5)]
        return cls(begin, width, *lists)

    def add(self, begin: int, end: int, *, is_work: bool, is_error: bool = False) -> None:
        """Note one interval of work or of waiting; an error belongs to its end."""
        if is_work:
            self._add(self.part_work, self.whole_work, begin, end)
        else:
            self._add(self.part_wait, self.whole_wait, begin, end)
        if is_error:
            self.errors[self._slice(end)] += 1

    def work(self) -> list[float]:
        """How many were at work on average, slice by slice."""
        return self._averages(self.part_work, self.whole_work)

    def wait(self) -> list[float]:
        """How many waited on average, slice by slice."""
        return self._averages(self.part_wait, self.whole_wait)

    def _slice(self, at: int) -> int:
        return min(SLICES - 1, max(0, (at - self.begin) // self.width))

    def _add(self, part: list[int], whole: list[int], begin: int, end: int) -> None:
        first, last = self._slice(begin), self._slice(end)
        if first == last:
            part[first] += end - begin
            return
        part[first] += self.begin + (first + 1) * self.width - begin
        part[last] += end - (self.begin + last * self.width)
        whole[first + 1] += 1
        whole[last] -= 1

    def _averages(self, part: list[int], whole: list[int]) -> list[float]:
        covered = accumulate(whole[:SLICES])
        return [full + some / self.width for full, some in zip(covered, part, strict=False)]
