"""What all transfers of a process share: threads, connections and HTTP requests."""

from __future__ import annotations

from anew.tools.http import HttpTool
from anew.tools.postgres.connections import Connections
from anew.tools.sql.threads import Threads


class TransferResources:
    """Opened when they are first needed, closed together."""

    def __init__(self) -> None:
        self.http = HttpTool()
        self.threads = Threads("anew-transfer")
        # Two pools: a transfer holds the connection of one side while it waits for that of the
        # other, and in one pool such transfers could wait for each other.
        self.sources = Connections()
        self.targets = Connections()

    async def close(self) -> None:
        self.threads.close()
        await self.http.close()
        await self.sources.close()
        await self.targets.close()
