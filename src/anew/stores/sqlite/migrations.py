"""Brings a file to the newest schema, one numbered script after the other.

What was applied is recorded with its checksum: a script that changed afterwards, or one that this
version does not know, means that the file and the program do not fit, and nothing is touched.
"""

from __future__ import annotations

import time
from hashlib import sha256
from pathlib import Path

import apsw
from msgspec import Struct

from anew.store import StoreError
from anew.stores.crash_points import crash_point
from anew.stores.sqlite.connection import APPLICATION_ID, telling

SCRIPTS = Path(__file__).parent.parent / "sql" / "sqlite"

_RECORD = """
CREATE TABLE IF NOT EXISTS migrations (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    checksum   TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT
"""


class OlderSchema(StoreError):
    """A file that its owner would bring up to date, and a reader cannot read."""


class Migration(Struct, frozen=True):
    """One script. Once released it never changes: the next change is the next number."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return sha256(self.sql.encode()).hexdigest()


def migrations(folder: Path = SCRIPTS) -> list[Migration]:
    """All scripts, in order; their names begin with their number."""
    return [
        Migration(int(path.stem.partition("_")[0]), path.stem, path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob("*.sql"))
    ]


def migrate(connection: apsw.Connection, path: str, known: list[Migration]) -> None:
    """Apply what is missing, all in one transaction."""
    reach = crash_point() or _go_on
    with telling(path):
        if _applied(connection, path, known) == len(known):
            return
        with connection:
            connection.execute(_RECORD)
            # Again, now that no other process can be about to do the same.
            for migration in known[_applied(connection, path, known) :]:
                _apply(connection, migration)
            connection.pragma("application_id", APPLICATION_ID)
            reach()
        reach()


def check_schema(connection: apsw.Connection, path: str, known: list[Migration]) -> None:
    """Refuse a file whose schema is not exactly the newest: a reader cannot bring it there."""
    with telling(path):
        applied = _applied(connection, path, known)
    if applied == 0:
        # Whoever made the file was stopped before it was done.
        raise StoreError(f"database {path} holds nothing yet. Start a run, or name another.")
    if applied < len(known):
        raise OlderSchema(
            f"database {path} has schema {applied}, and this version of Anew reads "
            f"schema {len(known)}. Stop the older Anew that works on it; this one brings it "
            "up to date then."
        )


def _applied(connection: apsw.Connection, path: str, known: list[Migration]) -> int:
    """How many of the known scripts the file has; StoreError when it has others."""
    if not connection.table_exists("main", "migrations"):
        return 0
    rows = connection.execute(
        "SELECT number, name, checksum FROM migrations ORDER BY number"
    ).fetchall()
    if len(rows) > len(known):
        raise StoreError(
            f"database {path} has schema {rows[-1][0]}, and this version of Anew knows schemas "
            f"up to {known[-1].number if known else 0}. Upgrade Anew, or name another database."
        )
    for migration, (number, name, checksum) in zip(known, rows, strict=False):
        if (number, checksum) != (migration.number, migration.checksum):
            raise StoreError(
                f"database {path}: schema {number} ({name}) was made by another version of Anew "
                f"than this one, whose schema {migration.number} ({migration.name}) differs. "
                "Use the version that made it, or name another database."
            )
    return len(rows)


def _go_on() -> None:
    """Nobody wants this process killed."""


def _apply(connection: apsw.Connection, migration: Migration) -> None:
    connection.execute(migration.sql)
    connection.execute(
        "INSERT INTO migrations VALUES (?, ?, ?, ?)",
        (migration.number, migration.name, migration.checksum, time.time_ns()),
    )
