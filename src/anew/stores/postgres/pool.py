"""One connection, made again whenever it is lost, and a few of them for whoever needs one.

What was under way when a connection was lost is done again on the next one, for a while. That is
right because everything a store does may be done twice.
Knows when to try again. Does not know what is being done.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import uniform
from typing import TypeAlias, TypeVar

import psycopg
from msgspec import Struct

from anew.store import StoreError
from anew.stores.postgres.connection import (
    Connection,
    ConnectionInfo,
    Recovery,
    connect,
    hang_up,
    recovery_of,
    store_error,
)

T = TypeVar("T")
Work: TypeAlias = Callable[[Connection], Awaitable[T]]

# How long an operation goes on trying to reach the server, through a restart, say.
PATIENCE_SECONDS = 60.0
# A server whose answer is this late is taken for lost: the network may have swallowed it.
ANSWER_SECONDS_MAX = 20.0
# Whoever opens a database is told sooner: the address may be wrong.
OPEN_PATIENCE_SECONDS = 5.0
BACKOFF_FIRST_SECONDS = 0.05
BACKOFF_SECONDS_MAX = 2.0
# Who closes a database waits so long for what is under way, whatever the server does.
CLOSING_SECONDS_MAX = 5.0
# For those who were told that there will be no answer to hear of it.
CLOSED_SECONDS_MAX = 1.0
# What libpq's errors are, and those of a socket or a name that cannot be looked up.
TROUBLE = (psycopg.Error, OSError, TimeoutError)


class Patience(Struct, frozen=True):
    """How long an operation is tried, and how long its first answer may take.

    A server that was late is given twice the time when it is asked again: it may only be slow.
    """

    total_seconds: float = PATIENCE_SECONDS
    answer_seconds: float = ANSWER_SECONDS_MAX


class ReconnectingConnection:
    """Used by one at a time. The connection is made when it is first needed."""

    def __init__(
        self, place: ConnectionInfo, patience: Patience, *, is_reader: bool = False
    ) -> None:
        self.place = place
        self._patience = patience
        self._is_reader = is_reader
        self._connection: Connection | None = None
        self._is_closed = False
        self._is_late = False
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        # When nobody waits any longer, by the clock of the loop.
        self._ends_at = float("inf")
        self._ending: asyncio.TimerHandle | None = None
        self._reaching: asyncio.Timeout | None = None

    async def run(self, work: Work[T], patience: Patience | None = None) -> T:
        """What `work` returns; StoreError when that cannot be had."""
        try:
            return await self.insist(work, patience)
        except TROUBLE as error:
            raise store_error(self.place, error) from error

    async def insist(
        self, work: Work[T], patience: Patience | None = None, *, gives_way: bool = False
    ) -> T:
        """As `run`, with the errors as they come. `gives_way` to others: a deadlock is an error."""
        self._is_idle.clear()
        try:
            return await self._insist(work, patience or self._patience, gives_way=gives_way)
        finally:
            self._is_idle.set()

    async def _insist(self, work: Work[T], has: Patience, *, gives_way: bool) -> T:
        task = asyncio.current_task()
        cancels = task.cancelling() if task is not None else 0
        ends = time.monotonic() + has.total_seconds
        pause, answer_seconds = BACKOFF_FIRST_SECONDS, has.answer_seconds
        while True:
            try:
                return await self._once(work, answer_seconds)
            except TROUBLE as error:
                # A connection that is lost while a statement is cancelled hides that it was.
                if task is not None and task.cancelling() > cancels:
                    raise asyncio.CancelledError from error
                if self._is_over():
                    raise self._unanswered() from error
                recovery = recovery_of(error)
                is_over = recovery is Recovery.RAISE or (recovery is Recovery.RETRY and gives_way)
                if is_over or time.monotonic() + pause > ends:
                    raise
            await asyncio.sleep(uniform(0.5, 1.0) * pause)
            pause = min(2 * pause, BACKOFF_SECONDS_MAX)
            answer_seconds = max(has.answer_seconds, min(2 * answer_seconds, ANSWER_SECONDS_MAX))

    async def _once(self, work: Work[T], answer_seconds: float) -> T:
        if self._is_closed:
            raise StoreError(f"the database at {self.place.text} is closed.")
        if self._is_over():
            raise self._unanswered()
        connection = self._connection or await self._connect()
        late = asyncio.get_running_loop().call_later(answer_seconds, self._hang_up, connection)
        try:
            return await work(connection)
        except BaseException as error:
            await self._leave(error)
            if self._is_late:
                self._is_late = False
                raise TimeoutError(f"no answer within {answer_seconds:g} seconds") from error
            raise
        finally:
            late.cancel()

    async def _connect(self) -> Connection:
        try:
            async with asyncio.timeout_at(self._ends_at) as self._reaching:
                self._connection = await connect(self.place, is_reader=self._is_reader)
        finally:
            self._reaching = None
        return self._connection

    def _hang_up(self, connection: Connection) -> None:
        self._is_late = True
        hang_up(connection)

    async def _leave(self, error: BaseException) -> None:
        """Keep the connection only if it is fit for the next one."""
        connection = self._connection
        if connection is None:
            return
        is_idle = connection.pgconn.transaction_status == psycopg.pq.TransactionStatus.IDLE
        is_lost = isinstance(error, TROUBLE) and recovery_of(error) is Recovery.RECONNECT
        if connection.closed or is_lost or not is_idle:
            self._connection = None
            await connection.close()

    def end_by(self, moment: float) -> None:
        """Let nobody wait for an answer beyond a moment of the loop's clock."""
        if moment >= self._ends_at:
            return
        self._ends_at = moment
        if self._ending is not None:
            self._ending.cancel()
        self._ending = asyncio.get_running_loop().call_at(moment, self._end)
        if self._reaching is not None:
            self._reaching.reschedule(moment)

    def _end(self) -> None:
        if self._connection is not None and not self._is_idle.is_set():
            hang_up(self._connection)

    def _is_over(self) -> bool:
        return asyncio.get_running_loop().time() >= self._ends_at

    def _unanswered(self) -> StoreError:
        return StoreError(
            f"PostgreSQL at {self.place.text} gave no answer before it was closed here. What it "
            "was doing may have been done or not. Look at its load and its locks."
        )

    async def close(self) -> None:
        """Once whoever uses it is done, after a few seconds at the latest."""
        self.end_by(asyncio.get_running_loop().time() + CLOSING_SECONDS_MAX)
        with suppress(TimeoutError):
            async with asyncio.timeout_at(self._ends_at + CLOSED_SECONDS_MAX):
                await self._is_idle.wait()
        self._is_closed = True
        if self._ending is not None:
            self._ending.cancel()
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()


class ConnectionPool:
    """At most so many links; the one used last is used next, so that few are opened."""

    def __init__(self, place: ConnectionInfo, patience: Patience, *, size: int) -> None:
        self.place = place
        self.patience = patience
        self._links = [ReconnectingConnection(place, patience, is_reader=True) for _ in range(size)]
        self._free: asyncio.LifoQueue[ReconnectingConnection] = asyncio.LifoQueue()
        for link in self._links:
            self._free.put_nowait(link)

    async def run(self, work: Work[T], patience: Patience | None = None) -> T:
        link = await self._free.get()
        try:
            return await link.run(work, patience)
        finally:
            self._free.put_nowait(link)

    def end_by(self, moment: float) -> None:
        for link in self._links:
            link.end_by(moment)

    async def close(self) -> None:
        for link in self._links:
            await link.close()
