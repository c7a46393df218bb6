"""The states of guards, at a server."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from anew.store import GuardWrite, StoredGuard
from anew.stores.remote.connection import ServerConnection
from anew.stores.remote.wire import GuardsRequest, GuardWrites, LimitRequest


class RemoteGuards:
    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    async def read(self, scopes: Collection[str]) -> list[StoredGuard]:
        asked = GuardsRequest(list(scopes))
        return await self._connection.ask("guards.read", asked, list[StoredGuard])

    async def listed(self, limit: int = 1000) -> list[StoredGuard]:
        return await self._connection.ask("guards.listed", LimitRequest(limit), list[StoredGuard])

    async def write(self, writes: Sequence[GuardWrite]) -> None:
        await self._connection.tell("guards.write", GuardWrites(writes))
