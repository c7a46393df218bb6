"""Brings a file to the newest schema, all in one transaction."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import apsw

from anew.store import StoreError
from anew.stores.crash_points import crash_point
from anew.stores.sql.migrations import (
    APPLIED,
    SCRIPTS,
    Migration,
    OlderSchema,
    migrations,
    steps_applied,
    unreleased_step,
)
from anew.stores.sqlite.connection import APPLICATION_ID, telling, transaction
from anew.stores.sqlite.session import SQLITE

_RECORD = """
CREATE TABLE IF NOT EXISTS migrations (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    checksum   TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT
"""


def sqlite_migrations() -> list[Migration]:
    return migrations(SCRIPTS / "sqlite")


def migrate(connection: apsw.Connection, path: str, known: Sequence[Migration]) -> None:
    """Apply what is missing."""
    reach = crash_point() or _go_on
    with telling(path):
        rows = _recorded(connection)
        if _applied(path, rows, known) == len(known) == len(rows):
            return
        with transaction(connection):
            connection.execute(_RECORD)
            # Again, now that no other process can be about to do the same.
            _apply_missing(connection, path, known)
            connection.pragma("application_id", APPLICATION_ID)
            reach()
        reach()


def check_schema(connection: apsw.Connection, path: str, known: Sequence[Migration]) -> None:
    """Refuse a file whose schema is not exactly the newest: a reader cannot bring it there."""
    with telling(path):
        applied = _applied(path, _recorded(connection), known)
    if applied == 0:
        # Whoever made the file was stopped before it was done.
        raise StoreError(f"database {path} holds nothing yet. Start a run, or name another.")
    if applied < len(known):
        raise OlderSchema(
            f"database {path} has schema {applied}, and this version of Anew reads "
            f"schema {len(known)}. Stop the older Anew that works on it; this one brings it "
            "up to date then."
        )


def _recorded(connection: apsw.Connection) -> list[Any]:
    if not connection.table_exists("main", "migrations"):
        return []
    return connection.execute(SQLITE.translate(APPLIED)).fetchall()


def _applied(path: str, rows: Sequence[Any], known: Sequence[Migration]) -> int:
    return steps_applied(f"database {path}", rows, known)


def _apply_missing(connection: apsw.Connection, path: str, known: Sequence[Migration]) -> None:
    rows = _recorded(connection)
    missing = known[_applied(path, rows, known) :]
    unreleased = unreleased_step(rows, known)
    if unreleased is not None:
        step = known[unreleased]
        connection.execute("DELETE FROM migrations WHERE number >= ?", (step.number,))
        _record(connection, step)
    for migration in missing:
        connection.execute(migration.sql)
        _record(connection, migration)


def _record(connection: apsw.Connection, migration: Migration) -> None:
    connection.execute(
        "INSERT INTO migrations VALUES (?, ?, ?, ?)",
        (migration.number, migration.name, migration.checksum, time.time_ns()),
    )


def _go_on() -> None:
    """Nobody wants this process killed."""
