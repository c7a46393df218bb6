"""A server that stops while it is asked, and a network that answers in its place."""

from __future__ import annotations

import asyncio
import logging

import httpx2
import msgspec
import pytest
from starlette.responses import PlainTextResponse

from anew.errors import ConfigError
from anew.runtime import lease_dispatcher
from anew.store import StoreError
from anew.stores.contract.making import RUN, first, follows, job, log_of, paused, requested
from anew.stores.memory import MemoryDatabase
from anew.stores.packing import pack
from anew.stores.remote import RemoteDatabase, connection, wire
from tests.stores.control_server import served
from tests.stores.test_remote_failures import answering


@pytest.fixture(autouse=True)
def _quickly(monkeypatch):
    monkeypatch.setattr(connection, "SERVER_PAUSE_SECONDS_MAX", 0.05)


class Hanging:
    """Has the next call of a method wait for ever, and says when it does."""

    def __init__(self, owner, name):
        self.began = asyncio.Event()
        self._is_next = True
        self._method = getattr(owner, name)
        setattr(owner, name, self._call)

    async def _call(self, *values, **named):
        if self._is_next:
            self._is_next = False
            self.began.set()
            await asyncio.Event().wait()
        return await self._method(*values, **named)


async def cut_off(server) -> None:
    """What uvicorn does to requests that take too long when it stops."""
    await server.dispatcher.close()
    for task in server.uvicorn.server_state.tasks:
        task.cancel()


def test_a_request_that_is_cut_off_by_a_stop_is_told_to_come_again(tmp_path, caplog):
    async def go():
        database = MemoryDatabase()
        async with served(database, tmp_path) as server:
            hanging = Hanging(database.store, "write")
            async with httpx2.AsyncClient(trust_env=False) as client:
                body = msgspec.msgpack.encode([pack(first())])
                headers = {wire.PROTOCOL_HEADER: str(wire.PROTOCOL)}
                url = f"{server.url}{wire.PATH}store.commit"
                asking = asyncio.create_task(client.post(url, content=body, headers=headers))
                await hanging.began.wait()
                await cut_off(server)
                answer = await asking
            assert answer.status_code == 503
            assert answer.headers["content-type"] == wire.MEDIA_TYPE
            assert int(answer.headers["retry-after"]) > 0
            refusal = msgspec.msgpack.decode(answer.content, type=wire.ErrorReply)
            assert refusal.kind == "StoreError"
            assert "the server is stopping" in refusal.message

    with caplog.at_level(logging.ERROR):
        asyncio.run(go())
    assert caplog.records == []


def test_a_commit_that_is_cut_off_by_a_stop_is_made_at_the_next_server(tmp_path):
    async def go():
        database = MemoryDatabase()
        async with served(database, tmp_path) as server:
            remote = await server.open()
            await remote.store.commit(first())
            hanging = Hanging(database.store, "write")
            asking = asyncio.create_task(remote.store.commit(follows(1, paused(2))))
            await hanging.began.wait()
            await cut_off(server)
            await asking
            assert await log_of(database) == [requested(), paused(2)]
            await remote.close()

    asyncio.run(go())


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 520])
def test_a_failure_that_is_not_of_a_server_is_asked_again(tmp_path, status):
    async def go():
        answers = [status, status]

        def around(app):
            async def asgi(scope, receive, send):
                if scope["path"].endswith("store.commit") and answers:
                    answer = PlainTextResponse("Internal Server Error", answers.pop())
                    await answer(scope, receive, send)
                else:
                    await app(scope, receive, send)

            return asgi

        async with served(MemoryDatabase(), tmp_path, around=around) as server:
            remote = await server.open()
            await remote.store.commit(first())
            assert answers == []
            assert await log_of(remote) == [requested()]
            await remote.close()

    asyncio.run(go())


def test_whoever_fails_at_the_first_question_is_not_asked_again():
    async def go():
        async with answering(500, b"Internal Server Error") as url:
            with pytest.raises(ConfigError, match="is not an Anew server"):
                await RemoteDatabase.open(url, reach_seconds=3600)

    asyncio.run(go())


def test_whoever_asks_again_is_told_when_the_connection_was_closed(tmp_path):
    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            remote = await server.open(patience_seconds=3600)
        asking = asyncio.create_task(remote.store.load(RUN))
        await asyncio.sleep(0)
        await remote.close()
        with pytest.raises(StoreError, match="is closed"):
            await asking

    asyncio.run(go())


def test_a_desk_closes_though_its_database_does_not_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(lease_dispatcher, "CLOSE_SECONDS_MAX", 0.05)

    async def go():
        database = MemoryDatabase()
        async with served(database, tmp_path) as server:
            remote = await server.open()
            await remote.store.commit(first(jobs=[job()]))
            hanging = Hanging(database.store, "lease")
            now = remote.clock.now()
            asked = remote.store.lease(now=now, until=now + 1, limit=1, wait_seconds=20.0)
            asking = asyncio.create_task(asked)
            await hanging.began.wait()
            async with asyncio.timeout(10):
                await server.dispatcher.close()
            assert (await asking).leases == []
            await remote.close()

    asyncio.run(go())
