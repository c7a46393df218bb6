"""Open connections, a few per credential, lent for one call at a time.

A connection comes back clean or not at all: what a call set, locked or listened to is discarded,
and one whose call was cancelled is closed. There is no task in the background: a failure to connect
reaches the call that needed the connection, with its reason, and costs no retries behind its back.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from math import ceil
from time import monotonic
from typing import Any, TypeAlias

import psycopg
from psycopg import AsyncConnection, AsyncRawCursor
from psycopg.pq import TransactionStatus

from anew.tool import Timeout
from anew.tools.postgres.adapting import adapters_of_results
from anew.tools.postgres.failures import connecting_failure
from anew.tools.sql.failure import SqlFailure

# A server allows a hundred connections unless told otherwise, and is used by others too.
CONNECTIONS_MAX = 8
# How long a call waits for one of them.
CONNECTION_WAIT_SECONDS_MAX = 60.0
CONNECT_SECONDS_MAX = 10.0
# One that nobody has used for this long is closed when another call comes or goes.
IDLE_SECONDS_MAX = 60.0
# How long a connection may take to become clean; after that it is closed.
RESET_SECONDS_MAX = 5.0

_STATEMENT_TIMEOUT_MS_MAX = 2**31 - 1

Connection: TypeAlias = AsyncConnection[tuple[Any, ...]]


class _Lane:
    """The connections of one credential."""

    def __init__(self) -> None:
        self.slots = asyncio.Semaphore(CONNECTIONS_MAX)
        self.idle: list[tuple[Connection, float]] = []
        self.users = 0


class Connections:
    """All connections of the tool."""

    def __init__(self) -> None:
        # The keys hold passwords: they are never shown.
        self._lanes: dict[str, _Lane] = {}
        self._adapters = adapters_of_results()

    @asynccontextmanager
    async def lend(
        self, conninfo: str, timeout: Timeout, *, begins: Callable[[], None]
    ) -> AsyncIterator[Connection]:
        """A connection that works, with the call's timeout set on the server too.

        `begins` is called when the wait for others is over: connecting is the call's own time.
        """
        await self._close_idle(since=monotonic() - IDLE_SECONDS_MAX)
        lane = self._lanes.setdefault(conninfo, _Lane())
        async with _slot_of(lane):
            begins()
            connection = await self._take(lane, conninfo, timeout)
            try:
                yield connection
            except SqlFailure:
                await _give_back(lane, connection)
                raise
            except BaseException:
                await connection.close()
                raise
            await _give_back(lane, connection)

    async def close(self) -> None:
        await self._close_idle(since=float("inf"))

    async def _take(self, lane: _Lane, conninfo: str, timeout: Timeout) -> Connection:
        while lane.idle:
            connection, _ = lane.idle.pop()
            if await _is_ready(connection, timeout):
                return connection
        try:
            connection = await self._connect(conninfo, timeout)
        except psycopg.Error as error:
            raise connecting_failure(error) from None
        if await _is_ready(connection, timeout):
            return connection
        raise SqlFailure("db_connection", "the server closed the new connection at once")

    async def _connect(self, conninfo: str, timeout: Timeout) -> Connection:
        seconds = min(timeout.connect or CONNECT_SECONDS_MAX, CONNECT_SECONDS_MAX)
        try:
            async with asyncio.timeout(seconds):
                return await AsyncConnection.connect(
                    conninfo,
                    autocommit=True,
                    # A prepared statement outlives the table it was made for, and costs memory.
                    prepare_threshold=None,
                    context=self._adapters,
                    cursor_factory=AsyncRawCursor,
                )
        except TimeoutError:
            message = f"the server did not answer within {seconds:g} s"
            raise SqlFailure("db_connection", message) from None

    async def _close_idle(self, *, since: float) -> None:
        for conninfo, lane in list(self._lanes.items()):
            old = [connection for connection, at in lane.idle if at < since]
            lane.idle = [(connection, at) for connection, at in lane.idle if at >= since]
            if not lane.idle and not lane.users:
                del self._lanes[conninfo]
            for connection in old:
                await connection.close()


@asynccontextmanager
async def _slot_of(lane: _Lane) -> AsyncIterator[None]:
    lane.users += 1
    try:
        async with asyncio.timeout(CONNECTION_WAIT_SECONDS_MAX):
            await lane.slots.acquire()
    except TimeoutError:
        message = f"all {CONNECTIONS_MAX} connections of this credential are in use"
        raise SqlFailure("db_connection", message) from None
    else:
        try:
            yield
        finally:
            lane.slots.release()
    finally:
        lane.users -= 1


async def _is_ready(connection: Connection, timeout: Timeout) -> bool:
    """Set the timeout, which also tells whether the connection still works; if not, close it."""
    milliseconds = 0 if timeout.seconds is None else ceil(timeout.seconds * 1000)
    set_timeout = "SELECT set_config('statement_timeout', $1, false)"
    text = str(min(milliseconds, _STATEMENT_TIMEOUT_MS_MAX)) if milliseconds else None
    try:
        async with asyncio.timeout(CONNECT_SECONDS_MAX):
            if text is None:
                await connection.execute("SELECT 1")
            else:
                await connection.execute(set_timeout, [text])
    except (psycopg.Error, TimeoutError):
        await connection.close()
        return False
    except BaseException:
        await connection.close()
        raise
    return True


async def _give_back(lane: _Lane, connection: Connection) -> None:
    try:
        async with asyncio.timeout(RESET_SECONDS_MAX):
            if connection.info.transaction_status is not TransactionStatus.IDLE:
                await connection.execute("ROLLBACK")
            await connection.execute("DISCARD ALL")
    except (psycopg.Error, TimeoutError):
        await connection.close()
    except BaseException:
        await connection.close()
        raise
    else:
        lane.idle.append((connection, monotonic()))
