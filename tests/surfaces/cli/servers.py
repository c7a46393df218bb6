"""Real `anew serve` and `anew worker` processes, and the three kinds of places commands speak to.

`said` waits for a line that a process prints. Every process is ended with the test that began it.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import Struct

from tests.cluster.kit import url_of
from tests.postgres_server import Database
from tests.surfaces.cli.terminals import PATIENCE_SECONDS, ROOT

TOKEN = "the-token-of-the-tests"
ENVIRONMENT = {
    "PYTHONPATH": str(ROOT / "src"),
    "ANEW_TOKEN": TOKEN,
    # What a killed process had at work is taken over soon.
    "ANEW_LEASE_SECONDS": "2",
}


class Served:
    """One `anew` that goes on until it is stopped; what it prints, in the order it came."""

    def __init__(self, folder: Path, *words: str, **env: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "anew", *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, **ENVIRONMENT, **env},
        )
        self.printed = ""

    def said(self, pattern: str) -> re.Match[str]:
        """The next that fits, once it is printed; what was before it is read no more."""
        end = time.monotonic() + PATIENCE_SECONDS
        while (found := re.search(pattern, self.printed)) is None:
            assert time.monotonic() < end, f"it did not say {pattern}: {self.printed}"
            assert self._read(), f"it ended and did not say {pattern}: {self.printed}"
        self.printed = self.printed[found.end() :]
        return found

    def _read(self) -> bool:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE_SECONDS)
        piece = os.read(self.process.stdout.fileno(), 65536) if ready else b""
        self.printed += piece.decode()
        return bool(piece)

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ended(self) -> int:
        """Its exit status, once it has ended by itself."""
        rest, _ = self.process.communicate(timeout=PATIENCE_SECONDS)
        self.printed += rest.decode()
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=PATIENCE_SECONDS)

    @property
    def children(self) -> list[int]:
        pid = self.process.pid
        return [int(x) for x in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class Server(Served):
    """An `anew serve` that listens; `url` is where."""

    def __init__(self, folder: Path, *words: str, port: int = 0, db: str = "served.db") -> None:
        super().__init__(folder, "serve", "--port", str(port), "--db", db, *words)
        try:
            self.url = self.said(r"serving (http://[0-9.:]+)")[1]
        except BaseException:
            self.close()
            raise
        self.port = int(self.url.rpartition(":")[2])


@contextmanager
def server(folder: Path, *words: str, port: int = 0, db: str = "served.db") -> Iterator[Server]:
    one = Server(folder, *words, port=port, db=db)
    try:
        yield one
    finally:
        one.close()


@contextmanager
def worker(folder: Path, *words: str, **env: str) -> Iterator[Served]:
    """A worker that is ready, or a fleet whose first is."""
    one = Served(folder, "worker", *words, **env)
    try:
        one.said("worker ready")
        yield one
    finally:
        one.close()


class Place(Struct, frozen=True):
    """Where a command finds its runs: what to type for it."""

    kind: str
    words: tuple[str, ...]

    @property
    def url(self) -> str:
        return self.words[1]


@pytest.fixture(scope="module", name="serving")
def a_server_for_the_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("serving")) as one:
        yield one


@pytest.fixture(name="place", params=["sqlite", "postgres", "server"])
def a_place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Place:
    """One of the three; whoever asks for it needs `desk` too, whose folder a file lies in."""
    monkeypatch.setenv("ANEW_TOKEN", TOKEN)
    if request.param == "server":
        return Place("server", ("--server", request.getfixturevalue("serving").url))
    if request.param == "sqlite":
        return Place("sqlite", ("--db", "sqlite:///runs.db"))
    database: Database = request.getfixturevalue("database")
    return Place("postgres", ("--db", url_of(database.dsn)))
