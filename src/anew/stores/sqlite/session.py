"""Has shared work done on the file: what reads by the reader, what writes by the writer."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, Protocol, TypeVar

import apsw

from anew.store import StoreError
from anew.stores.sql.dialect import SqlDialect, Steps
from anew.stores.sqlite.reader import Reader
from anew.stores.sqlite.writer import Work

T = TypeVar("T")


def _translate(statement: str) -> str:
    return statement.replace("anew.", "")


SQLITE = SqlDialect(
    translate=_translate,
    to_text=str,
    from_text=str,
    free="is_leased = 0",
    of_any="is_leased IN (0, 1) AND ",
    contains="{} LIKE ? ESCAPE '\\'",
    labels_contain="labels LIKE ? ESCAPE '\\'",
    since="run IN (SELECT run FROM anew.runs WHERE created_at >= ?)",
    index="INDEXED BY {}",
    lock_versions="",
    lock_name="",
    skip_locked="",
)


class SqliteWrites(Protocol):
    """Does work in a transaction."""

    async def do(self, work: Work[T]) -> T: ...

    async def close(self) -> None: ...


class ReadOnlyFile:
    """What a database opened for reading has instead of a writer."""

    def __init__(self, path: str) -> None:
        self._path = path

    async def do(self, work: Work[T]) -> NoReturn:
        del work
        raise StoreError(
            f"database {self._path} is open for reading only. Its owner can change it."
        )

    async def close(self) -> None:
        pass


class SqliteSession:
    def __init__(self, writer: SqliteWrites, reader: Reader) -> None:
        self._writer = writer
        self._reader = reader

    async def read(self, work: Callable[..., Steps[T]], *values: object) -> T:
        return await self._reader.ask(lambda db: perform(db, work(SQLITE, *values)))

    async def write(self, work: Callable[..., Steps[T]], *values: object) -> T:
        return await self._writer.do(lambda db: perform(db, work(SQLITE, *values)))

    transact = write


def perform(connection: apsw.Connection, steps: Steps[T]) -> T:
    """One statement after the other, each of which gets its rows."""
    try:
        statement, values = next(steps)
        while True:
            rows = connection.execute(_translate(statement), tuple(values)).fetchall()
            statement, values = steps.send(rows)
    except StopIteration as end:
        result: T = end.value
        return result
