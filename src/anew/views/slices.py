"""How busy a stretch of time was, in a fixed number of slices, however many things happened in it.

Adding an interval costs the same whether it covers one slice or all of them.
"""

from __future__ import annotations

from itertools import accumulate

from msgspec import Struct

# Finer than any terminal is wide.
SLICES = 240
# The slices of a stretch whose end is not known yet, at first: a millisecond.
FIRST_WIDTH = 1_000_000


class Density(Struct):
    """Sums of time per slice; `work` and `wait` turn them into how many at once.

    What ends after the last slice makes all of them twice as wide, as often as it takes.
    """

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
        return cls._empty(begin, max(1, -(-(end - begin) // SLICES)))

    @classmethod
    def since(cls, begin: int) -> Density:
        """An empty one over a stretch that has not ended yet."""
        return cls._empty(begin, FIRST_WIDTH)

    @classmethod
    def _empty(cls, begin: int, width: int) -> Density:
        # Slices that are covered wholly are noted where they begin and end, hence one more.
        lists = [[0] * (SLICES + 1) for _ in range(5)]
        return cls(begin, width, *lists)

    def copy(self) -> Density:
        """One that can be added to without changing this one."""
        lists = (self.part_work, self.whole_work, self.part_wait, self.whole_wait, self.errors)
        return Density(self.begin, self.width, *(list(one) for one in lists))

    def add(self, begin: int, end: int, *, is_work: bool, is_error: bool = False) -> None:
        """Note one interval of work or of waiting; an error belongs to its end."""
        while end > self.begin + SLICES * self.width:
            self._widen()
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

    def _widen(self) -> None:
        """Two slices become one."""
        for part, whole in ((self.part_work, self.whole_work), (self.part_wait, self.whole_wait)):
            covered = accumulate(whole[:SLICES])
            spent = [full * self.width + some for full, some in zip(covered, part, strict=False)]
            part[:] = _paired(spent)
            whole[:] = [0] * (SLICES + 1)
        self.errors[:] = _paired(self.errors[:SLICES])
        self.width *= 2

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


def _paired(sums: list[int]) -> list[int]:
    """Each two in one, and as many empty ones after them as were lost."""
    pairs = [first + second for first, second in zip(sums[::2], sums[1::2], strict=True)]
    return pairs + [0] * (SLICES + 1 - len(pairs))
