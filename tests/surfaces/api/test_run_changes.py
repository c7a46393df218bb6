"""Which runs change, as a stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from psycopg.conninfo import conninfo_to_dict

from anew.store import Notice, RunId
from anew.surfaces.api import run_changes
from anew.surfaces.api.settings import ApiSettings
from tests.postgres_server import Database, a_database  # noqa: F401
from tests.surfaces.api.served import NOOP, TOKEN, Site, blocks, play, served


@asynccontextmanager
async def followed(site: Site) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
    """The messages of a stream that has begun."""
    async with site.client.stream("GET", "/api/v1/runs/changes") as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield blocks(answer)


async def until_told(messages: AsyncIterator[dict[str, Any]], run: str) -> None:
    async for message in messages:
        if message["is_all"] or run in message["runs"]:
            return
    raise AssertionError(f"the stream ended without a word of run {run}")


def test_a_run_that_changes_is_named(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        async with followed(site) as messages:
            assert site.service.streams == 1
            for _ in range(2):
                await until_told(messages, await site.started(NOOP))

    play(tmp_path, act)


def test_changes_at_once_are_one_message(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        stream = run_changes.RunChangeStream(site.service)
        told = stream.chunks()
        assert await anext(told) == b": anew\n\n"
        for run in (3, 5, 3):
            stream.on_notice(Notice(RunId(run)))
        assert await anext(told) == b'data: {"runs":["5","3"],"is_all":false}\n\n'
        for run in range(run_changes.CHANGES_RUNS_MAX):
            stream.on_notice(Notice(RunId(run)))
        assert b'"is_all":false' in await anext(told)
        for run in range(run_changes.CHANGES_RUNS_MAX * 10):
            stream.on_notice(Notice(RunId(run)))
        assert len(stream._heard) == run_changes.CHANGES_RUNS_MAX + 1
        assert await anext(told) == b'data: {"runs":[],"is_all":true}\n\n'

    play(tmp_path, act, works=False)


def test_messages_are_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_changes, "CHANGES_PAUSE_SECONDS", 3600.0)

    async def act(site: Site) -> None:
        stream = run_changes.RunChangeStream(site.service)
        told = stream.chunks()
        await anext(told)
        stream.on_notice(Notice(RunId(1)))
        await anext(told)
        stream.on_notice(Notice(RunId(2)))
        following = asyncio.ensure_future(anext(told))
        await site.get("/api/v1/runs")  # time enough for a message, if there were one
        assert not following.done()
        following.cancel()

    play(tmp_path, act, works=False)


def test_a_silent_stream_says_that_it_is_alive(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        async with site.client.stream("GET", "/api/v1/runs/changes") as answer:
            lines = answer.aiter_lines()
            said = [line async for line, _ in zip_some(lines, 6)]
        assert said == [": anew", "", ": alive", "", ": alive", ""]

    play(tmp_path, act, settings=ApiSettings(token=TOKEN, keep_alive_seconds=0.01), works=False)


async def zip_some(lines: AsyncIterator[str], most: int) -> AsyncIterator[tuple[str, int]]:
    for number in range(most):
        yield await anext(lines), number


def test_a_stream_ends_when_the_server_stops(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        async with followed(site) as messages:
            site.service.stopping.set()
            assert [message async for message in messages] == []
        await site.get("/api/v1/runs/changes", 503)

    play(tmp_path, act, works=False)


def test_no_more_streams_than_there_may_be(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        async with followed(site):
            told = await site.get("/api/v1/runs/changes", 503)
            assert "1 streams" in told["detail"]

    play(tmp_path, act, settings=ApiSettings(token=TOKEN, streams_max=1), works=False)


def test_an_unknown_word_is_refused(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.get("/api/v1/runs/changes?since=1h", 400)

    play(tmp_path, act, works=False)


def test_changes_of_another_process_are_told(tmp_path: Path, database: Database) -> None:
    url = f"postgresql:///?{urlencode(conninfo_to_dict(database.dsn))}"

    async def act(one: Site) -> None:
        async with served(tmp_path, url=url) as other, followed(one) as messages:
            await until_told(messages, await other.started(NOOP))

    play(tmp_path, act, url=url)
