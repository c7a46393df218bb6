"""Whether the files of a database are still those that its connections have open.

SQLite goes on with a file that was removed or replaced, and with a log that was: everything seems
to work, and nothing of it is found afterwards. So nothing is committed before a look at their
names, which costs 2 µs each. One that is shorter than it was is missed only if what was committed
is not in it. Knows files. Does not know transactions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Protocol

from anew.files import KeptFile, NotOurs, open_private, refuse_strangers, take_from_others
from anew.posix import user_id
from anew.store import StoreError, StoreGone
from anew.stores.sqlite.log_index import database_is_whole, log_is_whole


class Owns(Protocol):
    """That this process owns the database: as long as the lock is kept."""

    lock: KeptFile

    def check(self) -> None:
        """StoreGone once it is not."""


LOG_SUFFIX = "-wal"
INDEX_SUFFIX = "-shm"
JOURNAL_SUFFIX = "-journal"
# What the log of a busy moment may leave behind on disk once it was checkpointed: SQLite cuts it
# back to this, and to no less.
LOG_BYTES_KEPT = 16 * 1024 * 1024


def prepare_files(path: str) -> None:
    """Make the file for its user alone, or take it from others; refuse what they laid beside it.

    The path itself may be a link: to keep the file elsewhere is for its user to decide. It is not
    for others, so a link of theirs is refused.
    """
    _refuse_foreign_link(path)
    where = os.path.realpath(path)
    try:
        for suffix in (LOG_SUFFIX, INDEX_SUFFIX, JOURNAL_SUFFIX):
            refuse_strangers(where + suffix)
        if not os.path.lexists(where):
            # Closed before SQLite opens it: to close a file gives up its locks in this process.
            os.close(open_private(where))
        for suffix in ("", LOG_SUFFIX, INDEX_SUFFIX, JOURNAL_SUFFIX):
            take_from_others(where + suffix)
    except NotOurs as error:
        raise StoreError(
            f"database {path}: {error}. Remove it if nobody needs it, or name another database."
        ) from error
    except OSError:
        pass  # why it cannot be opened is for SQLite to say


def _refuse_foreign_link(path: str) -> None:
    try:
        owner = os.lstat(path).st_uid if os.path.islink(path) else user_id()
    except OSError:
        return
    if owner not in (user_id(), 0):
        raise StoreError(
            f"database {path} is a link that another user made. Name the file itself, or another."
        )


class Loss:
    """That the files of a database are gone: noticed by whoever looks first, and true for ever."""

    def __init__(self) -> None:
        self.error: StoreGone | None = None
        self._listeners: list[Callable[[StoreGone], None]] = []

    def listen(self, listener: Callable[[StoreGone], None]) -> None:
        """Be told, in whatever thread notices it."""
        self._listeners.append(listener)
        if self.error is not None:
            listener(self.error)

    def tell(self, error: StoreGone) -> None:
        if self.error is None:
            self.error = error
            for listener in self._listeners:
                listener(error)

    def refuse(self) -> None:
        """Raise it, once it is known."""
        if self.error is not None:
            raise self.error.with_traceback(None)


class OpenFiles:
    """Those that the owner writes. Make it once the log exists."""

    def __init__(self, path: str, owns: Owns | None = None) -> None:
        self._path = path
        self._file, self._log, self._index = _kept(path)
        self._owns = owns
        self._all = (self._file, self._log) if owns is None else (self._file, self._log, owns.lock)

    def check(self) -> None:
        """Inside a transaction: StoreGone when nobody would find what it commits.

        Whoever owns the database next waits for it to end, and so finds it.
        """
        if KeptFile.are_kept(self._all):
            return
        _refuse_loss(self._path, (self._file, self._log))
        # After the files: where all are gone, the lock is what matters least.
        if self._owns is not None:
            self._owns.check()

    def check_all(self) -> None:
        """Before what is done now and then: all that someone could have taken away."""
        self.check()
        if not self._index.is_kept():
            _refuse_loss(self._path, (self._index,))

    def flushed(self) -> None:
        """Something was committed. The log may still be empty: SQLite writes no page that it finds
        unchanged, such as that of a row which is set to what it was.
        """
        self._log.note_size()


class ReadFiles:
    """Those that a reader has open. Beside another owner the log may come and go: `is_own` not."""

    def __init__(self, path: str, *, is_own: bool) -> None:
        self._path = path
        self._kept: tuple[KeptFile, ...] = (
            _kept(path) if is_own else (KeptFile(os.path.realpath(path)),)
        )

    def check(self) -> None:
        """After a read: StoreGone when it may have been of files that nobody else sees."""
        if not KeptFile.are_kept(self._kept):
            _refuse_loss(self._path, self._kept)


def _file(path: str) -> KeptFile:
    return KeptFile(os.path.realpath(path))


def _kept(path: str) -> tuple[KeptFile, KeptFile, KeptFile]:
    """The database, its log and the index of its log, by the name SQLite knows them by."""
    where = os.path.realpath(path)
    try:
        return (
            _file(path),
            KeptFile(where + LOG_SUFFIX, shrinks_to=LOG_BYTES_KEPT),
            KeptFile(where + INDEX_SUFFIX),
        )
    except OSError as error:
        raise _error(path, str(error.filename), "was removed or renamed") from error


def _refuse_loss(path: str, kept: Sequence[KeptFile]) -> None:
    """StoreGone for the first that is missing; one that SQLite itself made shorter is not."""
    for one in kept:
        if one.is_kept():
            continue
        if not (one.has_shrunk() and _has_everything(one.path, os.path.realpath(path))):
            raise _error(path, one.path, one.loss())
        one.accept_size()


def _has_everything(file: str, database: str) -> bool:
    log, index = database + LOG_SUFFIX, database + INDEX_SUFFIX
    if file == database:
        return database_is_whole(database, log, index)
    return file == log and log_is_whole(log, index)


def _error(path: str, file: str, loss: str) -> StoreGone:
    what = f"database {path}"
    if file != os.path.realpath(path):
        what += f": its file {file}"
    return StoreGone(
        f"{what} {loss} while this process worked on it. It stops, and reports nothing that may "
        "not be on disk. Put the files back or restore a backup, then start again."
    )
