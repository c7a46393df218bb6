"""What SQLite and DuckDB share as sides of a transfer: their files, and a table with progress.

Each batch has a connection of its own, so that no lock is held between batches.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from anew.program.transfer import TransferMode
from anew.tools.inputs import BadInput
from anew.tools.sql.embedded import SqlJob, file_of_run, job_of
from anew.tools.sql.failure import SqlFailure
from anew.tools.sql.request import MEMORY, SqlRequest
from anew.tools.sql.threads import Interruption
from anew.tools.transfer.onto_itself import (
    empties_its_source,
    is_one_file,
    refuse_own_table,
)
from anew.tools.transfer.plan import Side, TransferPlan
from anew.tools.transfer.sides import Copied, Row
from anew.tools.transfer.statements import (
    PROGRESS_TABLE,
    TRANSFER_KEPT_SECONDS_MAX,
    ProgressTexts,
    beside,
    columns_of,
    on_conflict,
    quoted,
    require_key,
    table_name,
)
from anew.values import Value, json_text

_NO_REQUEST = SqlRequest((), None, is_transaction=True)


class Into(Struct, frozen=True):
    """What rows are added to: a table and its columns, quoted; for `upsert`, the key too."""

    table: str
    names: str
    key: Sequence[str]
    conflict: str

    @property
    def start(self) -> str:
        return f"INSERT INTO {self.table} ({self.names})"


class Link(Protocol):
    """A connection in a transaction that is committed when its block ends well."""

    def rows(self, sql: str, values: Sequence[Value]) -> list[tuple[Any, ...]]: ...

    def change(self, sql: str, values: Sequence[Value]) -> int:
        """The number of rows that were changed."""

    def insert(self, into: Into, rows: list[list[object]]) -> None:
        """Add rows. Of rows with the same key, the last one counts."""


Connect = Callable[[SqlJob, Interruption], AbstractContextManager[Link]]


def database_job(side: Side) -> SqlJob:
    """The database of a side, as a job without statements."""
    return job_of(side.call, file_of_run(side.kind.name), _NO_REQUEST)


def existing_database(side: Side) -> SqlJob:
    """The database of a source, which is not made when it is missing."""
    job = database_job(side)
    if not job.is_of_run and job.database != MEMORY and not Path(job.database).is_file():
        raise SqlFailure("reference", f"there is no database {side.inputs['database']!r}")
    return job


def taken() -> SqlFailure:
    """The failure of a call that is not the newest of its transfer."""
    return SqlFailure("db_deadlock", "deadlock: another call of this transfer wrote this batch")


class EmbeddedWriter:
    """A table of SQLite or DuckDB as a target."""

    def __init__(self, plan: TransferPlan, connect: Connect) -> None:
        side = plan.target
        self._plan = plan
        self._connect = connect
        self._table = table_name(str(side.text("table")), folds=side.kind.folds_names)
        self._key = side.names("key")
        self._job = database_job(side)
        if self._job.database == MEMORY:
            raise BadInput("`target.database` cannot be :memory:, which nothing can read later")
        if empties_its_source(plan):
            source = database_job(plan.source).database
            if source != MEMORY and is_one_file(source, self._job.database):
                refuse_own_table()
        progress = side.text("progress")
        own = beside(self._table, PROGRESS_TABLE)
        self._texts = ProgressTexts(
            table_name(progress, folds=False) if progress else own, is_numbered=False
        )

    def begin(self, interruption: Interruption) -> Copied:
        now = int(time.time())
        with self._connect(self._job, interruption) as link:
            link.change(self._texts.create, [])
            found = link.rows(self._texts.read, [self._plan.key])
            if found:
                place, rows, batches, is_done = found[0]
                return Copied(place and json.loads(place), rows, batches, bool(is_done))
            link.change(self._texts.forget, [now - TRANSFER_KEPT_SECONDS_MAX])
            if not link.change(self._texts.add, [self._plan.key, now]):
                raise taken()
            if self._plan.mode is TransferMode.REPLACE:
                link.change(f"DELETE FROM {self._table}", [])
        return Copied()

    def write(
        self,
        rows: list[Row],
        before: Copied,
        after: Copied,
        interruption: Interruption,
    ) -> None:
        values = [json_text(after.position), after.rows, after.batches, int(after.is_done)]
        where = [int(time.time()), self._plan.key, before.batches]
        with self._connect(self._job, interruption) as link:
            if not link.change(self._texts.advance, [*values, *where]):
                raise taken()
            if rows:
                self._insert(link, rows)

    def _insert(self, link: Link, rows: list[Row]) -> None:
        mode = self._plan.mode
        key = self._key if mode is TransferMode.UPSERT else []
        require_key(rows, key)
        columns = columns_of(rows)
        names = ", ".join(map(quoted, columns))
        into = Into(self._table, names, key, on_conflict(columns, key, mode))
        link.insert(into, [[row.get(column) for column in columns] for row in rows])

    def close(self) -> None:
        """Nothing is kept open between batches."""
