"""Commits and loads that share a request: each with its own answer, whatever becomes of the others."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from msgspec.structs import replace
from starlette.responses import PlainTextResponse

from anew.errors import ConfigError
from anew.store import RunId, StaleVersion, StoreError
from anew.stores.contract.making import first, follows, log_of, paused, processed
from anew.stores.memory import MemoryDatabase
from anew.stores.packing import pack
from anew.stores.remote import connection, request_batching, wire
from anew.stores.sqlite import SqliteDatabase
from anew.surfaces.api import control
from tests.stores.control_server import served

RUNS = [RunId(number) for number in range(1, 21)]


@pytest.fixture(autouse=True)
def _quickly(monkeypatch):
    monkeypatch.setattr(connection, "SERVER_PAUSE_SECONDS_MAX", 0.05)


class Counting:
    """How many requests of each operation came, and how many lists had how many questions."""

    def __init__(self, answers=None):
        self.sizes = {}
        self._answers = answers or {}

    def around(self, app):
        async def asgi(scope, receive, send):
            operation = scope["path"].rsplit("/", 1)[1]
            message = await receive()
            if operation in ("store.commit", "store.load") and not message["more_body"]:
                size = len(msgspec.msgpack.decode(message["body"]))
                self.sizes.setdefault(operation, []).append(size)
                if size > 1 and operation in self._answers:
                    await self._answers[operation](scope, receive, send)
                    return

            async def again():
                nonlocal message
                given, message = message, None
                return given or await receive()

            await app(scope, again, send)

        return asgi


async def commit_all(remote, commits):
    asked = [remote.store.commit(commit) for commit in commits]
    return await asyncio.gather(*asked, return_exceptions=True)


def test_commits_that_come_together_share_requests(tmp_path):
    async def go():
        counting = Counting()
        database = SqliteDatabase.open(tmp_path / "runs.db")
        async with served(database, tmp_path, around=counting.around) as server:
            remote = await server.open()
            assert await commit_all(remote, [first(run) for run in RUNS]) == [None] * 20
            assert counting.sizes["store.commit"] == [20]
            found = await asyncio.gather(*(remote.store.load(run) for run in RUNS))
            assert [stored.events[0].run for stored in found] == [str(run) for run in RUNS]
            assert counting.sizes["store.load"] == [10, 10]
            await remote.close()

    asyncio.run(go())


def test_those_who_are_refused_do_not_disturb_the_others(tmp_path):
    async def go():
        counting = Counting()
        async with served(
            MemoryDatabase(), tmp_path, around=counting.around, checks=False
        ) as server:
            remote = await server.open()
            await remote.store.commit(first(RUNS[3]))
            asked = [first(run) for run in RUNS]
            asked[3] = replace(asked[3], events=[paused(1)])
            asked[6] = follows(5, paused(6), run=RUNS[6])
            results = await commit_all(remote, asked)
            assert [type(one) for one in results if one is not None] == [StaleVersion] * 2
            assert [results[3] is None, results[6] is None] == [False, False]
            assert await remote.store.load(RunId(99)) is None
            assert counting.sizes["store.commit"] == [1, 20]
            await remote.close()

    asyncio.run(go())


def test_one_that_cannot_be_read_is_told_so_and_the_others_are_done(tmp_path):
    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            remote = await server.open()
            packed = [pack(first(run)) for run in RUNS]
            packed[5] = replace(packed[5], at=2**63)
            asked = [remote.store.write(one) for one in packed]
            results = await asyncio.gather(*asked, return_exceptions=True)
            assert isinstance(results.pop(5), ConfigError)
            assert results == [None] * 19
            await remote.close()

    asyncio.run(go())


def test_a_store_that_cannot_do_one_now_is_asked_for_that_one_again(tmp_path):
    async def go():
        database, counting = MemoryDatabase(), Counting()
        write, failing = database.store.write, {RUNS[2]: 2}

        async def fails_at_first(commit):
            if failing.get(commit.run, 0) > 0:
                failing[commit.run] -= 1
                raise StoreError("not now")
            await write(commit)

        database.store.write = fails_at_first
        async with served(database, tmp_path, around=counting.around) as server:
            remote = await server.open()
            assert await commit_all(remote, [first(run) for run in RUNS]) == [None] * 20
            assert counting.sizes["store.commit"] == [20, 1, 1]
            await remote.close()

    asyncio.run(go())


def test_one_that_the_store_never_answers_does_not_keep_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr(control, "STORE_SECONDS_MAX", 0.2)

    async def go():
        database = MemoryDatabase()
        write = database.store.write

        async def hangs(commit):
            if commit.run == RUNS[2]:
                await asyncio.Event().wait()
            await write(commit)

        database.store.write = hangs
        async with served(database, tmp_path) as server:
            remote = await server.open(patience_seconds=3600)
            asked = [asyncio.create_task(remote.store.commit(first(run))) for run in RUNS]
            stuck = asked.pop(2)
            async with asyncio.timeout(20):
                await asyncio.gather(*asked)
                await remote.store.commit(follows(1, paused(2), run=RUNS[0]))
            assert not stuck.done()
            stuck.cancel()
            await remote.close()

    asyncio.run(go())


def test_a_proxy_that_finds_many_too_large_gets_them_one_by_one(tmp_path):
    async def go():
        counting = Counting({"store.commit": PlainTextResponse("", 413)})
        async with served(MemoryDatabase(), tmp_path, around=counting.around) as server:
            remote = await server.open()
            assert await commit_all(remote, [first(run) for run in RUNS]) == [None] * 20
            assert counting.sizes["store.commit"] == [20] + [1] * 20
            await remote.close()

    asyncio.run(go())


def test_a_request_holds_no_more_than_it_may(tmp_path, monkeypatch):
    monkeypatch.setattr(request_batching, "TOGETHER_MAX", 8)

    async def go():
        counting = Counting()
        async with served(
            MemoryDatabase(), tmp_path, around=counting.around, checks=False
        ) as server:
            remote = await server.open()
            assert await commit_all(remote, [first(run) for run in RUNS]) == [None] * 20
            assert sorted(counting.sizes.pop("store.commit")) == [4, 8, 8]
            monkeypatch.setattr(request_batching, "TOGETHER_BYTES_MAX", 5_000)
            large = [follows(1, processed(2, "x" * 2_000), run=run) for run in RUNS[:6]]
            assert await commit_all(remote, large) == [None] * 6
            assert counting.sizes["store.commit"] == [2, 2, 2]
            await remote.close()

    asyncio.run(go())


def test_runs_that_do_not_fit_into_one_answer_come_in_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(wire, "PAGE_BYTES_MAX", 5_000)

    async def go():
        counting = Counting()
        async with served(
            MemoryDatabase(), tmp_path, around=counting.around, checks=False
        ) as server:
            remote = await server.open()
            await commit_all(remote, [first(run) for run in RUNS[:6]])
            large = [follows(1, processed(2, "x" * 2_000), run=run) for run in RUNS[:6]]
            await commit_all(remote, large)
            found = await asyncio.gather(*(remote.store.load(run) for run in RUNS[:6]))
            assert [len(stored.events) for stored in found] == [2] * 6
            assert counting.sizes["store.load"] == [6, 4, 2]
            await remote.close()

    asyncio.run(go())


def test_commits_of_one_run_are_made_in_their_order(tmp_path):
    async def go():
        counting = Counting()
        database = SqliteDatabase.open(tmp_path / "runs.db")
        async with served(database, tmp_path, around=counting.around) as server:
            remote = await server.open()
            run = RUNS[0]
            commits = [
                first(run),
                *(follows(seq - 1, paused(seq), run=run) for seq in range(2, 30)),
            ]
            assert await commit_all(remote, commits) == [None] * 29
            assert len(await log_of(remote, run)) == 29
            assert counting.sizes["store.commit"] == [1] * 29
            await remote.close()

    asyncio.run(go())


def test_who_waits_is_told_when_the_connection_is_closed(tmp_path):
    async def go():
        async with served(MemoryDatabase(), tmp_path) as server:
            remote = await server.open(patience_seconds=3600)
        asked = [asyncio.create_task(remote.store.commit(first(run))) for run in RUNS]
        await asyncio.sleep(0.1)
        late = asyncio.create_task(remote.store.commit(first(RunId(77))))
        await asyncio.sleep(0)
        await remote.close()
        for one in [*asked, late]:
            with pytest.raises(StoreError, match="is closed"):
                await one

    asyncio.run(go())
