"""Very many runs at a glance, asked of a server."""

from __future__ import annotations

from collections.abc import Collection

from anew.engine.statuses import DetailedStatus
from anew.store import FailedRunGroup, FailureFilter, RunFilter, RunPoint
from anew.stores.remote.connection import ServerConnection
from anew.stores.remote.wire import DigestsRequest, LimitRequest


class RemoteStatistics:
    """What `anew.store.Statistics` says."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    async def counts(self, asked: RunFilter) -> dict[DetailedStatus, int]:
        return await self._connection.ask("survey.counts", asked, dict[DetailedStatus, int])

    async def points(self, asked: RunFilter) -> list[RunPoint]:
        return await self._connection.ask("survey.points", asked, list[RunPoint])

    async def failures(self, asked: FailureFilter) -> list[FailedRunGroup]:
        return await self._connection.ask("survey.failures", asked, list[FailedRunGroup])

    async def programs(self, limit: int = 1000) -> list[str]:
        return await self._connection.ask("survey.programs", LimitRequest(limit), list[str])

    async def versions(self, digests: Collection[str]) -> dict[str, int]:
        asked = DigestsRequest(list(digests))
        return await self._connection.ask("survey.versions", asked, dict[str, int])
