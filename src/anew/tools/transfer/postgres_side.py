"""PostgreSQL as a side of a transfer.

A source is read with a cursor of the server. A target gets each batch as one JSON text, which the
server itself turns into the types of the table.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from typing import Any

import psycopg

from anew.program.transfer import TransferMode
from anew.tools.postgres.adapting import bindable
from anew.tools.postgres.connections import Connection, Connections
from anew.tools.postgres.credential import conninfo_of
from anew.tools.postgres.failures import running_failure
from anew.tools.postgres.statements import bind, statements_of
from anew.tools.sql.failure import SqlFailure, wrong_input
from anew.tools.sql.request import Supply
from anew.tools.sql.values import json_value
from anew.tools.transfer.embedded import taken
from anew.tools.transfer.keyed_rows import KeyedRows
from anew.tools.transfer.onto_itself import empties_its_source, refuse_own_table
from anew.tools.transfer.plan import Side, TransferPlan
from anew.tools.transfer.resources import TransferResources
from anew.tools.transfer.sides import Batch, Copied, Row
from anew.tools.transfer.statements import (
    PROGRESS_TABLE,
    TRANSFER_KEPT_SECONDS_MAX,
    ProgressTexts,
    beside,
    columns_of,
    last_by_key,
    on_conflict,
    quoted,
    require_key,
    table_name,
)
from anew.values import Value, json_text

_ORDER = "ORDER BY source::text"
_NUMBER = "anew_transfer_number"
_CURSOR = "anew_transfer_rows"
# Two calls that create the table at the same time: one of them is told that it exists.
_EXISTS = ("23505", "42P07")


def source_of(side: Side, resources: TransferResources) -> PostgresSource:
    return PostgresSource(side, resources.sources)


def target_of(plan: TransferPlan, resources: TransferResources) -> PostgresTarget:
    return PostgresTarget(plan, resources.targets)


class PostgresSource:
    """The rows of a query."""

    def __init__(self, side: Side, connections: Connections) -> None:
        self._side = side
        self._connections = connections
        self._conninfo = _conninfo(side)

    async def batches(self, position: Value, size: int) -> AsyncGenerator[Batch, None]:
        rows = KeyedRows(self._side, position)
        asked = rows.query(order=_ORDER)
        supply = Supply(asked.params)
        found = [bind(one, supply) for one in statements_of([asked.text], asked.params)]
        supply.finish()
        if len(found) != 1:
            raise wrong_input("`source.query` must be one statement that gives rows")
        values = [bindable(argument) for argument in found[0].arguments]
        timeout = self._side.call.timeout
        async with self._connections.lend(self._conninfo, timeout, begins=_nothing) as link:
            with _naming():
                await link.execute("BEGIN READ ONLY")
                declare = f"DECLARE {_CURSOR} NO SCROLL CURSOR FOR {found[0].sql}"
                await link.execute(declare, values or None)
                if rows.skipped:
                    await link.execute(f"MOVE FORWARD {rows.skipped} FROM {_CURSOR}")
            while True:
                with _naming():
                    cursor = await link.execute(f"FETCH FORWARD {size} FROM {_CURSOR}")
                    rows.name([column.name for column in cursor.description or ()])
                    fetched = await cursor.fetchall()
                if not fetched:
                    return
                yield rows.batch(fetched)


class PostgresTarget:
    """A table."""

    def __init__(self, plan: TransferPlan, connections: Connections) -> None:
        side = plan.target
        self._plan = plan
        self._connections = connections
        self._conninfo = _conninfo(side)
        self._table = table_name(str(side.text("table")), folds=True)
        self._key = side.names("key")
        if empties_its_source(plan) and _conninfo(plan.source) == self._conninfo:
            refuse_own_table()
        progress = side.text("progress")
        own = beside(self._table, PROGRESS_TABLE)
        self._texts = ProgressTexts(
            table_name(progress, folds=True) if progress else own, is_numbered=True
        )
        self._open = AsyncExitStack()

    async def begin(self) -> Copied:
        timeout = self._plan.target.call.timeout
        lent = self._connections.lend(self._conninfo, timeout, begins=_nothing)
        self._link: Connection = await self._open.enter_async_context(lent)
        await self._make_progress_table()
        with _naming():
            cursor = await self._link.execute(self._texts.read, [self._plan.key])
            found = await cursor.fetchone()
        if found is not None:
            place, rows, batches, is_done = found
            return Copied(place and json.loads(place), rows, batches, bool(is_done))
        await self._add_progress()
        return Copied()

    async def _make_progress_table(self) -> None:
        """Looked for first: whoever may not create tables may use one that is there."""
        with _naming():
            cursor = await self._link.execute("SELECT to_regclass($1)", [self._texts.table])
            found = await cursor.fetchone()
        if found is not None and found[0] is not None:
            return
        try:
            with _naming():
                await self._link.execute(self._texts.create)
        except SqlFailure as failure:
            if failure.code in _EXISTS:
                return
            remedy = (
                f"the transfer keeps how far it is in the table {self._texts.table}, which it "
                f"could not create: let someone run `{self._texts.create}`, or name another "
                "with `target.progress`"
            )
            failure.message = f"{failure.message} ({remedy})"
            raise

    async def _add_progress(self) -> None:
        now = int(time.time())
        with _naming():
            async with self._link.transaction():
                await self._link.execute(self._texts.forget, [now - TRANSFER_KEPT_SECONDS_MAX])
                await self._change(self._texts.add, [self._plan.key, now])
                if self._plan.mode is TransferMode.REPLACE:
                    await self._link.execute(f"DELETE FROM {self._table}")

    async def write(self, rows: list[Row], before: Copied, after: Copied) -> None:
        values = [json_text(after.position), after.rows, after.batches, int(after.is_done)]
        where = [int(time.time()), self._plan.key, before.batches]
        with _naming():
            async with self._link.transaction():
                await self._change(self._texts.advance, [*values, *where])
                if rows:
                    await self._insert(rows)

    async def _change(self, sql: str, values: Sequence[Value]) -> None:
        """Change one row of the progress; no row means that another call was faster."""
        cursor = await self._link.execute(sql, list(values))
        if cursor.rowcount != 1:
            raise taken()

    async def _insert(self, rows: list[Row]) -> None:
        columns = columns_of(rows)
        names = ", ".join(map(quoted, columns))
        given = f"json_populate_recordset(NULL::{self._table}, $1::json)"
        query = f"SELECT {names} FROM {given}"
        if self._plan.mode is TransferMode.UPSERT:
            require_key(rows, self._key)
            counted = f"(SELECT {names}, row_number() OVER () AS {_NUMBER} FROM {given}) AS given"
            query = last_by_key(counted, names, self._key, number=_NUMBER)
        conflict = on_conflict(columns, self._key, self._plan.mode)
        await self._link.execute(
            f"INSERT INTO {self._table} ({names}) {query}{conflict}",
            [json_text([{name: _in_json(value) for name, value in row.items()} for row in rows])],
        )

    async def close(self) -> None:
        await self._open.aclose()


def _nothing() -> None:
    """A transfer does not say that it waits for a connection."""


def _conninfo(side: Side) -> str:
    return conninfo_of(side.inputs.get("auth"), side.inputs.get("database"))


def _in_json(value: object) -> Any:
    """A value in the JSON that the server reads: bytes and odd numbers in its own notation."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"\\x{bytes(value).hex()}"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [_in_json(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _in_json(item) for key, item in value.items()}
    return json_value(value)


@contextmanager
def _naming() -> Iterator[None]:
    """What psycopg raises inside becomes a failure with a kind."""
    try:
        yield
    except psycopg.Error as error:
        raise running_failure(error, 1, 1) from None
