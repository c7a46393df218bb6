"""Answers questions about the file beside the writer, each from one consistent view of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import apsw

from anew.store import StoreError, StoreGone
from anew.stores.sqlite.connection import damaged, store_error
from anew.stores.sqlite.files import Loss, ReadFiles

T = TypeVar("T")


class Reader:
    """One connection that cannot write, and the thread that uses it.

    No view outlives its question, so that the writer's log can start over. What was read of files
    that are not there any more is not told.
    """

    def __init__(
        self, connection: apsw.Connection, path: str, *, files: ReadFiles, loss: Loss
    ) -> None:
        self._connection = connection
        self._path = path
        self._files = files
        self._loss = loss
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="anew-sqlite-reader")
        self._is_closed = False

    async def ask(self, question: Callable[[apsw.Connection], T]) -> T:
        """What `question` returns; it sees everything that was committed before."""
        if self._is_closed:
            raise StoreError(f"database {self._path} is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._read, question)

    async def close(self) -> None:
        """Answer what was asked before, then close the connection."""
        if not self._is_closed:
            self._is_closed = True
            await asyncio.get_running_loop().run_in_executor(self._thread, self._connection.close)
            self._thread.shutdown(wait=False)

    def _read(self, question: Callable[[apsw.Connection], T]) -> T:
        self._loss.refuse()
        try:
            found = self._view(question)
            self._files.check()
        except StoreGone as gone:
            self._loss.tell(gone)
            raise
        except apsw.Error as error:
            raise self._failure(error) from error
        return found

    def _view(self, question: Callable[[apsw.Connection], T]) -> T:
        self._connection.execute("BEGIN")
        try:
            return question(self._connection)
        except ValueError as error:  # text that is no text, a word that is no status
            raise damaged(self._path, error) from error
        finally:
            # Some failures end it by themselves.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _failure(self, error: apsw.Error) -> StoreError:
        """What to tell of it. That the files are gone explains whatever SQLite makes of that."""
        try:
            self._files.check()
        except StoreGone as gone:
            self._loss.tell(gone)
            return gone
        return store_error(self._path, error)
