"""SQLite as a side of a transfer.

The rows of a source are first copied to a temporary table: the file is not locked while they are
written elsewhere, which may be the same file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Any

import apsw
import apsw.ext

from anew.tools.inputs import BadInput
from anew.tools.sql.embedded import SqlJob
from anew.tools.sql.request import Supply
from anew.tools.sql.threads import Interruption
from anew.tools.sql.values import json_value
from anew.tools.sqlite import bindings_of, connected, naming
from anew.tools.transfer.embedded import EmbeddedWriter, Into, existing_database
from anew.tools.transfer.keyed_rows import KeyedRows
from anew.tools.transfer.plan import Side, TransferPlan
from anew.tools.transfer.resources import TransferResources
from anew.tools.transfer.sides import Batch
from anew.tools.transfer.statements import SourceQuery
from anew.tools.transfer.threaded import ThreadedSource, ThreadedTarget
from anew.values import Value, json_text

_ROWS = "temp.anew_transfer_rows"


def source_of(side: Side, resources: TransferResources) -> ThreadedSource:
    return ThreadedSource(SqliteReader(side), resources.threads)


def target_of(plan: TransferPlan, resources: TransferResources) -> ThreadedTarget:
    return ThreadedTarget(EmbeddedWriter(plan, sqlite_link), resources.threads)


class SqliteReader:
    """The rows of a query on a SQLite file."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._job = existing_database(side)
        self._open = ExitStack()

    def open(self, position: Value, interruption: Interruption) -> None:
        link = self._link = self._open.enter_context(connected(self._job, interruption))
        rows = self._rows = KeyedRows(self._side, position)
        with interruption.reaching(link.interrupt), naming():
            columns = _columns(link, rows.base)
            places = ", ".join(str(number) for number in range(1, len(columns) + 1))
            rows.name(columns)
            _copy(link, rows.query(order=f"ORDER BY {places}"))
        self._cursor = link.execute(f"SELECT * FROM {_ROWS} LIMIT -1 OFFSET ?", (rows.skipped,))

    def read(self, count: int, interruption: Interruption) -> Batch:
        with interruption.reaching(self._link.interrupt), naming():
            return self._rows.batch(list(islice(self._cursor, count)))

    def close(self) -> None:
        self._open.close()


def _columns(link: apsw.Connection, query: str) -> list[str]:
    found = apsw.ext.query_info(link, query)
    if found.query_remaining is not None or not found.description:
        raise BadInput("`source.query` must be one statement that gives rows")
    return [column[0] for column in found.description]


def _copy(link: apsw.Connection, asked: SourceQuery) -> None:
    supply = Supply(asked.params)
    bindings = bindings_of(apsw.ext.query_info(link, asked.text), supply)
    supply.finish()
    link.execute(f"CREATE TABLE {_ROWS} AS {asked.text}", bindings)


class SqliteLink:
    """A connection to SQLite, in a transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, values: Sequence[Value]) -> list[tuple[Any, ...]]:
        return list(self._connection.execute(sql, tuple(values)))

    def change(self, sql: str, values: Sequence[Value]) -> int:
        before = self._connection.total_changes()
        self._connection.execute(sql, tuple(values))
        return self._connection.total_changes() - before

    def insert(self, into: Into, rows: list[list[object]]) -> None:
        """Each row is a statement of its own, so a later one changes an earlier one."""
        marks = ", ".join("?" * len(rows[0]))
        found = [tuple(map(_bindable, row)) for row in rows]
        self._connection.executemany(f"{into.start} VALUES ({marks}){into.conflict}", found)


@contextmanager
def sqlite_link(job: SqlJob, interruption: Interruption) -> Iterator[SqliteLink]:
    with connected(job, interruption) as link, interruption.reaching(link.interrupt), naming():
        link.execute("BEGIN IMMEDIATE")
        yield SqliteLink(link)
        link.execute("COMMIT")


def _bindable(value: object) -> Any:
    if value is None or isinstance(value, (str, int, float, bytes)):
        is_large = isinstance(value, int) and not -(2**63) <= value < 2**63
        return str(value) if is_large else value
    shown = json_value(value)
    return json_text(shown) if isinstance(shown, (dict, list)) else shown
