"""Brings a database to the newest schema, each step in a transaction of its own.

Any number of processes may try at once; one of them does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anew.store import StoreError
from anew.stores.postgres.connection import Connection, ConnectionInfo
from anew.stores.sql.migrations import (
    APPLIED,
    SCRIPTS,
    Migration,
    migrations,
    steps_applied,
    unreleased_step,
)

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
_APPLY = "INSERT INTO anew.migrations (number, name, checksum) VALUES (%s, %s, %s)"


def postgres_migrations() -> list[Migration]:
    return migrations(SCRIPTS / "postgres")


async def migrate(
    connection: Connection, place: ConnectionInfo, known: Sequence[Migration]
) -> None:
    """Apply what is missing."""
    while True:
        rows = await _recorded(connection)
        if _applied(place, rows, known) == len(known) == len(rows):
            return
        async with connection.transaction():
            for setting in ("statement_timeout", "lock_timeout"):
                await connection.execute(f"SET LOCAL {setting} = '{MIGRATION_SECONDS_MAX}s'")
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
            await _apply_next(connection, place, known)


async def check_schema(
    connection: Connection, place: ConnectionInfo, known: Sequence[Migration]
) -> None:
    """Refuse a database whose schema is not exactly the newest: a reader cannot bring it there."""
    applied = _applied(place, await _recorded(connection), known)
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


async def _recorded(connection: Connection) -> list[tuple[Any, ...]]:
    found = await (await connection.execute(_IS_THERE)).fetchone()
    if found is None or not found[0]:
        return []
    return await (await connection.execute(APPLIED)).fetchall()


def _applied(
    place: ConnectionInfo, rows: Sequence[tuple[Any, ...]], known: Sequence[Migration]
) -> int:
    return steps_applied(f"PostgreSQL at {place.text}", rows, known)


async def _apply_next(
    connection: Connection, place: ConnectionInfo, known: Sequence[Migration]
) -> None:
    """What is next now that no other process can be about to do the same."""
    rows = await _recorded(connection)
    number = _applied(place, rows, known)
    if number == 0:
        await connection.execute("CREATE SCHEMA IF NOT EXISTS anew")
        await connection.execute(_RECORD)
    unreleased = unreleased_step(rows, known)
    if unreleased is not None:
        number = unreleased
        await connection.execute("DELETE FROM anew.migrations WHERE number > %s", (number,))
    elif number < len(known):
        # The script has no parameters: several statements at once, and % is just a character.
        await connection.execute(known[number].sql.encode())
    if number < len(known):
        step = known[number]
        await connection.execute(_APPLY, (step.number, step.name, step.checksum))
