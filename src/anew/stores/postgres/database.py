"""The protocols of `anew.store` over one PostgreSQL database that many processes share.

Reads take any of a few connections, and leases one of their own; what changes runs goes through one
writer: what gathers while it waits for the disk is one statement, and costs little more than one
commit. A second one would halve the groups.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn, Protocol

from msgspec.structs import replace

from anew.clock import Clock
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
from anew.stores.batching import Batcher
from anew.stores.following_clock import FollowingClock
from anew.stores.heartbeats import extend_seconds
from anew.stores.notices import notices_of, woken
from anew.stores.packing import load_packed, pack, unpack_events
from anew.stores.postgres import archive, leasing, ranges
from anew.stores.postgres.clock import server_clock
from anew.stores.postgres.commits import check_answer, commit_call, wake_call
from anew.stores.postgres.connection import ConnectionInfo, connection_info
from anew.stores.postgres.migrations import (
    MIGRATION_SECONDS_MAX,
    check_schema,
    migrate,
    postgres_migrations,
)
from anew.stores.postgres.notices import PostgresNotices
from anew.stores.postgres.pool import (
    CLOSING_SECONDS_MAX,
    OPEN_PATIENCE_SECONDS,
    ConnectionPool,
    Patience,
)
from anew.stores.postgres.roster import pool_loads
from anew.stores.postgres.session import PostgresSession
from anew.stores.postgres.settings import PostgresSettings, settings_in
from anew.stores.postgres.statistics import failures
from anew.stores.postgres.writer import PostgresWriter, WriteCall
from anew.stores.sql.artifacts import SqlArtifacts
from anew.stores.sql.catalog import SqlCatalog, SqlVault
from anew.stores.sql.guards import SqlGuards
from anew.stores.sql.roster import SqlRoster
from anew.stores.sql.rows import list_jobs, run_of_key
from anew.stores.sql.statistics import SqlStatistics

# Of their own, so that a lease is not lost because all the others are reading long logs.
LEASING_CONNECTIONS = 1
# Heartbeats wait for nobody, nor for an answer that does not come.
HEARTBEAT_CONNECTIONS = 1
# Runs that are read together. While one reads a long log, the others do not wait for it.
LOADS_MAX = 50
LOADS_AT_ONCE = 2
# A busy server needs that long now and then.
EXTEND_SECONDS_MIN = 0.1


class PostgresWrites(Protocol):
    """Does statements that change runs."""

    async def do(self, call: WriteCall) -> Any: ...

    def end_by(self, moment: float) -> None: ...

    async def close(self) -> None: ...


class ReadOnlyPostgres:
    """What a database opened for reading has instead."""

    def __init__(self, place: ConnectionInfo) -> None:
        self._place = place

    async def do(self, call: WriteCall) -> NoReturn:
        del call
        raise StoreError(f"PostgreSQL at {self._place.text} is open for reading only.")

    def end_by(self, moment: float) -> None:
        pass

    async def close(self) -> None:
        pass


class PostgresStore:
    """The runtime's side."""

    waits = False

    def __init__(
        self,
        writer: PostgresWrites,
        links: ConnectionPool,
        *,
        leasing_links: ConnectionPool,
        heartbeat_links: ConnectionPool,
        notices: PostgresNotices,
        clock: Clock,
    ) -> None:
        self._writer = writer
        self._links = links
        self._leasing = leasing_links
        self._heartbeats = heartbeat_links
        self._notices = notices
        self._clock = clock
        self._loads = Batcher(self._read_all, most=LOADS_MAX, at_once=LOADS_AT_ONCE)

    async def commit(self, commit: Commit) -> None:
        # Encoded before anyone waits: the caller goes on to change its state.
        await self.write(pack(commit))

    async def write(self, commit: PackedCommit) -> None:
        check_answer(commit, await self._writer.do(commit_call(commit)))
        self._notices.tell(notices_of(commit))

    async def load(self, run: RunId) -> StoredRun | None:
        return await load_packed(self, run)

    async def read(self, run: RunId, *, knows: str) -> PackedRun | None:
        return await self._loads.ask((run, knows))

    async def _read_all(self, asked: Sequence[tuple[RunId, str]]) -> list[PackedRun | None]:
        return await self._links.run(partial(archive.read_runs, asked=asked))

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
        return await self._leasing.run(
            partial(leasing.take, now=now, until=until, limit=limit, pools=pools, runs=runs)
        )

    async def extend(self, leases: Sequence[Lease], until: int) -> list[Lease]:
        if not leases:
            return []
        seconds = max(extend_seconds(until, self._clock.now()), EXTEND_SECONDS_MIN)
        usual = self._heartbeats.patience
        patience = replace(usual, answer_seconds=min(seconds, usual.answer_seconds))
        return await self._heartbeats.run(
            partial(leasing.extend, leases=leases, until=until), patience
        )

    async def expired(self, now: int, *, runs: Sequence[RunId] | None = None) -> list[Lease]:
        return await self._leasing.run(partial(leasing.expired, now=now, runs=runs))

    async def release(self, lease: Lease, *, due_at: int) -> None:
        await self._writer.do(leasing.release_call(lease, due_at))
        self._notices.tell([woken(lease.job, due_at)])

    async def wake(self, job: JobRef) -> None:
        await self._writer.do(wake_call(job))
        self._notices.tell([woken(job, 0)])

    def end_by(self, moment: float) -> None:
        for one in (self._writer, self._leasing, self._heartbeats):
            one.end_by(moment)

    async def close(self) -> None:
        await self._writer.close()
        await self._leasing.close()
        await self._heartbeats.close()


