"""The protocols of `anew.store`, spoken to a server.

EmptyRequest is kept here: every question is asked, every commit is durable at the server when it
returns. Moments are those of the server's clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from secrets import token_hex

import msgspec
from msgspec.structs import replace

from anew import __version__
from anew.clock import Clock
from anew.engine.events import Event
from anew.errors import AnewError, ConfigError
from anew.store import (
    Blob,
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
    SealedCredential,
    StoredEvent,
    StoredProgram,
    StoredRun,
    StoreGone,
)
from anew.stores.following_clock import FollowingClock
from anew.stores.heartbeats import extend_seconds
from anew.stores.notices import notices_of, woken
from anew.stores.packing import load_packed, pack, unpack_events
from anew.stores.remote.artifacts import RemoteArtifacts
from anew.stores.remote.connection import PATIENCE_SECONDS, ServerConnection
from anew.stores.remote.guards import RemoteGuards
from anew.stores.remote.notices import RemoteNotices
from anew.stores.remote.request_batching import RequestBatcher
from anew.stores.remote.roster import RemoteRoster
from anew.stores.remote.statistics import RemoteStatistics
from anew.stores.remote.wire import (
    COMMIT_ANSWERS,
    LIST_BYTES,
    LOAD_ANSWERS,
    PROTOCOL,
    ROWS_MAX,
    WAIT_SECONDS_MAX,
    EmptyRequest,
    EventsRequest,
    ExpiredRequest,
    ExtendRequest,
    Hello,
    LeaseRequest,
    LoadedRun,
    LoadRequest,
    OrderRequest,
    PackedPage,
    ProgramRequest,
    PruneRequest,
    ReleaseRequest,
    RunRequest,
    TextRequest,
    TicketRequest,
    bytes_max,
)
from anew.values import Object

# Runs that one request reads: the server holds all of them before it answers.
LOADED_MAX = 10
# To tell a server that nobody waits for a lease any more; it finds out by itself, only later.
LEAVE_SECONDS_MAX = 2.0


class RemoteStore:
    """The runtime's side."""

    waits = True

    def __init__(self, connection: ServerConnection, notices: RemoteNotices, clock: Clock) -> None:
        self._connection = connection
        self._notices = notices
        self._clock = clock
        self._archive = RemoteArchive(connection)
        self._commits: RequestBatcher[None] = RequestBatcher(
            connection, "store.commit", COMMIT_ANSWERS
        )
        self._loads: RequestBatcher[LoadedRun] = RequestBatcher(
            connection, "store.load", LOAD_ANSWERS, most=LOADED_MAX
        )
        self._leaving: set[asyncio.Task[None]] = set()

    async def commit(self, commit: Commit) -> None:
        await self.write(pack(commit))

    async def write(self, commit: PackedCommit) -> None:
        await self._commits.ask(commit.run, _encoded(commit))
        self._notices.tell(notices_of(commit))

    async def load(self, run: RunId) -> StoredRun | None:
        return await load_packed(self, run)

    async def read(self, run: RunId, *, knows: str) -> PackedRun | None:
        asked = msgspec.msgpack.encode(LoadRequest(run, knows))
        loaded = await self._loads.ask(run, asked)
        if loaded is None:
            return None
        events = loaded.run.events
        if events.rows and events.rows[-1].seq < loaded.version:
            after = events.rows[-1].seq
            more = await self._archive.rows(run, after=after, limit=loaded.version - after)
            if not more.rows:
                return None  # it was pruned meanwhile
            events = PackedEvents(events.rows + more.rows, events.blobs + more.blobs)
        return replace(loaded.run, events=events)

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
        ticket = token_hex(8)
        wait_seconds = min(wait_seconds, WAIT_SECONDS_MAX)
        asked = LeaseRequest(now, until, limit, ticket, pools, runs, wait_seconds)
        try:
            return await self._connection.ask(
                "store.lease", asked, LeaseResult, wait_seconds=wait_seconds
            )
        except asyncio.CancelledError:
            # The answer may be on its way: whatever was leased is handed back.
            task = asyncio.create_task(self._leave(ticket))
            self._leaving.add(task)
            task.add_done_callback(self._leaving.discard)
            raise

    async def _leave(self, ticket: str) -> None:
        with suppress(AnewError, TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS_MAX):
                await self._connection.tell("store.leave", TicketRequest(ticket))

    async def extend(self, leases: Sequence[Lease], until: int) -> list[Lease]:
        asked = ExtendRequest(leases, until)
        urgent_seconds = extend_seconds(until, self._clock.now())
        return await self._connection.ask(
            "store.extend", asked, list[Lease], urgent_seconds=urgent_seconds
        )

    async def expired(self, now: int, *, runs: Sequence[RunId] | None = None) -> list[Lease]:
        return await self._connection.ask("store.expired", ExpiredRequest(now, runs), list[Lease])

    async def release(self, lease: Lease, *, due_at: int) -> None:
        await self._connection.tell("store.release", ReleaseRequest(lease, due_at))
        self._notices.tell([woken(lease.job, due_at)])

    async def wake(self, job: JobRef) -> None:
        await self._connection.tell("store.wake", job)
        self._notices.tell([woken(job, 0)])

    async def close(self) -> None:
        """Say what is still to be said. The connection stays open."""
        if self._leaving:
            await asyncio.wait(set(self._leaving))

    async def closed(self) -> None:
        """Once the connection is: whoever still waits for an answer gets an error."""
        await self._commits.close()
        await self._loads.close()


