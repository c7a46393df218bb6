"""Run the statements of a call in PostgreSQL and collect their rows.

Knows one connection at a time; where it comes from is in `connections.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psycopg
from psycopg.pq import TransactionStatus

from anew.engine.outcome import Outcome, outcome_of
from anew.tool import Call
from anew.tools.postgres.adapting import bindable
from anew.tools.postgres.connections import Connection, Connections
from anew.tools.postgres.credential import conninfo_of
from anew.tools.postgres.failures import running_failure
from anew.tools.postgres.once import begin_once, record
from anew.tools.postgres.statements import BoundStatement, bind, statements_of
from anew.tools.postgres.streaming import StreamCursor, rows_like, stream_rows
from anew.tools.scripts import ScriptFailure, Scripts
from anew.tools.sql.failure import SqlFailure, wrong_input
from anew.tools.sql.request import SqlRequest, Supply, request_of, with_script
from anew.tools.sql.rows import SQL_BATCH_ROWS, SqlRows, StatementResults
from anew.values import Object


class PostgresTool:
    """Runs statements in PostgreSQL; see docs/reference/tools/postgres.md."""

    queues = True

    def __init__(self) -> None:
        self._connections = Connections()
        self._scripts = Scripts()

    async def call(self, call: Call) -> Outcome:
        try:
            inputs = await with_script(self._scripts, call)
            request = request_of(inputs, once=call.once)
            conninfo = conninfo_of(call.inputs.get("auth"), call.inputs.get("database"))
            bound = _bound(request)
            async with self._connections.lend(
                conninfo, call.timeout, begins=call.begins
            ) as connection:
                result = await _run_all(connection, request, bound)
        except SqlFailure as failure:
            return failure.outcome()
        except ScriptFailure as failure:
            return failure.outcome
        return outcome_of(result)

    async def close(self) -> None:
        await self._connections.close()
        await self._scripts.close()


def _bound(request: SqlRequest) -> list[BoundStatement]:
    supply = Supply(request.params)
    bound = [bind(s, supply) for s in statements_of(request.texts, request.params)]
    supply.finish()
    return bound


async def _run_all(
    connection: Connection, request: SqlRequest, bound: Sequence[BoundStatement]
) -> Object:
    total = len(bound)
    with _naming(1, total):
        if request.once is not None:
            made = await begin_once(connection, request.once, bound)
            if made is not None:
                return made
        elif request.needs_begin(is_alone=total == 1):
            await connection.execute("BEGIN")
    results = StatementResults()
    for number, statement in enumerate(bound, 1):
        with _naming(number, total):
            results.add(await _run(connection, statement))
    result = results.result()
    if request.once is not None:
        with _naming(total, total):
            await record(connection, request.once, result)
    await _end(connection, request, total)
    return result


async def _end(connection: Connection, request: SqlRequest, total: int) -> None:
    if connection.info.transaction_status is TransactionStatus.IDLE:
        return
    if not request.is_transaction:
        raise wrong_input("the statements leave a transaction open, so it was rolled back")
    # Constraints that wait for the end are checked here.
    with _naming(total, total):
        await connection.execute("COMMIT")


async def _run(connection: Connection, statement: BoundStatement) -> SqlRows:
    cursor = StreamCursor(connection)
    values = [bindable(argument) for argument in statement.arguments]
    if statement.is_query:
        return await stream_rows(cursor, statement.sql, values)
    await cursor.execute(statement.sql, values or None)
    if cursor.description is None:
        return SqlRows(affected=max(cursor.rowcount, 0))
    rows = rows_like(cursor)
    while batch := await cursor.fetchmany(SQL_BATCH_ROWS):
        rows.add(batch)
    return rows


@contextmanager
def _naming(number: int, total: int) -> Iterator[None]:
    """What psycopg raises inside becomes a failure with a kind."""
    try:
        yield
    except psycopg.Error as error:
        raise running_failure(error, number, total) from None
