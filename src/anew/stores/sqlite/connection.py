"""Opens the file as this project keeps it, and says in words why that or a statement failed.

Knows SQLite's settings and errors. Does not know what the tables hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

import apsw

from anew.store import StoreError
from anew.stores.sqlite.files import LOG_BYTES_KEPT, prepare_files

Synchronous: TypeAlias = Literal["FULL", "NORMAL"]

# "ANEW": tells our files from those of other programs.
APPLICATION_ID = 0x414E4557
# How long to wait while another process writes; owners hold the lock for milliseconds.
BUSY_MILLISECONDS = 5_000
STATEMENTS_CACHED = 200

_DAMAGED = "the file is damaged"
_RESTORE = "Restore it from a backup, or move it away to start with an empty one"

# What happened, and what to do; the first class that fits is told.
_ADVICE: tuple[tuple[type[apsw.Error], str, str], ...] = (
    (apsw.FullError, "the disk is full", "Free some space and try again"),
    (apsw.NotADBError, "it is not a SQLite database", "Name another file"),
    (apsw.CorruptError, _DAMAGED, _RESTORE),
    (
        apsw.ReadOnlyError,
        "it cannot be written",
        "Check the permissions of the file and its folder",
    ),
    (
        apsw.CantOpenError,
        "it cannot be opened",
        "Check that the folder exists, that this is a file, and the permissions of both",
    ),
    (
        apsw.PermissionsError,
        "access is denied",
        "Check the permissions of the file and its folder",
    ),
    (
        apsw.BusyError,
        "another process keeps it locked",
        "Wait for that process to finish, or stop it",
    ),
    (apsw.IOError, "reading or writing the disk failed", "Check the disk, then try again"),
)


def store_error(path: str, error: apsw.Error) -> StoreError:
    """The error a person gets: what, where, what to do, and SQLite's own words."""
    for kind, what, remedy in _ADVICE:
        if isinstance(error, kind):
            return StoreError(f"database {path}: {what} ({error}). {remedy}.")
    return StoreError(f"database {path}: {type(error).__name__}: {error}.")


def damaged(path: str, why: object) -> StoreError:
    """For what SQLite reads without a complaint and nobody can have written."""
    return StoreError(f"database {path}: {_DAMAGED} ({why}). {_RESTORE}.")


@contextmanager
def telling(path: str) -> Iterator[None]:
    """SQLite's errors inside become ours."""
    try:
        yield
    except apsw.Error as error:
        raise store_error(path, error) from error


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """All that is written inside, or nothing.

    apsw's own waits for others while no thread can go on, and in vain if one of them is a thread
    of this process: it would never come to the end of its own.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def open_owner(path: str, synchronous: Synchronous) -> apsw.Connection:
    """A connection that writes; the file is made if it does not exist."""
    _check_place(path)
    prepare_files(path)
    with telling(path):
        connection = apsw.Connection(path, statementcachesize=STATEMENTS_CACHED)
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        check_is_ours(connection, path)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", synchronous)
        connection.pragma("journal_size_limit", LOG_BYTES_KEPT)
    return connection


def open_reader(path: str) -> apsw.Connection:
    """A connection that cannot write, for use beside an owner."""
    if not Path(path).is_file():
        raise StoreError(
            f"database {path} does not exist. Start a run to create it, or name another."
        )
    with telling(path):
        flags = apsw.SQLITE_OPEN_READONLY
        connection = apsw.Connection(path, flags=flags, statementcachesize=STATEMENTS_CACHED)
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        check_is_ours(connection, path)
    return connection


def check_is_ours(connection: apsw.Connection, path: str) -> None:
    """Refuse a database that another program made, before anything is changed in it."""
    found = connection.pragma("application_id")
    is_empty = not connection.execute("SELECT count(*) FROM sqlite_schema").get
    if found != APPLICATION_ID and not (is_empty and found == 0):
        raise StoreError(
            f"database {path} belongs to another program (its application id is {found}). "
            "Name another file."
        )


def _check_place(path: str) -> None:
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise StoreError(f"database {path}: {folder} is not a folder. Create it, or name another.")
    if Path(path).is_dir():
        raise StoreError(f"database {path} is a folder. Name a file.")
