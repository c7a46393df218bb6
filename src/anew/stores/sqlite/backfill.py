"""Writes what runs are found by that failed before it was written with them.

Those of one batch while the file is opened, so that few of them are found at once; more of them in
a thread, while others read and write. Who stops in between goes on when it opens the file again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any

import apsw
import msgspec

from anew.store import StoreError
from anew.stores.packing import failure_of
from anew.stores.sqlite.connection import transaction
from anew.stores.sqlite.writer import SqliteWriter

# Others wait for one batch: about 30 ms.
MARKED_AT_ONCE = 500
UNMARKED = """
SELECT run, error FROM runs INDEXED BY runs_unmarked
WHERE status = 'failed' AND fingerprint IS NULL ORDER BY run DESC LIMIT ?
"""
_MARK = """
UPDATE runs SET error_kind = ?, error_message = ?, fingerprint = ?
WHERE run = ? AND status = 'failed' AND fingerprint IS NULL
"""
_LOG = logging.getLogger(__name__)


def mark_some(connection: apsw.Connection) -> bool:
    """The newest; whether there are more."""
    with transaction(connection):
        found = _unmarked(connection)
        connection.executemany(_MARK, _marks(found))
    return len(found) == MARKED_AT_ONCE


class FailureBackfill:
    """Of one file; `writer` is its own."""

    def __init__(self, writer: SqliteWriter, path: str) -> None:
        self._writer = writer
        self._path = path
        self._thread: Thread | None = None

    def begin(self) -> None:
        """Mark all there are, until the writer is closed."""
        _LOG.warning(
            "database %s: runs that failed under an earlier version are being indexed by their "
            "errors. Until that is done, lists of failures are not whole.",
            self._path,
        )
        self._thread = Thread(target=self._mark_all, name="anew-sqlite-marking", daemon=True)
        self._thread.start()

    async def ended(self) -> None:
        """Once it is done, or was stopped."""
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _mark_all(self) -> None:
        # A disk that is full says so to whoever needs it; the next opening goes on.
        with suppress(StoreError):
            while found := self._writer.do_here(_unmarked):
                marks = _marks(found)  # others may write meanwhile
                self._writer.do_here(partial(_write, marks=marks))


def _unmarked(connection: apsw.Connection) -> list[Any]:
    return connection.execute(UNMARKED, (MARKED_AT_ONCE,)).fetchall()


def _marks(found: Sequence[tuple[int, str | None]]) -> list[tuple[str, str, str, int]]:
    return [_mark(run, error) for run, error in found]


def _mark(run: int, error: str | None) -> tuple[str, str, str, int]:
    failure = failure_of(msgspec.json.decode(error) if error is not None else None)
    return failure.kind, failure.message, failure.fingerprint, run


def _write(connection: apsw.Connection, marks: Sequence[tuple[str, str, str, int]]) -> None:
    connection.executemany(_MARK, marks)
