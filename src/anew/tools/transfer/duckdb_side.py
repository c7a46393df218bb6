"""DuckDB as a side of a transfer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from typing import Any

import duckdb

from anew.tools.duckdb import connected, naming, values_of, with_json
from anew.tools.inputs import BadInput
from anew.tools.sql.embedded import SqlJob
from anew.tools.sql.request import Supply
from anew.tools.sql.threads import Interruption
from anew.tools.sql.values import json_value
from anew.tools.transfer.embedded import EmbeddedWriter, Into, existing_database
from anew.tools.transfer.keyed_rows import KeyedRows
from anew.tools.transfer.plan import Side, TransferPlan
from anew.tools.transfer.resources import TransferResources
from anew.tools.transfer.sides import Batch
from anew.tools.transfer.statements import last_by_key
from anew.tools.transfer.threaded import ThreadedSource, ThreadedTarget
from anew.values import Value, json_text

# Values in one statement: few enough to be parsed quickly, and much faster than row by row.
_VALUES_MAX = 2000
_ROWS = "temp.anew_transfer_rows"


def source_of(side: Side, resources: TransferResources) -> ThreadedSource:
    return ThreadedSource(DuckdbReader(side), resources.threads)


def target_of(plan: TransferPlan, resources: TransferResources) -> ThreadedTarget:
    return ThreadedTarget(EmbeddedWriter(plan, duckdb_link), resources.threads)


class DuckdbReader:
    """The rows of a query on DuckDB, which gives them as they are asked for."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._job = existing_database(side)
        self._open = ExitStack()

    def open(self, position: Value, interruption: Interruption) -> None:
        link = self._link = self._open.enter_context(connected(self._job))
        rows = self._rows = KeyedRows(self._side, position)
        asked = rows.query(order="ORDER BY ALL")
        with interruption.reaching(link.interrupt), naming():
            statements = link.extract_statements(asked.text)
            if len(statements) != 1:
                raise BadInput("`source.query` must be one statement that gives rows")
            supply = Supply(asked.params)
            values = values_of(statements[0], supply)
            supply.finish()
            link.execute(statements[0], values)
            self._name(rows)
            self._skip(rows.skipped, interruption)

    def _name(self, rows: KeyedRows) -> None:
        description = self._link.description or []
        rows.name([str(column[0]) for column in description])
        types = [str(column[1]) for column in description]
        self._json = [place for place, name in enumerate(types) if name == "JSON"]

    def _skip(self, count: int, interruption: Interruption) -> None:
        while count:
            interruption.raise_if_stopped()
            found = len(self._link.fetchmany(min(count, _VALUES_MAX)))
            count = count - found if found else 0

    def read(self, count: int, interruption: Interruption) -> Batch:
        with interruption.reaching(self._link.interrupt), naming():
            found = self._link.fetchmany(count)
        return self._rows.batch([with_json(row, self._json) for row in found])

    def close(self) -> None:
        self._open.close()


class DuckdbLink:
    """A connection to DuckDB, in a transaction."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def rows(self, sql: str, values: Sequence[Value]) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, list(values)).fetchall()

    def change(self, sql: str, values: Sequence[Value]) -> int:
        """DuckDB gives the number of changed rows as a row of its own."""
        found = self._connection.execute(sql, list(values)).fetchone()
        return int(found[0]) if found and isinstance(found[0], int) else 0

    def insert(self, into: Into, rows: list[list[object]]) -> None:
        if not into.key:
            self._add(into.start, rows)
            return
        # They first get the types of the columns, by which keys are compared.
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {_ROWS} AS SELECT {into.names} FROM {into.table} LIMIT 0"
        )
        self._add(f"INSERT INTO {_ROWS} ({into.names})", rows)
        last = last_by_key(_ROWS, into.names, into.key, number="rowid")
        self._connection.execute(f"{into.start} {last}{into.conflict}")

    def _add(self, start_of_sql: str, rows: list[list[object]]) -> None:
        marks = f"({', '.join('?' * len(rows[0]))})"
        size = max(1, _VALUES_MAX // max(1, len(rows[0])))
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            values = [_bindable(value) for row in part for value in row]
            self._connection.execute(
                f"{start_of_sql} VALUES {', '.join([marks] * len(part))}", values
            )


@contextmanager
def duckdb_link(job: SqlJob, interruption: Interruption) -> Iterator[DuckdbLink]:
    interruption.raise_if_stopped()
    with connected(job) as link, interruption.reaching(link.interrupt), naming():
        link.begin()
        yield DuckdbLink(link)
        link.commit()


def _bindable(value: object) -> Any:
    """What DuckDB takes, and casts to the type of the column."""
    if value is None or isinstance(value, (str, int, float, bytes)):
        return value
    if isinstance(value, Decimal):
        return str(value)
    shown = json_value(value)
    return json_text(shown) if isinstance(shown, (dict, list)) else shown
