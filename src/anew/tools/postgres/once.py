"""The transaction of a call whose changes are made once: claim its key, record its result.

Another worker that makes the same call at the same time waits for the end of this transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from psycopg import errors

from anew.tools.postgres.connections import Connection
from anew.tools.postgres.statements import BoundStatement
from anew.tools.sql import effects
from anew.tools.sql.failure import SqlFailure
from anew.values import Object


async def begin_once(
    connection: Connection, key: str, bound: Sequence[BoundStatement]
) -> Object | None:
    """Begin the call's transaction; its result instead where its changes were made before."""
    for statement in bound:
        effects.refuse_control(statement.sql)
    await connection.execute("BEGIN")
    if await _is_claimed(connection, key):
        return None
    row = await _row(connection, effects.READ, key)
    await connection.execute("ROLLBACK")
    if row is None:
        message = "deadlock: the row of this call in anew_effects was removed"
        raise SqlFailure("db_deadlock", message)
    return effects.read(row[0])


async def record(connection: Connection, key: str, result: Object) -> None:
    await connection.execute(effects.RECORD, [effects.written(result), key])


async def _is_claimed(connection: Connection, key: str) -> bool:
    try:
        return await _row(connection, effects.CLAIM, key) is not None
    except errors.UndefinedTable:
        await connection.execute("ROLLBACK")
    # Two calls that create the table at the same time: one of them is refused, and it is there.
    with suppress(errors.UniqueViolation, errors.DuplicateTable):
        await connection.execute(effects.CREATE)
    await connection.execute("BEGIN")
    return await _row(connection, effects.CLAIM, key) is not None


async def _row(connection: Connection, sql: str, key: str) -> tuple[Any, ...] | None:
    cursor = await connection.execute(sql, [key])
    return await cursor.fetchone()
