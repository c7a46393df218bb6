"""Values that tasks keep by name, at a server."""

from __future__ import annotations

from anew.store import NewArtifact, StoredArtifact
from anew.stores.remote.connection import ServerConnection
from anew.stores.remote.wire import StoredArtifactRequest


class RemoteArtifacts:
    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    async def put(self, artifact: NewArtifact) -> int:
        return await self._connection.ask("artifacts.put", artifact, int)

    async def get(self, owner: str, name: str, version: int | None = None) -> StoredArtifact | None:
        asked = StoredArtifactRequest(owner, name, version)
        return await self._connection.ask_maybe("artifacts.get", asked, StoredArtifact)