def _encoded(commit: PackedCommit) -> bytes:
    """Without its snapshot if it is too large with it: the events say the same."""
    body = msgspec.msgpack.encode(commit)
    if commit.snapshot is None or len(body) + LIST_BYTES <= bytes_max("store.commit"):
        return body
    return msgspec.msgpack.encode(replace(commit, snapshot=None))


class RemoteArchive:
    """The readers' side."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    async def run(self, run: RunId) -> RunRow | None:
        return await self._connection.ask_maybe("archive.run", RunRequest(run), RunRow)

    async def runs(self, asked: RunFilter) -> list[RunRow]:
        return await self._connection.ask("archive.runs", asked, list[RunRow])

    async def run_of_key(self, key: str) -> RunId | None:
        return await self._connection.ask_maybe("archive.run_of_key", TextRequest(key), RunId)

    async def events(self, run: RunId, *, after: int = 0, limit: int = 1000) -> list[Event]:
        return unpack_events(run, await self.rows(run, after=after, limit=limit), after=after)

    async def rows(self, run: RunId, *, after: int = 0, limit: int = 1000) -> PackedEvents:
        rows: list[StoredEvent] = []
        blobs: list[Blob] = []
        is_cut = True
        while is_cut and len(rows) < limit:
            wanted = min(limit - len(rows), ROWS_MAX)
            asked = EventsRequest(run, rows[-1].seq if rows else after, wanted)
            page = await self._connection.ask("archive.events", asked, PackedPage)
            rows += page.events.rows
            blobs += page.events.blobs
            is_cut = page.is_cut or len(page.events.rows) == wanted
        return PackedEvents(rows, blobs)

    async def jobs(self, run: RunId) -> list[JobRow]:
        return await self._connection.ask("archive.jobs", RunRequest(run), list[JobRow])

    async def prune(self, *, ended_before: int, limit: int = 1000) -> int:
        return await self._connection.ask("archive.prune", PruneRequest(ended_before, limit), int)

    async def remove(self, run: RunId) -> bool:
        return await self._connection.ask("archive.remove", RunRequest(run), bool)


class RemoteCatalog:
    """Programs."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    async def keep(self, program: StoredProgram) -> None:
        await self._connection.tell("catalog.keep", program)

    async def register(self, program: StoredProgram) -> StoredProgram:
        return await self._connection.ask("catalog.register", program, StoredProgram)

    async def get(self, digest: str) -> StoredProgram | None:
        return await self._connection.ask_maybe("catalog.get", TextRequest(digest), StoredProgram)

    async def find(self, name: str, version: int | None = None) -> StoredProgram | None:
        asked = ProgramRequest(name, version)
        return await self._connection.ask_maybe("catalog.find", asked, StoredProgram)

    async def at_path(self, path: str) -> list[StoredProgram]:
        asked = TextRequest(path)
        return await self._connection.ask("catalog.at_path", asked, list[StoredProgram])

    async def programs(self) -> list[StoredProgram]:
        return await self._connection.ask("catalog.programs", EmptyRequest(), list[StoredProgram])


