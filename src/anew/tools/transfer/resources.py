"""What all transfers of a process share: threads, connections and HTTP requests."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from anew.tools.http import HttpTool
from anew.tools.sql.threads import Threads

if TYPE_CHECKING:
    from anew.tools.postgres.connections import Connections


class TransferResources:
    """Opened when they are first needed, closed together."""

    def __init__(self) -> None:
        self.http = HttpTool()
        self.threads = Threads("anew-transfer")
        self._pools: list[Connections] = []

    # Two pools: a transfer holds the connection of one side while it waits for that of the other,
    # and in one pool such transfers could wait for each other.
    @cached_property
    def sources(self) -> Connections:
        return self._pool()

    @cached_property
    def targets(self) -> Connections:
        return self._pool()

    def _pool(self) -> Connections:
        # The library comes with an extra, and only sides of PostgreSQL ask for a connection.
        from anew.tools.postgres.connections import Connections  # noqa: PLC0415

        self._pools.append(Connections())
        return self._pools[-1]

    async def close(self) -> None:
        self.threads.close()
        await self.http.close()
        for pool in self._pools:
            await pool.close()
