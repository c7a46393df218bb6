"""The clock of the database server, so that machines whose clocks differ agree."""

from __future__ import annotations

from anew.stores.following_clock import FollowingClock
from anew.stores.postgres.connection import Connection
from anew.stores.postgres.pool import ConnectionPool

# PostgreSQL knows microseconds.
_NOW = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000"


def server_clock(links: ConnectionPool) -> FollowingClock:
    async def ask() -> int:
        return await links.run(_now)

    return FollowingClock(ask)


async def _now(connection: Connection) -> int:
    row = await (await connection.execute(_NOW, binary=True)).fetchone()
    assert row is not None
    moment: int = row[0]
    return moment
