"""What a remote database does when the network, the server or the token is not what it hoped."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager

import msgspec
import pytest
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from anew.engine.state import RunState
from anew.errors import ConfigError
from anew.store import KeyTaken, RunFilter, RunId, StoreError
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
    processed,
    requested,
)
from anew.stores.memory import MemoryDatabase
from anew.stores.packing import pack
from anew.stores.remote import RemoteDatabase, connection, wire
from anew.stores.sqlite import SqliteDatabase
from tests.stores.control_server import listening, served

PLAYBOOK = """\
apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: hello}
workflow:
  - step: start
    tool: {kind: noop}
"""


class Losing:
    """Has requests answered, and loses the answers: as many of each operation as it is told."""

    def __init__(self, **times):
        self.left = {name.replace("_", ".", 1): count for name, count in times.items()}
        self.heard = []

    def around(self, app):
        async def asgi(scope, receive, send):
            operation = scope["path"].rsplit("/", 1)[1]
            self.heard.append(operation)
            if self.left.get(operation, 0) > 0:
                self.left[operation] -= 1
                await app(scope, receive, _nowhere)
                app_or_gateway = PlainTextResponse("lost", 502)
            else:
                app_or_gateway = app
            await app_or_gateway(scope, receive, send)

        return asgi


async def _nowhere(message):
    pass


class Wire:
    """Stands between two ends, and cuts the line when the next answer comes, if told to."""

    def __init__(self, url):
        self._port = int(url.rsplit(":", 1)[1])
        self.cuts_next = False
        self.cuts = 0

    @asynccontextmanager
    async def between(self):
        server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        server.close()

    async def _connect(self, reader, writer):
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        await asyncio.gather(self._pump(reader, back), self._pump(there, writer, is_answer=True))

    async def _pump(self, source, sink, is_answer=False):
        while data := await source.read(65536):
            if is_answer and self.cuts_next:
                self.cuts_next = False
                self.cuts += 1
                break
            sink.write(data)
            await sink.drain()
        sink.close()


@pytest.fixture(autouse=True)
def _quickly(monkeypatch):
    monkeypatch.setattr(connection, "SERVER_PAUSE_SECONDS_MAX", 0.05)


def test_a_commit_whose_answer_is_lost_is_made_once(tmp_path):
    async def go():
        losing = Losing(store_commit=2)
        database = SqliteDatabase.open(tmp_path / "runs.db")
        async with served(database, tmp_path, around=losing.around) as server:
            remote = await server.open()
            await remote.store.commit(first(jobs=[job()], key="k"))
            losing.left["store.commit"] = 1
            held = await only_lease(remote)
            await remote.store.commit(follows(1, paused(2), lease=held, jobs=[job("b")]))
            assert losing.heard.count("store.commit") == 5
            assert await log_of(database) == [requested(), paused(2)]
            assert [row.job.key.step for row in await database.archive.jobs(RUN)] == ["b"]
            await remote.close()

    asyncio.run(go())


def test_a_lease_whose_answer_is_lost_is_given_again(tmp_path):
    async def go():
        losing = Losing(store_lease=1)
        async with served(MemoryDatabase(), tmp_path, around=losing.around) as server:
            remote = await server.open()
            await remote.store.commit(first(jobs=[job()]))
            held = await only_lease(remote)
            assert losing.heard.count("store.lease") == 2
            assert held.token == 1
            await remote.store.commit(follows(1, paused(2), lease=held))
            await remote.close()

    asyncio.run(go())


def test_a_cut_line_costs_neither_a_commit_nor_a_lease(tmp_path):
    async def go():
        database = SqliteDatabase.open(tmp_path / "runs.db")
        async with served(database, tmp_path) as server:
            line = Wire(server.url)
            async with line.between() as url:
                remote = await RemoteDatabase.open(url)
                line.cuts_next = True
                await remote.store.commit(first(jobs=[job()]))
                line.cuts_next = True
                held = await only_lease(remote)
                line.cuts_next = True
                await remote.store.commit(follows(1, paused(2), lease=held))
                assert line.cuts == 3
                assert held.token == 1
                assert await log_of(database) == [requested(), paused(2)]
                assert await database.archive.jobs(RUN) == []
                await remote.close()

    asyncio.run(go())


def test_an_order_whose_answer_is_lost_is_obeyed_once(tmp_path):
    async def go():
        losing = Losing(order=1)
        async with served(MemoryDatabase(), tmp_path, around=losing.around) as server:
            remote = await server.open()
            order = {"do": "start", "source": PLAYBOOK, "file": "hello.yaml", "workload": {"ä": 1}}
            started = await remote.order(order)
            assert losing.heard.count("order") == 2
            rows = await remote.archive.runs(RunFilter())
            assert [str(row.run) for row in rows] == [started["run"]]
            await server.engine.wait(rows[0].run)
            await remote.close()

    asyncio.run(go())


def test_an_order_that_cannot_be_obeyed_says_why(tmp_path):
    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            remote = await server.open()
            with pytest.raises(ConfigError, match="there is no command 'dance'"):
                await remote.order({"do": "dance"})
            with pytest.raises(ConfigError, match="the command cannot be read"):
                await remote.order({"do": 1})
            await remote.close()

    asyncio.run(go())


def test_a_server_that_was_restarted_does_not_obey_an_order_twice(tmp_path):
    async def go():
        answers = [502]

        def around(app):
            async def asgi(scope, receive, send):
                if scope["path"].endswith("/order") and answers:
                    await PlainTextResponse("", answers.pop())(scope, receive, send)
                else:
                    await app(scope, receive, send)

            return asgi

        async with served(MemoryDatabase(), tmp_path, around=around) as server:
            remote = await server.open()
            with pytest.raises(StoreError, match="whether it did what was asked is not known"):
                await remote.order({"do": "answer", "run": "1", "answer": "yes"})
            answers.append(502)
            assert await remote.order({"do": "prune", "before": 1}) == {"removed": 0}
            await remote.close()

    asyncio.run(go())


def test_refusals_arrive_as_what_they_are(tmp_path):
    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            remote = await server.open()
            await remote.store.commit(first(key="ä"))
            with pytest.raises(KeyTaken) as caught:
                await remote.store.commit(first(RunId(9), key="ä"))
            assert caught.value.run == RUN
            await remote.close()

    asyncio.run(go())


def test_a_server_that_is_away_for_a_while_is_waited_for(tmp_path):
    async def go():
        database = MemoryDatabase()
        async with served(database, tmp_path) as server:
            remote = await server.open()
            await remote.store.commit(first())
        port = int(server.url.rsplit(":", 1)[1])
        asking = asyncio.create_task(remote.store.commit(follows(1, paused(2))))
        await asyncio.sleep(0)
        async with served(database, tmp_path, port=port):
            await asking
            assert len(await log_of(database)) == 2
            await remote.close()

    asyncio.run(go())


def test_patience_ends_with_an_error_that_says_who_is_away(tmp_path):
    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            remote = await server.open(patience_seconds=0.1)
        with pytest.raises(StoreError, match=f"the server {server.url} cannot be reached"):
            await remote.store.load(RUN)
        await remote.close()
        with pytest.raises(StoreError, match="is closed"):
            await remote.store.load(RUN)

    asyncio.run(go())


def test_a_store_that_fails_at_the_server_is_told_after_a_while(tmp_path):
    async def go():
        database = SqliteDatabase.open(tmp_path / "runs.db")
        async with served(database, tmp_path) as server:
            remote = await server.open(patience_seconds=0.1)
            await database.close()
            with pytest.raises(StoreError, match="is closed"):
                await remote.store.commit(first())
            await remote.close()

    asyncio.run(go())


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def test_nobody_there():
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(StoreError, match="cannot be reached"):
        asyncio.run(RemoteDatabase.open(url))


@pytest.mark.parametrize(
    "url", ["", "runs.db", "ftp://x", "http://", "http://h:99999", "http://me:pw@h", "http://h?x=1"]
)
def test_what_is_no_address_is_refused(url):
    with pytest.raises(ConfigError) as caught:
        asyncio.run(RemoteDatabase.open(url))
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize("token", ["", "a b", "ä", "a\nb"])
def test_a_token_that_no_header_can_hold_is_refused_unsaid(token):
    with pytest.raises(ConfigError, match="printable ASCII"):
        asyncio.run(RemoteDatabase.open("http://127.0.0.1:1", token=token))


@asynccontextmanager
async def answering(status, body=b"", media_type="text/html"):
    async def answer(request):
        return Response(body, status, media_type=media_type)

    app = Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "POST"])])
    async with listening(app) as (url, _):
        yield url


HELLO = wire.Hello(wire.PROTOCOL + 1, "9.9", "x", "b", NOW)


@pytest.mark.parametrize(
    ("status", "body", "media_type", "says"),
    [
        (401, b"", "text/plain", "does not accept the token"),
        (404, b"", "text/html", "is not an Anew server"),
        (200, b"<html>", "text/html", "is not an Anew server"),
        (200, b"<html>", wire.MEDIA_TYPE, "is not an Anew server"),
        (302, b"", "text/html", "is not an Anew server"),
        (200, msgspec.msgpack.encode(HELLO), wire.MEDIA_TYPE, "Use the same version"),
    ],
)
def test_whoever_else_answers(status, body, media_type, says):
    async def go():
        async with answering(status, body, media_type) as url:
            with pytest.raises(ConfigError, match=says):
                await RemoteDatabase.open(url, token="secret-token")

    asyncio.run(go())


def test_a_server_that_was_sent_no_token_needs_one():
    async def go():
        async with answering(401) as url:
            with pytest.raises(ConfigError, match="needs a token") as refused:
                await RemoteDatabase.open(url)
        assert "--token-file DATABASE.token" in str(refused.value)
        assert "ANEW_TOKEN" in str(refused.value)
        assert "started with" not in str(refused.value)

    asyncio.run(go())


@pytest.mark.parametrize(
    ("speech", "kind", "says"),
    [
        (b"SSH-2.0-x\r\n\r\n", ConfigError, "is not an Anew server"),
        (b"SSH-2.0-x\r\n", ConfigError, "is not an Anew server"),
        (b"HTTP/1.1 200 ", StoreError, "Is it an Anew server"),
        (b"", StoreError, "Is it an Anew server"),
    ],
)
def test_a_port_where_something_else_than_http_is_spoken(speech, kind, says):
    async def speak(reader, writer):
        writer.write(speech)
        await writer.drain()
        await reader.read(1)
        writer.close()

    async def go():
        server = await asyncio.start_server(speak, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(kind, match=says):
            await RemoteDatabase.open(url)
        server.close()

    asyncio.run(go())


def test_a_server_of_another_protocol_refuses(tmp_path, monkeypatch):
    monkeypatch.setattr(connection, "PROTOCOL", 0)

    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            with pytest.raises(ConfigError, match="speaks protocol 5, not 0"):
                await server.open()

    asyncio.run(go())


def test_a_commit_may_be_as_large_as_the_limit_and_no_larger(tmp_path, monkeypatch):
    monkeypatch.setattr(wire, "COMMIT_BYTES_MAX", 3_000_000)

    async def go():
        database = SqliteDatabase.open(tmp_path / "runs.db")
        async with served(database, tmp_path, checks=False) as server:
            remote = await server.open()
            await remote.store.commit(first())
            large = processed(2, "ü" * 1_400_000)
            await remote.store.commit(follows(1, large))
            assert await log_of(remote) == [requested(), large]
            with pytest.raises(ConfigError, match="a server takes 3,000,000 at most"):
                await remote.store.commit(follows(2, processed(3, "x" * 3_000_000)))
            monkeypatch.setattr(connection, "_check_size", lambda operation, size: None)
            with pytest.raises(ConfigError, match="more than 3,000,000 bytes"):
                await remote.store.commit(follows(2, processed(3, "x" * 30_000_000)))
            assert len(await log_of(database)) == 2
            await remote.store.commit(follows(2, paused(3)))
            await remote.close()

    asyncio.run(go())


def test_a_large_state_is_no_reason_to_refuse_a_small_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(wire, "COMMIT_BYTES_MAX", 100_000)

    async def go():
        async with served(MemoryDatabase(), tmp_path, checks=False) as server:
            remote = await server.open()
            await remote.store.commit(first())
            await remote.store.commit(follows(1, paused(2), snapshot=RunState()))
            assert (await remote.store.load(RUN)).snapshot is not None
            large = RunState(workload={"x": "y" * 100_000})
            await remote.store.commit(follows(2, paused(3), snapshot=large))
            stored = await remote.store.load(RUN)
            assert stored.snapshot.workload == {}
            assert stored.events == [paused(3)]
            await remote.close()

    asyncio.run(go())


def test_a_proxy_that_finds_it_too_large(tmp_path):
    async def go():
        def around(app):
            async def asgi(scope, receive, send):
                is_commit = scope["path"].endswith("store.commit")
                answer = PlainTextResponse("", 413) if is_commit else app
                await answer(scope, receive, send)

            return asgi

        async with served(MemoryDatabase(), tmp_path, around=around) as server:
            remote = await server.open()
            with pytest.raises(ConfigError, match="too large for the server"):
                await remote.store.commit(first())
            await remote.close()

    asyncio.run(go())


def test_a_long_log_comes_in_several_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(wire, "PAGE_BYTES_MAX", 300_000)

    async def go():
        losing = Losing()
        async with served(MemoryDatabase(), tmp_path, around=losing.around, checks=False) as server:
            remote = await server.open()
            await remote.store.commit(first())
            log = [requested(), *(processed(seq, "x" * 100_000) for seq in range(2, 12))]
            await remote.store.commit(follows(1, *log[1:6]))
            await remote.store.commit(follows(6, *log[6:]))
            assert await log_of(remote) == log
            assert losing.heard.count("archive.events") > 1
            assert await remote.archive.events(RUN) == log
            assert await remote.archive.events(RUN, after=3, limit=5) == log[3:8]
            await remote.close()

    asyncio.run(go())


def test_a_worker_of_another_version_reads_all_events(tmp_path, monkeypatch):
    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            remote = await server.open()
            await remote.store.commit(first())
            await remote.store.commit(follows(1, paused(2), snapshot=RunState(version=2)))
            assert await log_of(remote) == []
            monkeypatch.setattr("anew.stores.packing.snapshot_format", lambda: "another")
            assert await log_of(remote) == [requested(), paused(2)]
            await remote.close()

    asyncio.run(go())


def test_the_clock_is_that_of_the_server(tmp_path):
    async def go():
        database = MemoryDatabase()

        class Ahead:
            def now(self):
                return LATER * 2

        database.clock = Ahead()
        async with served(database, tmp_path) as server:
            remote = await server.open()
            assert abs(remote.clock.now() - LATER * 2) < 10**10
            assert remote.clock.now() <= remote.clock.now()
            await remote.close()

    asyncio.run(go())


def test_the_proxy_of_the_environment_is_not_asked_for_this_machine(tmp_path, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")

    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            remote = await server.open()
            assert (await lease(remote)).leases == []
            await remote.close()

    asyncio.run(go())


def test_a_commit_with_gaps_is_refused_by_the_server(tmp_path):
    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            remote = await server.open()
            await remote.store.commit(first())
            packed = pack(follows(1, paused(2)))
            late = replace(packed, rows=[replace(packed.rows[0], seq=3)])
            with pytest.raises(ConfigError, match="gaps"):
                await remote.store.write(late)
            await remote.close()

    asyncio.run(go())