class PostgresArchive:
    """The readers' side."""

    def __init__(self, links: ConnectionPool, session: PostgresSession) -> None:
        self._links = links
        self._session = session

    async def run(self, run: RunId) -> RunRow | None:
        return await self._session.read(archive.find_run, run)

    async def runs(self, asked: RunFilter) -> list[RunRow]:
        return await self._session.read(archive.list_runs, asked)

    async def run_of_key(self, key: str) -> RunId | None:
        return await self._session.read(run_of_key, key)

    async def events(self, run: RunId, *, after: int = 0, limit: int = 1000) -> list[Event]:
        return unpack_events(run, await self.rows(run, after=after, limit=limit), after=after)

    async def rows(self, run: RunId, *, after: int = 0, limit: int = 1000) -> PackedEvents:
        return await self._links.run(partial(archive.read_rows, run=run, after=after, limit=limit))

    async def jobs(self, run: RunId) -> list[JobRow]:
        return await self._session.read(list_jobs, run)

    async def prune(self, *, ended_before: int, limit: int = 1000) -> int:
        return await ranges.prune(self._links, before=ended_before, limit=limit)

    async def remove(self, run: RunId) -> bool:
        return await ranges.remove(self._links, run)


class PostgresDatabase:
    """All of it. `place` says where, without secrets."""

    is_shared = True

    def __init__(
        self,
        place: ConnectionInfo,
        settings: PostgresSettings,
        *,
        patience: Patience,
        read_only: bool,
    ) -> None:
        self.place = place.text
        self._settings = settings
        links = self._links = ConnectionPool(place, patience, size=settings.connections)
        writer: PostgresWrites = (
            ReadOnlyPostgres(place) if read_only else PostgresWriter(place, patience)
        )
        self._writer = writer
        self.notices = PostgresNotices(place, links)
        self.clock: FollowingClock = server_clock(links)
        self.store = PostgresStore(
            writer,
            links,
            leasing_links=ConnectionPool(place, patience, size=LEASING_CONNECTIONS),
            heartbeat_links=ConnectionPool(place, patience, size=HEARTBEAT_CONNECTIONS),
            notices=self.notices,
            clock=self.clock,
        )
        session = PostgresSession(links)
        self.archive = PostgresArchive(links, session)
        self.statistics = SqlStatistics(session, failures)
        self.catalog = SqlCatalog(session)
        self.artifacts = SqlArtifacts(session)
        self.vault = SqlVault(session)
        self.roster = SqlRoster(session, pool_loads)
        self.guards = SqlGuards(session)

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        read_only: bool = False,
        notify: bool | None = None,
        settings: PostgresSettings | None = None,
        patience: Patience | None = None,
    ) -> PostgresDatabase:
        """The schema is created, or brought to the newest, unless it is `read_only`.

        `notify` None: hear and tell other processes, unless it is only read or behind a pooler.
        StoreError when it cannot be used, ConfigError for a URL or setting that cannot be read.
        """
        chosen = settings if settings is not None else settings_in()
        place = connection_info(url, is_pooled=chosen.is_pooled, is_durable=chosen.is_durable)
        database = cls(place, chosen, patience=patience or Patience(), read_only=read_only)
        is_notified = not read_only if notify is None else notify
        try:
            await database._prepare(place, read_only=read_only)
            if is_notified and not chosen.is_pooled:
                await database.notices.carry(sends=not read_only)
        except BaseException:
            await database.close()
            raise
        return database

    async def _prepare(self, place: ConnectionInfo, *, read_only: bool) -> None:
        bring = check_schema if read_only else migrate
        await self._links.run(
            partial(bring, place=place, known=postgres_migrations()),
            Patience(OPEN_PATIENCE_SECONDS, MIGRATION_SECONDS_MAX),
        )
        if not read_only:
            # Events of a week without a partition go to the default one: no reason not to begin.
            with suppress(StoreError):
                await self._make_ranges()
        await self.clock.measure()
        self.clock.follow()

    def on_loss(self, hear: Callable[[StoreGone], None]) -> None:
        """It has no files here."""

    async def maintain(self) -> None:
        """Make the partitions of the weeks to come. To be called once a day."""
        await self._make_ranges()

    async def _make_ranges(self) -> None:
        make = partial(ranges.make_ranges, hash_partitions=self._settings.hash_partitions)
        await self._links.run(make, ranges.PATIENCE)

    @property
    def transactions(self) -> int:
        """How many write transactions this process has made durable."""
        return self._writer.transactions if isinstance(self._writer, PostgresWriter) else 0

    def hurry(self) -> None:
        """Let nobody wait for an answer for longer than a few seconds from now on."""
        moment = asyncio.get_running_loop().time() + CLOSING_SECONDS_MAX
        self.store.end_by(moment)
        self._links.end_by(moment)

    async def close(self) -> None:
        """Everything that was asked for is done first, or fails after a few seconds."""
        self.hurry()
        await self.store.close()
        await self.notices.close()
        await self.clock.close()
        await self._links.close()
