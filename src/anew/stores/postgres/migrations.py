"""Brings a database to the newest schema, one numbered script after the other.

What was applied is recorded with its checksum: a script that changed afterwards, or one that this
version does not know, means that the database and the program do not fit, and nothing is touched.
Any number of processes may try at once; one of them does it.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from anew.store import StoreError
from anew.stores.postgres.connection import Connection, ConnectionInfo

SCRIPTS = Path(__file__).parent.parent / "sql" / "postgres"
# To wait for another process that does it, and for an index over all there is.
MIGRATION_SECONDS_MAX = 600
# Anybody's who locks; the number means nothing.
MIGRATION_LOCK = 0x414E4557_0001

_RECORD = """
CREATE TABLE IF NOT EXISTS anew.migrations (
    number     integer PRIMARY KEY,
    name       text NOT NULL,
    checksum   text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
)
"""
# Not to_regclass: that may remember what it found before somebody else created it.
_IS_THERE = """
SELECT EXISTS (
    SELECT 1 FROM pg_catalog.pg_class
    JOIN pg_catalog.pg_namespace ON pg_namespace.oid = pg_class.relnamespace
    WHERE nspname = 'anew' AND relname = 'migrations'
)
"""
_APPLIED = "SELECT number, name, checksum FROM anew.migrations ORDER BY number"
_APPLY = "INSERT INTO anew.migrations (number, name, checksum) VALUES (%s, %s, %s)"


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


async def migrate(connection: Connection, place: ConnectionInfo, known: list[Migration]) -> None:
    """Apply what is missing, each script in a transaction of its own."""
    while await _applied(connection, place, known=known) < len(known):
        async with connection.transaction():
            for setting in ("statement_timeout", "lock_timeout"):
                await connection.execute(f"SET LOCAL {setting} = '{MIGRATION_SECONDS_MAX}s'")
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
            # Again, now that no other process can be about to do the same.
            number = await _applied(connection, place, known=known)
            if number == 0:
                await connection.execute("CREATE SCHEMA IF NOT EXISTS anew")
                await connection.execute(_RECORD)
            if number < len(known):
                await _apply(connection, known[number])


async def check_schema(
    connection: Connection, place: ConnectionInfo, known: list[Migration]
) -> None:
    """Refuse a database whose schema is not exactly the newest: a reader cannot bring it there."""
    applied = await _applied(connection, place, known=known)
    if applied == 0:
        raise StoreError(
            f"PostgreSQL at {place.text} holds nothing of Anew yet. Start a run or `anew serve` "
            "there, or name another database."
        )
    if applied < len(known):
        raise StoreError(
            f"PostgreSQL at {place.text} has schema {applied}, and this version of Anew reads "
            f"schema {len(known)}. `anew serve` or `anew run` of this version brings it up to date."
        )


async def _applied(connection: Connection, place: ConnectionInfo, *, known: list[Migration]) -> int:
    """How many of the known scripts the database has; StoreError when it has others."""
    found = await (await connection.execute(_IS_THERE)).fetchone()
    if found is None or not found[0]:
        return 0
    rows = await (await connection.execute(_APPLIED)).fetchall()
    if len(rows) > len(known):
        raise StoreError(
            f"PostgreSQL at {place.text} has schema {rows[-1][0]}, and this version of Anew knows "
            f"schemas up to {known[-1].number if known else 0}. Upgrade Anew, or name another "
            "database."
        )
    for migration, (number, name, checksum) in zip(known, rows, strict=False):
        if (number, checksum) != (migration.number, migration.checksum):
            raise StoreError(
                f"PostgreSQL at {place.text}: schema {number} ({name}) was made by another version "
                f"of Anew than this one, whose schema {migration.number} ({migration.name}) "
                "differs. Use the version that made it, or name another database."
            )
    return len(rows)


async def _apply(connection: Connection, migration: Migration) -> None:
    # The script has no parameters: several statements at once, and % is just a character.
    await connection.execute(migration.sql.encode())
    await connection.execute(_APPLY, (migration.number, migration.name, migration.checksum))
