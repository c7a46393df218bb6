"""The protocols of `anew.store` over one SQLite file: what is read, what is written, by whom.

One owner process writes. Any number of others read beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from anew.clock import WallClock
from anew.engine.events import Event
from anew.store import (
    Commit,
    JobRef,
    JobRow,
    Lease,
    LeaseResult,
    PackedCommit,
    PackedEvents,
    PackedRun,
    RunFilter,
    RunId,
    RunRow,
    StoredRun,
    StoreError,
    StoreGone,
)
from anew.stores.notices import LocalNotices, notices_of, woken
from anew.stores.packing import pack
from anew.stores.sql.artifacts import SqlArtifacts
from anew.stores.sql.catalog import SqlCatalog, SqlVault
from anew.stores.sql.guards import SqlGuards
from anew.stores.sql.roster import SqlRoster
from anew.stores.sql.rows import list_jobs, run_of_key
from anew.stores.sql.statistics import SqlStatistics
from anew.stores.sqlite import archive, leasing
from anew.stores.sqlite.backfill import FailureBackfill, mark_some
from anew.stores.sqlite.commits import check_log, wake, write_commit
from anew.stores.sqlite.connection import Synchronous, open_owner, open_reader, telling
from anew.stores.sqlite.files import Loss, OpenFiles, Owns, ReadFiles
from anew.stores.sqlite.migrations import check_schema, migrate, sqlite_migrations
from anew.stores.sqlite.reader import Reader
from anew.stores.sqlite.roster import pool_loads
from anew.stores.sqlite.session import ReadOnlyFile, SqliteSession, SqliteWrites
from anew.stores.sqlite.statistics import failures
from anew.stores.sqlite.writer import SqliteWriter

# Others can write in between, however many runs are removed.
PRUNE_RUNS_PER_TRANSACTION = 20


class SqliteStore:
    """The runtime's side."""

    waits = False

    def __init__(self, writer: SqliteWrites, reader: Reader, notices: LocalNotices) -> None:
        self._writer = writer
        self._reader = reader
        self._notices = notices

    async def commit(self, commit: Commit) -> None:
        # Encoded before anyone waits: the caller goes on to change its state.
        await self.write(pack(commit))

    async def write(self, commit: PackedCommit) -> None:
        check_log(commit)
        await self._writer.do(lambda db: write_commit(db, commit))
        if self._notices.are_heard:
            self._notices.tell(notices_of(commit))

    async def load(self, run: RunId) -> StoredRun | None:
        return await self._reader.ask(lambda db: archive.load(db, run))

    async def read(self, run: RunId, *, knows: str) -> PackedRun | None:
        return await self._reader.ask(lambda db: archive.read_run(db, run, knows=knows))

    async def lease(
        self,
        *,
        now: int,
        until: int,
        limit: int,
        pools: Sequence[str] | None = None,
        runs: Sequence[RunId] | None = None,
        wait_seconds: float = 0.0,
    ) -> LeaseResult:
        del wait_seconds

        def take(db: Any) -> LeaseResult:
            return leasing.take(db, now=now, until=until, limit=limit, pools=pools, runs=runs)

        return await self._writer.do(take)

    async def extend(self, leases: Sequence[Lease], until: int) -> list[Lease]:
        return await self._writer.do(lambda db: leasing.extend(db, leases, until))

    async def expired(self, now: int, *, runs: Sequence[RunId] | None = None) -> list[Lease]:
        return await self._reader.ask(lambda db: leasing.expired(db, now, runs))

    async def release(self, lease: Lease, *, due_at: int) -> None:
        await self._writer.do(lambda db: leasing.release(db, lease, due_at))
        self._notices.tell([woken(lease.job, due_at)])

    async def wake(self, job: JobRef) -> None:
        await self._writer.do(lambda db: wake(db, [job]))
        self._notices.tell([woken(job, 0)])

    async def close(self) -> None:
        # The writer goes last: then SQLite moves its log into the file and removes it.
        await self._reader.close()
        await self._writer.close()


