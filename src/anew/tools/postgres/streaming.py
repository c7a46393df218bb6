"""Rows as the server sends them, so that a table too large for a result never fills the memory."""

from __future__ import annotations

from typing import Any

from psycopg import AsyncRawCursor, capabilities
from psycopg.abc import PQGen
from psycopg.generators import fetch
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from anew.tools.sql.rows import SQL_BATCH_ROWS, SqlRows

_ROWS = (ExecStatus.SINGLE_TUPLE, ExecStatus.TUPLES_CHUNK)


class StreamCursor(AsyncRawCursor[tuple[Any, ...]]):
    """psycopg's cursor, which also knows the columns of a streamed result without rows.

    A psycopg that calls the overridden method no more leaves them out; nothing else changes.
    """

    def _stream_fetchone_gen(self, first: bool) -> PQGen[PGresult | None]:
        result: PGresult | None = yield from fetch(self._pgconn)
        if result is None:
            return None
        if result.status in _ROWS:
            self._show(result, is_first=first)
            return result
        if result.status != ExecStatus.TUPLES_OK:
            self._raise_for_result(result)
        if first:
            self._show(result, is_first=True)
        while (yield from fetch(self._pgconn)) is not None:
            pass
        return None

    def _show(self, result: PGresult, *, is_first: bool) -> None:
        self.pgresult = result
        self._tx.set_pgresult(result, set_loaders=is_first)
        if is_first:
            self._make_row = self._make_row_maker()


async def stream_rows(cursor: StreamCursor, sql: str, values: list[Any]) -> SqlRows:
    """The rows of a query; stops asking for more as soon as they are too many."""
    size = SQL_BATCH_ROWS if capabilities.has_stream_chunked() else 1
    rows: SqlRows | None = None
    stream = cursor.stream(sql, values or None, size=size)
    try:
        async for row in stream:
            rows = rows or rows_like(cursor)
            rows.add([row])
    finally:
        # Ends the query on the server when not all of it was read.
        await stream.aclose()  # type: ignore[attr-defined]
    return rows or rows_like(cursor)


def rows_like(cursor: AsyncRawCursor[tuple[Any, ...]]) -> SqlRows:
    """No rows yet, with the columns of the cursor."""
    return SqlRows([column.name for column in cursor.description or ()])
