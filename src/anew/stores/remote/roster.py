"""Who works on a server's database: a worker elsewhere says so to the server."""

from __future__ import annotations

from anew.store import JobRow, PoolLoad, Presence
from anew.stores.remote.connection import ServerConnection
from anew.stores.remote.wire import LimitRequest, LoadsRequest, TextRequest


class RemoteRoster:
    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    async def beat(self, presence: Presence) -> None:
        await self._connection.tell("roster.beat", presence)

    async def leave(self, worker: str) -> None:
        await self._connection.tell("roster.leave", TextRequest(worker))

    async def workers(self, limit: int = 1000) -> list[Presence]:
        asked = LimitRequest(limit)
        return await self._connection.ask("roster.workers", asked, list[Presence])

    async def loads(self, now: int) -> list[PoolLoad]:
        return await self._connection.ask("roster.loads", LoadsRequest(now), list[PoolLoad])

    async def asking(self, limit: int = 1000) -> list[JobRow]:
        return await self._connection.ask("roster.asking", LimitRequest(limit), list[JobRow])
