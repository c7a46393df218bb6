"""Has shared work done on any of a few connections."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from anew.stores.postgres.connection import Connection
from anew.stores.postgres.pool import ConnectionPool
from anew.stores.postgres.values import from_text, to_text
from anew.stores.sql.dialect import SqlDialect, Steps

T = TypeVar("T")


def _translate(statement: str) -> str:
    return statement.replace("?", "%s")


POSTGRES = SqlDialect(
    translate=_translate,
    to_text=to_text,
    from_text=from_text,
    free="leased_until IS NULL",
    of_any="",
    contains="{} ILIKE ?",
    labels_contain='labels COLLATE "C" ILIKE ?',
    since="created_at >= ?",
    index="",
    lock_versions="LOCK TABLE anew.versions IN SHARE ROW EXCLUSIVE MODE",
    lock_name="SELECT pg_advisory_xact_lock(hashtextextended(?, 0))",
    skip_locked="FOR UPDATE SKIP LOCKED",
)


class PostgresSession:
    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool

    async def read(self, work: Callable[..., Steps[T]], *values: object) -> T:
        return await self._pool.run(partial(_perform, make=partial(work, POSTGRES, *values)))

    write = read

    async def transact(self, work: Callable[..., Steps[T]], *values: object) -> T:
        return await self._pool.run(partial(_transact, make=partial(work, POSTGRES, *values)))


async def _transact(connection: Connection, make: Callable[[], Steps[T]]) -> T:
    async with connection.transaction():
        return await _perform(connection, make)


async def _perform(connection: Connection, make: Callable[[], Steps[T]]) -> T:
    """One statement after the other, each of which gets its rows."""
    steps = make()
    try:
        statement, values = next(steps)
        while True:
            cursor = await connection.execute(_translate(statement), tuple(values), binary=True)
            rows = await cursor.fetchall() if cursor.description is not None else []
            statement, values = steps.send(rows)
    except StopIteration as end:
        result: T = end.value
        return result