class SqliteArchive:
    """The readers' side."""

    def __init__(self, writer: SqliteWrites, reader: Reader) -> None:
        self._writer = writer
        self._reader = reader
        self._session = SqliteSession(writer, reader)

    async def run(self, run: RunId) -> RunRow | None:
        return await self._session.read(archive.find_run, run)

    async def runs(self, asked: RunFilter) -> list[RunRow]:
        return await self._session.read(archive.list_runs, asked)

    async def run_of_key(self, key: str) -> RunId | None:
        return await self._session.read(run_of_key, key)

    async def events(self, run: RunId, *, after: int = 0, limit: int = 1000) -> list[Event]:
        return await self._reader.ask(
            lambda db: archive.read_events(db, run, after=after, limit=limit)
        )

    async def rows(self, run: RunId, *, after: int = 0, limit: int = 1000) -> PackedEvents:
        return await self._reader.ask(
            lambda db: archive.read_rows(db, run, after=after, limit=limit)
        )

    async def jobs(self, run: RunId) -> list[JobRow]:
        return await self._session.read(list_jobs, run)

    async def prune(self, *, ended_before: int, limit: int = 1000) -> int:
        gone, few, removed = 0, 0, 0
        while gone < limit and removed == few:
            few = min(PRUNE_RUNS_PER_TRANSACTION, limit - gone)
            removed = await self._writer.do(partial(archive.prune, before=ended_before, limit=few))
            gone += removed
        return gone

    async def remove(self, run: RunId) -> bool:
        return await self._writer.do(lambda db: archive.remove(db, run))


class SqliteDatabase:
    """All of it. `path` is the file; `loss` tells when it is gone, or any of those beside it."""

    is_shared = False

    def __init__(self, path: str, writer: SqliteWrites, reader: Reader, loss: Loss) -> None:
        self.path = path
        self.loss = loss
        self.clock = WallClock()
        self.notices = LocalNotices()
        self.store = SqliteStore(writer, reader, self.notices)
        self.archive = SqliteArchive(writer, reader)
        session = SqliteSession(writer, reader)
        self.statistics = SqlStatistics(session, failures)
        self.catalog = SqlCatalog(session)
        self.artifacts = SqlArtifacts(session)
        self.vault = SqlVault(session)
        self.roster = SqlRoster(session, pool_loads)
        self.guards = SqlGuards(session)
        self._writer = writer
        self._marking: FailureBackfill | None = None

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        synchronous: Synchronous = "FULL",
        creates_folder: bool = False,
        owns: Owns | None = None,
    ) -> SqliteDatabase:
        """For the owner: the file is created, or brought to the newest schema.

        `owns` is looked at in every transaction: StoreGone once another may own the file.
        With `synchronous` NORMAL, a power cut may cost the newest commits (a killed process never
        does). StoreError when the file cannot be used; it is then as it was.
        """
        where = str(path)
        if creates_folder:
            _create_folder(Path(path).absolute().parent)
        connection = open_owner(where, synchronous)
        migrate(connection, where, sqlite_migrations())
        with telling(where):
            has_more = mark_some(connection)
        loss = Loss()
        writer = SqliteWriter(connection, where, files=OpenFiles(where, owns), loss=loss)
        files = ReadFiles(where, is_own=True)
        database = cls(
            where, writer, Reader(open_reader(where), where, files=files, loss=loss), loss
        )
        if has_more:
            database._marking = FailureBackfill(writer, where)
            database._marking.begin()
        return database

    @classmethod
    def open_read_only(cls, path: str | Path) -> SqliteDatabase:
        """For a second process beside the owner: everything that writes raises StoreError."""
        where = str(path)
        connection = open_reader(where)
        check_schema(connection, where, sqlite_migrations())
        loss, files = Loss(), ReadFiles(where, is_own=False)
        reader = Reader(connection, where, files=files, loss=loss)
        return cls(where, ReadOnlyFile(where), reader, loss)

    @property
    def transactions(self) -> int:
        """How many write transactions this process has made durable."""
        return self._writer.transactions if isinstance(self._writer, SqliteWriter) else 0

    def on_loss(self, hear: Callable[[StoreGone], None]) -> None:
        self.loss.listen(hear)

    async def maintain(self) -> None:
        """SQLite looks after itself; what its opening began is awaited."""
        if self._marking is not None:
            await self._marking.ended()

    async def close(self) -> None:
        """Everything that was asked for is done first."""
        await self.store.close()
        if self._marking is not None:
            await self._marking.ended()


def _create_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder {folder} for the database cannot be created ({error.strerror}). "
            "Create it, or name another place."
        ) from error
