"""Long polls over a real connection: for jobs, and for what others change."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from anew.engine.moments import NANOSECONDS
from anew.runtime import lease_dispatcher
from anew.store import Notice, RunId, StoreError
from anew.stores.contract.making import RUN, first, follows, job, log_of, paused
from anew.stores.memory import MemoryDatabase
from anew.stores.remote import notices, wire
from anew.stores.sqlite import SqliteDatabase
from tests.stores.control_server import served


@pytest.fixture(autouse=True)
def _no_net(monkeypatch):
    """Nothing is found because of the slow poll."""
    monkeypatch.setattr(lease_dispatcher, "POLL_SECONDS", 3600.0)


async def until(is_so) -> None:
    async with asyncio.timeout(20):
        while not is_so():
            await asyncio.sleep(0.001)


def waits_for_a_job(remote, **more):
    now = remote.clock.now()
    until_when = now + 30 * NANOSECONDS
    asked = remote.store.lease(now=now, until=until_when, limit=5, wait_seconds=20.0, **more)
    return asyncio.create_task(asked)


def test_a_commit_of_another_brings_a_job(tmp_path):
    async def go():
        async with served(SqliteDatabase.open(tmp_path / "runs.db"), tmp_path) as server:
            one, other = await server.open(), await server.open()
            asking = waits_for_a_job(one)
            await until(lambda: server.dispatcher._waiting)
            await other.store.commit(first(jobs=[job()]))
            batch = await asking
            assert [lease.job.run for lease in batch.leases] == [RUN]
            assert batch.versions == {RUN: 1}
            await one.store.commit(follows(1, paused(2), lease=batch.leases[0]))
            assert len(await log_of(other)) == 2
            await one.close()
            await other.close()

    asyncio.run(go())


def test_a_due_time_brings_a_job(tmp_path):
    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            remote = await server.open()
            due_at = remote.clock.now() + NANOSECONDS // 20
            await remote.store.commit(first(jobs=[job(due_at=due_at)]))
            assert len((await waits_for_a_job(remote)).leases) == 1
            await remote.close()

    asyncio.run(go())


def test_a_server_that_stops_sends_who_waits_away_at_once(tmp_path):
    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            remote = await server.open(patience_seconds=0.1)
            asking = waits_for_a_job(remote)
            remote.notices.listen(lambda notice: None)
            await until(lambda: server.dispatcher._waiting)
            await server.dispatcher.close()
            assert (await asking).leases == []
            with pytest.raises(StoreError, match="the server is stopping"):
                await waits_for_a_job(remote)
        await remote.close()

    asyncio.run(go())


def test_who_is_cancelled_while_waiting_loses_no_job(tmp_path):
    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            remote, other = await server.open(), await server.open()
            asking = waits_for_a_job(remote)
            await until(lambda: server.dispatcher._waiting)
            asking.cancel()
            await asyncio.wait({asking})
            await until(lambda: not server.dispatcher._waiting)
            await other.store.commit(first(jobs=[job()]))
            assert len((await waits_for_a_job(other)).leases) == 1
            await remote.close()
            await other.close()

    asyncio.run(go())


def test_who_is_cancelled_while_the_answer_is_on_its_way_hands_it_back(tmp_path):
    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            remote, other = await server.open(), await server.open()
            await other.store.commit(first(jobs=[job()]))
            remember = server.dispatcher._remember

            def cancels(ticket, batch):
                remember(ticket, batch)
                asking.cancel()

            server.dispatcher._remember = cancels
            asking = waits_for_a_job(remote)
            await asyncio.wait({asking})
            assert asking.cancelled()
            server.dispatcher._remember = remember
            assert len((await waits_for_a_job(other)).leases) == 1
            await remote.close()
            await other.close()

    asyncio.run(go())


def test_who_listens_hears_what_others_do(tmp_path):
    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            one, other = await server.open(), await server.open()
            await one.store.commit(first())
            heard = []
            # Between the newest answer and the beginning of listening.
            await other.store.commit(follows(1, paused(2)))
            stop = one.notices.listen(heard.append)
            await until(lambda: any(notice.version == 2 for notice in heard))
            await other.store.commit(follows(2, paused(3)))
            await until(lambda: any(notice.version == 3 for notice in heard))
            stop()
            assert one.notices._hearing is None
            await other.store.commit(follows(3, paused(4)))
            assert all(notice.version < 4 for notice in heard)
            await one.close()
            await other.close()

    asyncio.run(go())


def test_who_wants_to_hear_of_turns_is_not_woken_by_commits(tmp_path):
    async def go():
        asked = []

        def around(app):
            async def asgi(scope, receive, send):
                asked.append(scope["path"].rsplit("/", 1)[1])
                await app(scope, receive, send)

            return asgi

        async with served(MemoryDatabase(), tmp_path, around=around) as server:
            notices = server.engine.database.notices
            remote, heard = await server.open(), []
            remote.notices.listen(heard.append, turns_only=True)
            await until(lambda: "notices" in asked)
            for version in range(1, 20):
                notices.tell([Notice(RUN, version, {"default": 0})])
                await asyncio.sleep(0.01)
            assert asked.count("notices") == 1
            notices.tell([Notice(RUN, 20, has_turned=True)])
            await until(lambda: heard)
            assert heard == [Notice(RUN, 20, has_turned=True)]
            await remote.close()

    asyncio.run(go())


def test_who_comes_to_hear_more_than_the_others_does(tmp_path):
    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            notices = server.engine.database.notices
            remote, turns, ours, everything = await server.open(), [], [], []
            remote.notices.listen(turns.append, turns_only=True)
            await asyncio.sleep(0.05)
            stop = remote.notices.listen(ours.append, runs=[RUN])
            notices.tell([Notice(RUN, 1), Notice(RunId(9), 1)])
            await until(lambda: ours)
            remote.notices.listen(everything.append)
            notices.tell([Notice(RunId(9), 2)])
            await until(lambda: any(notice.version == 2 for notice in everything))
            assert (turns, ours) == ([], [Notice(RUN, 1)])
            stop()
            stop()
            notices.tell([Notice(RUN, 3, has_turned=True)])
            await until(lambda: turns)
            assert ours == [Notice(RUN, 1)]
            await remote.close()

    asyncio.run(go())


def test_who_listens_hears_its_own_commits_at_once(tmp_path):
    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            remote = await server.open()
            heard = []
            remote.notices.listen(heard.append)
            await remote.store.commit(first())
            assert [notice.version for notice in heard][:1] == [1]
            await remote.close()

    asyncio.run(go())


def test_who_listens_goes_on_after_the_server_was_away(tmp_path, monkeypatch):
    monkeypatch.setattr(notices, "SERVER_PAUSE_SECONDS_MAX", 0.01)

    async def go():
        database, heard = MemoryDatabase(), []
        async with served(database, tmp_path) as server:
            remote = await server.open(patience_seconds=0.05)
            remote.notices.listen(heard.append)
            await remote.store.commit(first())
            await until(lambda: heard)
        port = int(server.url.rsplit(":", 1)[1])
        async with served(database, tmp_path, port=port) as server:
            version = 1
            while not any(notice.version > 1 for notice in heard):
                await database.store.commit(follows(version, paused(version + 1)))
                version += 1
                await asyncio.sleep(0.01)
            await remote.close()

    asyncio.run(go())


def test_nothing_is_leased_for_a_worker_that_died_while_waiting(tmp_path):
    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            remote = await server.open()
            asked = wire.LeaseRequest(0, NANOSECONDS, 1, "t", wait_seconds=20.0)
            host, _, port = server.url.removeprefix("http://").rpartition(":")
            body = msgspec.msgpack.encode(asked)
            head = f"POST {wire.PATH}store.lease HTTP/1.1\r\nhost: {host}\r\n"
            head += (
                f"{wire.PROTOCOL_HEADER}: {wire.PROTOCOL}\r\ncontent-length: {len(body)}\r\n\r\n"
            )
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(head.encode() + body)
            await until(lambda: server.dispatcher._waiting)
            writer.transport.abort()
            await until(lambda: not server.dispatcher._waiting)
            await remote.store.commit(first(jobs=[job()]))
            assert [lease.token for lease in (await waits_for_a_job(remote)).leases] == [1]
            await remote.close()

    asyncio.run(go())
