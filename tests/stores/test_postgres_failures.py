"""Connections that are lost, answers that never come, a server that dies: nothing is lost by it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from anew.store import RunFilter, RunId, StaleVersion, StoreError
from anew.stores.contract.making import (
    LATER,
    NOW,
    RUN,
    first,
    follows,
    job,
    lease,
    log_of,
    only_lease,
    paused,
    requested,
)
from anew.stores.postgres import PostgresDatabase
from anew.stores.postgres.pool import Patience
from anew.stores.postgres.settings import PostgresSettings
from tests.postgres_server import (
    Database,
    OwnServer,
    a_module_database,  # noqa: F401
    own_server,
)


class Wire:
    """Stands between a client and the server, and swallows answers when it is told to."""

    def __init__(self, dsn: str) -> None:
        self._parts = conninfo_to_dict(dsn)
        self._listening: asyncio.Server | None = None
        self._ends: list[asyncio.StreamWriter] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.swallows = 0
        self.is_black = False
        self.dsn = ""

    async def __aenter__(self) -> Wire:
        self._listening = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        port = self._listening.sockets[0].getsockname()[1]
        # Without encryption, one answer of the server is what it sends at once.
        self.dsn = make_conninfo(
            "", **{**self._parts, "host": "127.0.0.1", "port": port, "sslmode": "disable"}
        )
        return self

    def cut(self) -> None:
        for end in self._ends:
            end.transport.abort()

    async def __aexit__(self, *error: object) -> None:
        assert self._listening is not None
        self._listening.close()
        for end in self._ends:
            end.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, port = str(self._parts.get("host", "127.0.0.1")), self._parts.get("port", 5432)
        if host.startswith("/"):
            server = await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        else:
            server = await asyncio.open_connection(host, int(port))
        self._ends += [writer, server[1]]
        self._tasks += [
            asyncio.create_task(self._carry(reader, server[1], is_answer=False)),
            asyncio.create_task(self._carry(server[0], writer, is_answer=True)),
        ]

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_answer: bool
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 20):
                if self.is_black:
                    continue
                if is_answer and self.swallows:
                    self.swallows -= 1
                    break
                writer.write(data)
                await writer.drain()
        writer.close()


def test_a_commit_whose_answer_is_lost_happens_once(module_database: Database) -> None:
    module_database.empty()

    async def play() -> None:
        async with Wire(module_database.dsn) as wire:
            db = await PostgresDatabase.open(wire.dsn, notify=False)
            await db.store.commit(first(jobs=[job()], key="k"))
            held = await only_lease(db)
            wire.swallows = 1
            await db.store.commit(follows(1, paused(2), lease=held, jobs=[job("b")]))
            assert wire.swallows == 0
            assert await log_of(db) == [requested(), paused(2)]
            rows = await db.archive.jobs(RUN)
            assert [(row.job.key.step, row.token) for row in rows] == [("b", 0)]
            with pytest.raises(StaleVersion):
                await db.store.commit(follows(1, paused(2, "another")))
            await db.close()

    asyncio.run(play())


def test_a_start_whose_answer_is_lost_happens_once(module_database: Database) -> None:
    module_database.empty()

    async def play() -> None:
        async with Wire(module_database.dsn) as wire:
            db = await PostgresDatabase.open(wire.dsn, notify=False)
            await db.store.commit(first(RunId(9)))
            wire.swallows = 1
            await db.store.commit(first(key="k", labels={"a": "b"}))
            assert wire.swallows == 0
            assert await db.archive.run_of_key("k") == RUN
            assert await log_of(db) == [requested()]
            await db.close()

    asyncio.run(play())


def test_a_group_whose_answer_is_lost_happens_once(module_database: Database) -> None:
    module_database.empty()

    async def play() -> None:
        async with Wire(module_database.dsn) as wire:
            db = await PostgresDatabase.open(wire.dsn, notify=False)
            runs = [RunId(run) for run in range(2, 42, 2)]
            await asyncio.gather(*(db.store.commit(first(run)) for run in runs))
            wire.swallows = 1
            asked = [follows(1, paused(2), run=run) for run in runs]
            await asyncio.gather(*(db.store.commit(one) for one in asked))
            assert wire.swallows == 0
            rows = await db.archive.runs(RunFilter())
            assert {row.version for row in rows} == {2}
            await db.close()

    asyncio.run(play())


def test_a_server_that_never_answers_is_given_up(module_database: Database) -> None:
    module_database.empty()

    async def play() -> None:
        async with Wire(module_database.dsn) as wire:
            db = await PostgresDatabase.open(wire.dsn, notify=False, patience=Patience(0.2, 0.3))
            await db.store.commit(first())
            wire.is_black = True
            with pytest.raises(StoreError, match=r"cannot be reached \(no answer within"):
                await db.store.commit(follows(1, paused(2)))
            wire.is_black = False
            await db.store.commit(follows(1, paused(2)))
            assert await log_of(db) == [requested(), paused(2)]
            await db.close()

    asyncio.run(play())


def test_connections_that_an_administrator_ends_are_made_again(module_database: Database) -> None:
    module_database.empty()

    async def play() -> None:
        db = await PostgresDatabase.open(module_database.dsn)
        await db.store.commit(first(jobs=[job("a", n) for n in range(10)]))
        for version in range(1, 6):
            assert module_database.terminate_backends() > 1
            held = (await lease(db, limit=1)).leases[0]
            await db.store.commit(follows(version, paused(version + 1), lease=held))
            assert len(await db.archive.events(RUN)) == version + 1
        assert await db.store.extend((await lease(db, limit=2)).leases, LATER)
        await db.close()

    asyncio.run(play())


@pytest.fixture(scope="module")
def lasting() -> Iterator[OwnServer]:
    """One that may be stopped, and keeps its promises."""
    with own_server(is_durable=True) as own:
        yield own


def test_nothing_is_lost_when_the_server_dies_in_the_middle(lasting: OwnServer) -> None:
    """Every commit that was answered is there, and every one that was asked for is made once."""
    own = lasting
    with own.database() as dsn:

        async def play() -> None:
            db = await PostgresDatabase.open(dsn)
            progress = dict.fromkeys(range(2, 12), 0)
            may_end = asyncio.Event()

            async def write(run: int) -> None:
                await db.store.commit(first(RunId(run), [job()]))
                version = 1
                while not may_end.is_set() or version < 20:
                    event = paused(version + 1, f"{run} {version}")
                    await db.store.commit(follows(version, event, run=RunId(run)))
                    version += 1
                    progress[run] = version

            writing = [asyncio.create_task(write(run)) for run in progress]
            for _ in range(3):
                before = sum(progress.values())
                await asyncio.to_thread(own.restart, mode="immediate")
                while sum(progress.values()) < before + 20:
                    await asyncio.sleep(0.01)
            may_end.set()
            await asyncio.gather(*writing)
            for run, version in progress.items():
                log = await log_of(db, RunId(run))
                reasons = [getattr(event, "reason", None) for event in log[1:]]
                assert reasons == [f"{run} {number}" for number in range(1, version)]
            assert len((await lease(db)).leases) == len(progress)
            await db.close()

        asyncio.run(play())


def without_waiting(own: OwnServer, dsn: str) -> None:
    """Make a database one whose commits do not wait for the disk, which is slow to follow."""
    name = conninfo_to_dict(dsn)["dbname"]
    own.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    own.execute("ALTER SYSTEM SET wal_writer_delay = '10s'")
    own.execute("SELECT pg_reload_conf()")


@pytest.mark.parametrize("is_pooled", [False, True])
def test_what_was_committed_is_on_disk_whatever_the_default_of_the_server(
    lasting: OwnServer, is_pooled: bool
) -> None:
    own = lasting
    with own.database() as dsn:
        without_waiting(own, dsn)

        async def play() -> None:
            db = await PostgresDatabase.open(dsn, settings=PostgresSettings(is_pooled=is_pooled))
            runs = [RunId(number) for number in range(8, 20)]
            await asyncio.gather(*(db.store.commit(first(run, [job()])) for run in runs))
            # As if its power was cut, at once.
            await asyncio.to_thread(own.restart, "immediate")
            assert None not in [await db.archive.run(run) for run in runs]
            held = (await lease(db)).leases
            await asyncio.to_thread(own.restart, "immediate")
            assert await db.store.extend(held, LATER) == held
            for one in held:
                await db.store.release(one, due_at=NOW)
            await asyncio.to_thread(own.restart, "immediate")
            assert len((await lease(db)).leases) == len(runs)
            await db.close()

        asyncio.run(play())


@pytest.mark.parametrize(
    ("settings", "options", "synchronous"),
    [
        (PostgresSettings(), "", "on"),
        (PostgresSettings(is_pooled=True), "", "on"),
        (PostgresSettings(), "-c synchronous_commit=off", "off"),
        (PostgresSettings(), "-c synchronous_commit=remote_apply", "remote_apply"),
        (PostgresSettings(is_durable=False), "", "off"),
    ],
)
def test_how_durable_a_commit_is_can_be_said(
    lasting: OwnServer, settings: PostgresSettings, options: str, synchronous: str
) -> None:
    own = lasting

    async def told(connection: psycopg.AsyncConnection) -> str:
        async with connection.transaction():
            await connection.execute("UPDATE anew.jobs SET is_woken = is_woken")
            cursor = await connection.execute("SHOW synchronous_commit")
            return str((await cursor.fetchone())[0])

    with own.database() as dsn:
        without_waiting(own, dsn)

        async def play() -> None:
            asked = make_conninfo(dsn, **({"options": options} if options else {}))
            db = await PostgresDatabase.open(asked, notify=False, settings=settings)
            assert await db._links.run(told) == synchronous
            await db.close()

        asyncio.run(play())


def test_while_the_server_is_away_operations_wait_and_then_say_so(lasting: OwnServer) -> None:
    own = lasting
    with own.database() as dsn:

        async def play() -> None:
            db = await PostgresDatabase.open(dsn, patience=Patience(0.5))
            await db.store.commit(first())
            await asyncio.to_thread(own.stop, "fast")
            for asked in (
                db.store.commit(follows(1, paused(2))),
                db.store.lease(now=NOW, until=LATER, limit=1),
                db.archive.run(RUN),
            ):
                with pytest.raises(
                    StoreError, match=rf"127.0.0.1:{own.port}/\w+ cannot be reached"
                ):
                    await asked
            await asyncio.to_thread(own.start)
            await db.store.commit(follows(1, paused(2)))
            assert await log_of(db) == [requested(), paused(2)]
            await db.close()

        asyncio.run(play())


def test_a_question_that_is_given_up_leaves_the_connection_fit(module_database: Database) -> None:
    module_database.empty()

    async def play() -> None:
        db = await PostgresDatabase.open(module_database.dsn, notify=False)
        await db.store.commit(first(jobs=[job()]))
        other = await psycopg.AsyncConnection.connect(module_database.dsn)
        await other.execute("LOCK TABLE anew.jobs IN ACCESS EXCLUSIVE MODE")
        asked = [asyncio.create_task(db.archive.jobs(RUN)) for _ in range(9)]
        locks = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        while module_database.execute(locks)[0][0] == 0:
            await asyncio.sleep(0.01)
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
        await other.close()
        assert len(await db.archive.jobs(RUN)) == 1
        await db.close()

    asyncio.run(play())


def test_a_question_that_is_given_up_as_its_connection_is_lost_is_not_asked_again(
    module_database: Database,
) -> None:
    module_database.empty()

    async def play() -> None:
        async with Wire(module_database.dsn) as wire:
            patience = Patience(3600.0, 3600.0)
            db = await PostgresDatabase.open(wire.dsn, notify=False, patience=patience)
            await db.store.commit(first())
            wire.is_black = True
            asking = asyncio.create_task(db.archive.run(RUN))
            await asyncio.sleep(0.05)
            asking.cancel()
            wire.cut()
            async with asyncio.timeout(20):
                await asyncio.wait({asking})
            assert asking.cancelled()
            await db.close()

    asyncio.run(play())


def test_what_nobody_waits_for_any_more_is_not_done_when_the_server_is_back() -> None:
    async def play(own: OwnServer, dsn: str) -> None:
        db = await PostgresDatabase.open(dsn)
        try:
            own.stop("immediate")
            tasks = [asyncio.create_task(db.store.commit(first(RunId(n)))) for n in (7, 8, 9)]
            await asyncio.sleep(0)
            for task in tasks[:2]:
                task.cancel()
            own.start()
            await asyncio.wait_for(tasks[2], 30)
            assert [row.run for row in await db.archive.runs(RunFilter())] == [9]
        finally:
            await db.close()

    with own_server() as own, own.database() as dsn:
        asyncio.run(play(own, dsn))
