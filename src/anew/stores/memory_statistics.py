"""Very many runs at a glance, for the database that forgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable

from anew.engine.statuses import DetailedStatus
from anew.store import FailedRunGroup, FailureFilter, RunFilter, RunPoint, RunRow, StoredProgram
from anew.stores.matching import groups

Choose = Callable[[RunFilter], list[RunRow]]


class MemoryStatistics:
    """`choose` gives every run that a filter means, without regard to its limit."""

    def __init__(self, choose: Choose, registered: Callable[[], Iterable[StoredProgram]]) -> None:
        self._choose = choose
        self._registered = registered

    async def counts(self, asked: RunFilter) -> dict[DetailedStatus, int]:
        return dict(Counter(row.state for row in self._choose(asked)))

    async def points(self, asked: RunFilter) -> list[RunPoint]:
        rows = self._choose(asked)[: asked.limit]
        return [RunPoint(row.run, row.created_at, row.ended_at, row.state) for row in rows]

    async def failures(self, asked: FailureFilter) -> list[FailedRunGroup]:
        return groups(self._choose(RunFilter()), asked)

    async def programs(self, limit: int = 1000) -> list[str]:
        return sorted({row.program for row in self._choose(RunFilter())})[:limit]

    async def versions(self, digests: Collection[str]) -> dict[str, int]:
        return {one.digest: one.version for one in self._registered() if one.digest in digests}
