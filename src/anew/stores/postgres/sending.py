"""Has one statement done that takes bytes and answers with one value.

psycopg's own way suits any statement and any value, and costs as much as everything else in a
commit. The one statement by which runs go on is sent by hand, prepared once for a connection.
Knows libpq. Does not know what is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, Format
from psycopg.pq.abc import PGconn, PGresult

from anew.stores.postgres.connection import Connection

_ROWS = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)
# Which statements a connection has prepared. Others than these are none of ours.
_prepared: WeakKeyDictionary[Connection, dict[bytes, bytes]] = WeakKeyDictionary()


async def value_of(
    connection: Connection, statement: bytes, values: Sequence[bytes | None]
) -> bytes | None:
    """What it answers, in binary. Its values have the form that it takes, `$1` being the first."""
    pgconn, formats = connection.pgconn, [Format.BINARY] * len(values)
    if connection.prepare_threshold is None:
        # Behind a pooler, the next statement may reach a server process that did not prepare it.
        pgconn.send_query_params(
            statement, values, param_formats=formats, result_format=Format.BINARY
        )
    else:
        name = await _name_of(connection, statement)
        pgconn.send_query_prepared(name, values, param_formats=formats, result_format=Format.BINARY)
    result = await _result(pgconn)
    return result.get_value(0, 0) if result.ntuples else None


async def _name_of(connection: Connection, statement: bytes) -> bytes:
    names = _prepared.setdefault(connection, {})
    name = names.get(statement)
    if name is None:
        name = b"anew_%d" % len(names)
        connection.pgconn.send_prepare(name, statement)
        await _result(connection.pgconn)
        names[statement] = name
    return name


async def _result(pgconn: PGconn) -> PGresult:
    """The last there is, once it is there; psycopg's errors."""
    while pgconn.flush():
        await _ready(pgconn.socket, is_written=True)
        pgconn.consume_input()
    found: PGresult | None = None
    while True:
        while pgconn.is_busy():
            await _ready(pgconn.socket)
            pgconn.consume_input()
        result = pgconn.get_result()
        if result is None:
            break
        found = result
    assert found is not None, "every statement has a result"
    if found.status not in _ROWS:
        raise error_from_result(found)
    return found


async def _ready(socket: int, *, is_written: bool = False) -> None:
    """Until there is something to read, or room to write if that is wanted."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()

    def tell() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(socket, tell)
    if is_written:
        loop.add_writer(socket, tell)
    try:
        await ready
    finally:
        loop.remove_reader(socket)
        if is_written:
            loop.remove_writer(socket)
