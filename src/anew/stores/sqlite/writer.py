"""The one place that writes: it does what is asked in transactions, as few as possible.

What arrives while a transaction is being flushed shares the next one. A piece of work that is
refused (it reads before it writes) does not disturb the others; one that fails unexpectedly is
found by doing each of the group alone.
Knows transactions and threads. Does not know what the work is.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import Enum, auto
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeAlias, TypeVar

import apsw
from msgspec import Struct

from anew.errors import AnewError
from anew.store import StoreError, StoreGone
from anew.stores.crash_points import crash_point
from anew.stores.sqlite.connection import BUSY_MILLISECONDS, store_error
from anew.stores.sqlite.files import Loss, OpenFiles

T = TypeVar("T")
Work: TypeAlias = Callable[[apsw.Connection], T]

# One transaction holds no more than this, so that the first in it does not wait for ever.
GROUP_MAX = 1_000
# Changing threads twice costs about 0.1 ms. While the disk flushes as quickly as this, a lone
# piece of work is done where it is asked for; the loop stands still no longer than for a callback.
QUICK_FLUSH_SECONDS = 0.000_5
# A task that writes without a pause lets the others of its loop go on after this.
TURN_SECONDS_MAX = 0.002
# About 1 MB. A log that is written anew from its start is flushed more quickly than one that grows,
# so a small one makes the first thousand commits of a file a tenth quicker than SQLite's own 1,000
# pages would, and the later ones no slower.
CHECKPOINT_PAGES = 250
# A log that readers kept from starting over for so long makes the writer wait for them.
RESTART_PAGES = 16_000
RESTART_MILLISECONDS = 1_000


class _Signal(Enum):
    """What the thread may be told beside work."""

    CHECKPOINT = auto()
    STOP = auto()


class _PendingWrite(Struct):
    work: Work[Any]
    future: asyncio.Future[Any]


class _Answer(Struct):
    future: asyncio.Future[Any]
    result: Any = None
    error: Exception | None = None


class SqliteWriter:
    """Owns the writing connection. Whoever holds `_lock` uses it: the thread, or a lone caller.

    Another thread is one, too.

    The queue needs no bound of its own: every entry has a caller that waits for it.
    Nobody hears of a commit before `files` are found to be those that were opened; once they are
    not, there is a `loss`, and nothing is written any more.
    """

    def __init__(
        self, connection: apsw.Connection, path: str, *, files: OpenFiles, loss: Loss
    ) -> None:
        self._connection = connection
        self._files = files
        self._loss = loss
        self._cursor = connection.cursor()
        self._path = path
        self._crash_point = crash_point()
        self._lock = Lock()
        self._queue: SimpleQueue[_PendingWrite | _Signal] = SimpleQueue()
        self._flush_seconds = 1.0
        self._lone_caller: asyncio.Task[Any] | None = None
        self._turn_ends = 0.0
        self._is_closed = False
        self._unsettled = 0
        self._changes_before = 0
        self._log_pages = 0
        self._checkpoint_at = CHECKPOINT_PAGES
        self._restart_at = RESTART_PAGES
        self.transactions = 0
        connection.set_wal_hook(self._note_pages)
        self._thread = Thread(target=self._serve, name="anew-sqlite-writer", daemon=True)
        self._thread.start()

    async def do(self, work: Work[T]) -> T:
        """What `work` returns, once everything it wrote is durable."""
        self._refuse_the_end()
        if self._begins_here():
            try:
                result: T = self._alone(work)
            finally:
                self._lock.release()
            if self._log_pages >= self._checkpoint_at:
                self._queue.put(_Signal.CHECKPOINT)
            if time.perf_counter() > self._turn_ends:
                await asyncio.sleep(0)
            return result
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._unsettled += 1
        self._queue.put(_PendingWrite(work, future))
        try:
            return await future
        finally:
            self._unsettled -= 1

    def do_here(self, work: Work[T]) -> T:
        """As `do`, for a thread without an event loop. It waits for its turn."""
        with self._lock:
            self._refuse_the_end()
            result = self._alone(work)
        if self._log_pages >= self._checkpoint_at:
            self._queue.put(_Signal.CHECKPOINT)
        return result

    async def close(self) -> None:
        """Do what was asked before, then close the connection.

        StoreGone if that is when the files are missed: what was told before may be lost.
        """
        if self._is_closed:
            return
        was_lost = self._loss.error is not None
        self._is_closed = True
        self._queue.put(_Signal.STOP)
        await asyncio.to_thread(self._thread.join)
        if not was_lost:
            self._loss.refuse()

    def _refuse_the_end(self) -> None:
        if self._loss.error is not None:
            self._loss.refuse()
        if self._is_closed:
            raise StoreError(f"database {self._path} is closed.")

    def _begins_here(self) -> bool:
        """Take the lock for this caller, where that is quicker than the thread would be.

        Only the first task that writes in a turn of the loop does so at once: the others, who came
        to write at the same time, can share a transaction. Nobody goes before those who asked
        earlier and have not been told yet: what is written first is heard of first.
        """
        if self._flush_seconds > QUICK_FLUSH_SECONDS or self._unsettled:
            return False
        caller = asyncio.current_task()
        if self._lone_caller is not None and self._lone_caller is not caller:
            return False
        if not self._lock.acquire(blocking=False):
            return False
        if self._lone_caller is None:
            self._lone_caller = caller
            self._turn_ends = time.perf_counter() + TURN_SECONDS_MAX
            asyncio.get_running_loop().call_soon(self._end_turn)
        return True

    def _end_turn(self) -> None:
        self._lone_caller = None

    def _alone(self, work: Work[T]) -> T:
        """One piece of work, one transaction."""
        try:
            self._begin()
            result = work(self._connection)
            self._commit()
        except BaseException as error:
            self._roll_back()
            if isinstance(error, (apsw.Error, StoreGone)):
                raise self._failure(error) from error
            raise
        return result

    def _begin(self) -> None:
        self._cursor.execute("BEGIN IMMEDIATE")
        self._changes_before = self._connection.total_changes()

    def _commit(self) -> None:
        """Make it durable, where others will look for it; StoreGone when they would not find it."""
        self._files.check()
        if self._connection.total_changes() == self._changes_before:
            self._cursor.execute("COMMIT")
            return
        if self._crash_point is not None:
            self._crash_point()
        begun = time.perf_counter()
        self._cursor.execute("COMMIT")
        self.transactions += 1
        taken = time.perf_counter() - begun
        if self._crash_point is not None:
            self._crash_point()
        # One slow flush sends the next work to the thread, one quick flush brings it back.
        known = self._flush_seconds
        self._flush_seconds = taken if taken < known else known * 0.8 + taken * 0.2
        self._files.flushed()
        if taken > QUICK_FLUSH_SECONDS:
            self._files.check()  # a slow flush gives time to take them away meanwhile

    def _failure(self, error: apsw.Error | StoreGone) -> StoreError:
        """What to tell of it. That the files are gone explains whatever SQLite makes of that."""
        if isinstance(error, StoreGone):
            self._loss.tell(error)
            return error
        try:
            self._files.check_all()
        except StoreGone as gone:
            self._loss.tell(gone)
            return gone
        return store_error(self._path, error)

    def _roll_back(self) -> None:
        # SQLite may have done so itself; what it cannot undo, the next BEGIN will say.
        with suppress(apsw.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _serve(self) -> None:
        is_open = True
        while is_open:
            group, is_open = self._next_group()
            if group:
                with self._lock:
                    answers = self._together(group)
                # The lock is free by now, so that a lone caller can go on without this thread.
                _deliver(answers)
            if self._log_pages >= self._checkpoint_at:
                with self._lock:
                    self._checkpoint()
        with self._lock:
            self._close()

    def _close(self) -> None:
        try:
            if self._loss.error is None:
                self._files.check_all()
        except StoreGone as gone:
            self._loss.tell(gone)
        # A log that cannot be moved into the file, on a full disk, say, is found by the next owner.
        with suppress(apsw.Error):
            if self._loss.error is not None:
                # SQLite would remove the log by its name, which may be that of another database.
                self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            self._connection.close()

    def _next_group(self) -> tuple[list[_PendingWrite], bool]:
        """What waits by now, after waiting for the first; False once there will be no more."""
        group: list[_PendingWrite] = []
        asked = self._queue.get()
        while asked is not _Signal.STOP:
            if isinstance(asked, _PendingWrite):
                group.append(asked)
            if len(group) == GROUP_MAX or self._queue.empty():
                return group, True
            asked = self._queue.get()
        return group, False

    def _together(self, group: list[_PendingWrite]) -> list[_Answer]:
        """All of the group in one transaction; StoreError for each when it cannot be flushed."""
        wanted = [asked for asked in group if not asked.future.cancelled()]
        try:
            self._loss.refuse()
            self._begin()
        except (apsw.Error, StoreGone) as error:
            return self._refused(wanted, error)
        try:
            answers = [self._answer(asked) for asked in wanted]
        except Exception:
            self._roll_back()
            return [self._answer_alone(asked) for asked in wanted]
        try:
            self._commit()
        except (apsw.Error, StoreGone) as error:
            return self._refused(wanted, error)
        return answers

    def _refused(self, group: list[_PendingWrite], error: apsw.Error | StoreGone) -> list[_Answer]:
        self._roll_back()
        failure = self._failure(error)
        return [_Answer(asked.future, error=failure) for asked in group]

    def _answer(self, asked: _PendingWrite) -> _Answer:
        """A refusal is an answer, because nothing was written; anything else is for the group."""
        try:
            return _Answer(asked.future, asked.work(self._connection))
        except AnewError as refusal:
            return _Answer(asked.future, error=refusal)

    def _answer_alone(self, asked: _PendingWrite) -> _Answer:
        try:
            return _Answer(asked.future, self._alone(asked.work))
        except Exception as error:
            return _Answer(asked.future, error=error)

    def _note_pages(self, connection: apsw.Connection, name: str, pages: int) -> int:
        del connection, name
        if pages < self._log_pages:
            self._checkpoint_at, self._restart_at = CHECKPOINT_PAGES, RESTART_PAGES
        self._log_pages = pages
        return apsw.SQLITE_OK

    def _checkpoint(self) -> None:
        """Move the log into the database file. Not done now means done later: no error."""
        self._checkpoint_at = self._log_pages + CHECKPOINT_PAGES
        try:
            self._loss.refuse()
            self._files.check_all()
        except StoreGone as gone:
            self._loss.tell(gone)
            return
        with suppress(apsw.Error):
            if self._log_pages < self._restart_at:
                self._connection.wal_checkpoint("main", apsw.SQLITE_CHECKPOINT_PASSIVE)
            else:
                self._restart_at = self._log_pages + RESTART_PAGES
                self._restart_log()

    def _restart_log(self) -> None:
        """Wait, though not for ever, until no reader needs the log, so that it begins anew."""
        self._connection.set_busy_timeout(RESTART_MILLISECONDS)
        try:
            self._connection.wal_checkpoint("main", apsw.SQLITE_CHECKPOINT_RESTART)
        finally:
            self._connection.set_busy_timeout(BUSY_MILLISECONDS)


def _deliver(answers: Iterable[_Answer]) -> None:
    """Hand the answers over, waking each loop once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Answer]] = {}
    for answer in answers:
        by_loop.setdefault(answer.future.get_loop(), []).append(answer)
    for loop, theirs in by_loop.items():
        # A loop that was closed meanwhile has nobody left who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, theirs)


def _settle(answers: list[_Answer]) -> None:
    for answer in answers:
        if answer.future.done():
            continue
        if answer.error is not None:
            answer.future.set_exception(answer.error)
        else:
            answer.future.set_result(answer.result)
