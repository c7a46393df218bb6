"""The engine that is measured: embedded, warm, on a SQLite file or a PostgreSQL.

Everything is as a user has it but for one thing: SQLite does not wait for the disk after each
commit, which takes time and says nothing about growth.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from msgspec import Struct

from anew.engine.state import RunStatus
from anew.runtime.engine import Engine
from anew.runtime.leases import LEASE_SECONDS
from anew.runtime.programs import Document, read_document
from anew.runtime.roles import ProcessRole
from anew.runtime.run_starts import StartRequest
from anew.store import DEFAULT_POOL, Database, RunId
from anew.stores.postgres import PostgresDatabase
from anew.stores.sqlite import SqliteDatabase
from anew.values import Object
from bench.cluster import cpu
from bench.cluster.postgres import execute
from bench.growth.documents import chain

WARM_STEPS = 50
FILE_NAME = "anew.db"
POSTGRES_PID = "SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)"


class Site(Struct, frozen=True):
    """Where a point is measured: a folder, or the address of a PostgreSQL."""

    place: str

    @property
    def is_shared(self) -> bool:
        return self.place.startswith("postgresql:")

    @property
    def file(self) -> Path:
        """Of SQLite."""
        return Path(self.place) / FILE_NAME

    def cpu_seconds(self) -> float:
        """What this process has used, and the database where that has processes of its own."""
        return process_time() + (cpu.seconds_of_family(self._pid()) if self.is_shared else 0.0)

    def compiled(self, text: str) -> Document:
        folder = _scratch.name if self.is_shared else self.place
        return read_document(text, str(Path(folder) / f"growth_{next(_numbers)}.yaml"))

    def _pid(self) -> int:
        """Of the process whose children serve the connections."""
        return int(execute(self.place, POSTGRES_PID)[0][0])


@asynccontextmanager
async def engine_at(site: Site, *, works_on_all: bool = False) -> AsyncIterator[Engine]:
    """An engine that has done something: on its own runs, or as a server does on those of all."""
    database = await _database(site)
    role = ProcessRole(
        "server" if works_on_all else "command",
        LEASE_SECONDS if works_on_all or database.is_shared else None,
        works_on_all=works_on_all,
        pools=[DEFAULT_POOL] if works_on_all else None,
    )
    engine = Engine(database, Path(_scratch.name), role)
    try:
        await play(engine, site.compiled(chain(WARM_STEPS)))
        yield engine
    finally:
        await engine.stop(0)
        await database.close()


async def play(
    engine: Engine, document: Document, *, runs: int = 1, workload: Object | None = None
) -> list[RunId]:
    """Runs that are asked for at once, when all have ended as they should."""
    asked = [engine.start(StartRequest(document, workload or {})) for _ in range(runs)]
    started = [one.run for one in await asyncio.gather(*asked)]
    states = await asyncio.gather(*(engine.wait(run) for run in started))
    for state in states:
        assert state.status is RunStatus.DONE, state.failure
    return started


async def _database(site: Site) -> Database:
    if site.is_shared:
        return await PostgresDatabase.open(site.place)
    return SqliteDatabase.open(site.file, synchronous="NORMAL")


_numbers = count()
_scratch = TemporaryDirectory(prefix="anew-growth-")