class RemoteVault:
    """Credentials, as encrypted as they are at rest."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    async def seal(self, credential: SealedCredential) -> None:
        await self._connection.tell("vault.seal", credential)

    async def sealed(self, name: str) -> SealedCredential | None:
        asked = TextRequest(name)
        return await self._connection.ask_maybe("vault.sealed", asked, SealedCredential)

    async def names(self) -> list[SealedCredential]:
        return await self._connection.ask("vault.names", EmptyRequest(), list[SealedCredential])

    async def forget(self, name: str) -> bool:
        return await self._connection.ask("vault.forget", TextRequest(name), bool)


class RemoteDatabase:
    """All of it. `open` one inside a running event loop, and close it there."""

    is_shared = True

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self.url = connection.url
        self.clock = FollowingClock(self._time)
        self.notices = RemoteNotices(connection)
        self.store = RemoteStore(connection, self.notices, self.clock)
        self.archive = RemoteArchive(connection)
        self.statistics = RemoteStatistics(connection)
        self.catalog = RemoteCatalog(connection)
        self.artifacts = RemoteArtifacts(connection)
        self.vault = RemoteVault(connection)
        self.roster = RemoteRoster(connection)
        self.guards = RemoteGuards(connection)

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        token: str | None = None,
        patience_seconds: float = PATIENCE_SECONDS,
        reach_seconds: float = 0.0,
    ) -> RemoteDatabase:
        """A server that answers, speaks this protocol and accepts the token.

        StoreError when it cannot be reached, for `reach_seconds` at first and later for
        `patience_seconds`. ConfigError for anything else.
        """
        database = cls(ServerConnection(url, token, patience_seconds=patience_seconds))
        try:
            await database._greet(reach_seconds)
            await database.clock.measure()
        except BaseException:
            await database._connection.close()
            raise
        database.clock.follow()
        return database

    async def order(self, request: Object) -> Object:
        """Have the server execute a command of `runtime.commands`; what it answers."""
        asked = OrderRequest(token_hex(16), msgspec.json.encode(request))
        answer = await self._connection.ask("order", asked, bytes)
        done: Object = msgspec.json.decode(answer)
        return done

    def on_loss(self, hear: Callable[[StoreGone], None]) -> None:
        """It has no files here."""

    async def maintain(self) -> None:
        """That is the business of the server."""

    async def close(self) -> None:
        await self.notices.close()
        await self.clock.close()
        await self.store.close()
        await self._connection.close()
        await self.store.closed()

    async def _greet(self, reach_seconds: float) -> None:
        hello = await self._connection.ask(
            "hello", EmptyRequest(), Hello, patience_seconds=reach_seconds
        )
        if hello.protocol != PROTOCOL:
            raise ConfigError(
                f"the server {self.url} is Anew {hello.version} and speaks protocol "
                f"{hello.protocol}; this is Anew {__version__}, which speaks {PROTOCOL}. "
                "Use the same version on both sides."
            )

    async def _time(self) -> int:
        return await self._connection.ask("time", EmptyRequest(), int, patience_seconds=0)
