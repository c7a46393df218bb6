"""The log over HTTP: pages, and streams that neither lose an event nor tell one twice."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from anew.store import RunId
from anew.surfaces.api import events as module
from anew.surfaces.api.event_pages import EVENTS_PAGE_BYTES_MAX
from anew.surfaces.api.settings import ApiSettings
from anew.views.words import event_rows
from tests.surfaces.api.served import (
    ASKS,
    CHAIN,
    GRAPH,
    SLEEPS,
    TOKEN,
    Site,
    answered,
    blocks,
    play,
)

STREAM = "/api/v1/runs/{run}/events/stream"
LOOP = """\
metadata: {name: loop}
workflow:
  - step: each
    loop: {in: "{{ workload.items }}", iterator: item}
    tool: {kind: noop}
"""
LARGE = """\
metadata: {name: large}
workflow:
  - step: each
    loop: {in: "{{ workload.items }}", iterator: item}
    tool: {kind: noop, result: "{{ workload.text }}{{ item }}"}
"""


async def whole_log(site: Site, run: str) -> list[dict[str, Any]]:
    return list((await site.get(f"/api/v1/runs/{run}/events?limit=5000"))["events"])


def test_the_log_is_read_page_by_page(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(CHAIN)
        await site.ended(run)
        found, after = [], 0
        while True:
            page = await site.get(f"/api/v1/runs/{run}/events?after={after}&limit=4")
            found += page["events"]
            if page["next"] is None:
                break
            after = page["next"]
        assert found == await whole_log(site, run)
        assert [row["seq"] for row in found] == list(range(1, len(found) + 1))
        assert set(found[0]) == {
            "seq", "at", "name", "step", "visit", "iteration", "task", "attempt", "data", "text",
        }  # fmt: skip

    play(tmp_path, act)


def test_a_page_is_cut_where_it_becomes_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    async def act(site: Site) -> None:
        run = await site.started(LARGE, workload={"items": list(range(30)), "text": "x" * 100_000})
        await site.ended(run)
        archive = site.engine.database.archive
        log = event_rows(await archive.events(RunId(int(run)), limit=5000))
        read = archive.rows  # type: ignore[attr-defined]

        async def rows(run: RunId, *, after: int, limit: int) -> Any:
            asked.append(limit)
            return await read(run, after=after, limit=limit)

        monkeypatch.setattr(archive, "rows", rows)
        for path in ("/api/v1/runs", "/api/executions"):
            found: list[dict[str, Any]] = []
            after: int | None = 0
            pages = 0
            while after is not None:
                answer = await site.client.get(f"{path}/{run}/events?after={after}&limit=5000")
                assert len(answer.content) < 2 * EVENTS_PAGE_BYTES_MAX
                page = answered(answer, 200)
                found += page["events"]
                after, pages = page["next"], pages + 1
            assert [(row["seq"], row["data"]) for row in found] == [
                (row["seq"], row["data"]) for row in log
            ]
            assert pages > 1
        shown = await site.client.get(f"/api/executions/{run}")
        assert len(shown.content) < 2 * EVENTS_PAGE_BYTES_MAX
        assert shown.json()["events"][-1]["event_type"] == "run.done"

    play(tmp_path, act)
    assert max(asked) < 1000  # no more is read at once than should fit


def test_a_reader_that_does_not_read_holds_a_small_part_of_the_log(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(LARGE, workload={"items": list(range(30)), "text": "x" * 100_000})
        await site.ended(run)
        pieces: list[bytes] = []
        row = await site.engine.database.archive.run(RunId(int(run)))
        assert row is not None
        stream = module.EventLogStream(site.service, row.run, event_rows, seen=0, after=0)
        told: list[int] = []
        async for piece in stream.chunks():
            pieces.append(piece)
            told += [int(line[4:]) for line in piece.split(b"\n") if line.startswith(b"id: ")]
        assert max(map(len, pieces)) < 4_000_000
        assert len(pieces) > 30
        assert told == list(range(1, row.version + 1))

    play(tmp_path, act)


def test_a_page_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(CHAIN)
        for query in ("after=-1", "after=x", "limit=0", "limit=5001", "x=1"):
            await site.get(f"/api/v1/runs/{run}/events?{query}", 400)

    play(tmp_path, act)


def test_a_stream_tells_every_event_once_and_ends_with_the_run(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(LOOP, workload={"items": list(range(50))})
        told = [block async for block in site.stream(run)]
        log = await whole_log(site, run)
        assert [{k: v for k, v in row.items() if k != "id"} for row in told] == log
        assert [row["id"] for row in told] == [str(row["seq"]) for row in log]
        assert told[-1]["name"] == "run.done"

    play(tmp_path, act)


def test_streams_longer_than_a_page_are_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STREAM_PAGE_EVENTS", 3)

    async def act(site: Site) -> None:
        run = await site.started(CHAIN)
        told = [block["seq"] async for block in site.stream(run)]
        assert told == list(range(1, len(told) + 1))
        assert len(told) == len(await whole_log(site, run))

    # Nobody looks again in the time of the test: each page must lead to the next.
    settings = ApiSettings(token=TOKEN, stream_poll_seconds=3600.0)
    play(tmp_path, act, settings=settings)


def test_a_reader_that_comes_back_goes_on_where_it_stopped(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(ASKS)
        seen: list[int] = []
        async for block in site.stream(run):
            seen.append(block["seq"])
            if block["name"] == "human.waiting":
                break  # closes the connection in the middle of the run
        await site.post(f"/api/v1/runs/{run}/answer", {"answer": "y"})
        last = {"Last-Event-ID": str(seen[-1])}
        seen += [block["seq"] async for block in site.stream(run, **last)]
        assert seen == [row["seq"] for row in await whole_log(site, run)]

    play(tmp_path, act)


def test_a_browser_that_has_seen_all_is_told_not_to_come_back(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(CHAIN)
        shown = await site.ended(run)
        last = {"Last-Event-ID": str(shown["events"])}
        await site.get(STREAM.format(run=run), 204, headers=last)
        for said in ("all", "9" * 5000, str(2**63), "-1"):
            await site.get(STREAM.format(run=run), 400, headers={"Last-Event-ID": said})
        last = {"Last-Event-ID": str(shown["events"] - 1)}
        told = [block["name"] async for block in site.stream(run, **last)]
        assert told == ["run.done"]

    play(tmp_path, act)


def test_the_accept_header_asks_for_a_stream_too(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(CHAIN)
        path = "/api/v1/runs/{run}/events?after=2"
        accept = {"Accept": "text/event-stream"}
        told = [block["seq"] async for block in site.stream(run, path=path, **accept)]
        assert told[0] == 3

    play(tmp_path, act)


def test_a_silent_stream_shows_that_it_is_alive(tmp_path: Path) -> None:
    settings = ApiSettings(token=TOKEN, keep_alive_seconds=0.01, stream_poll_seconds=0.01)

    async def act(site: Site) -> None:
        run = await site.started(SLEEPS)
        async with site.client.stream("GET", STREAM.format(run=run)) as answer:
            assert answer.headers["cache-control"] == "no-store"
            async for line in answer.aiter_lines():
                if line == ": alive":
                    return
        raise AssertionError("the stream ended")

    play(tmp_path, act, settings=settings)


def test_events_are_told_at_once_and_not_at_the_next_poll(tmp_path: Path) -> None:
    settings = ApiSettings(token=TOKEN, stream_poll_seconds=3600.0, keep_alive_seconds=3600.0)

    async def act(site: Site) -> None:
        run = await site.started(ASKS)
        async for block in site.stream(run):
            if block["name"] == "human.waiting":
                await site.post(f"/api/v1/runs/{run}/answer", {"answer": "y"})

    play(tmp_path, act, settings=settings)


def test_events_that_nobody_gave_notice_of_are_found_by_looking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ApiSettings(token=TOKEN, stream_poll_seconds=0.01)

    async def act(site: Site) -> None:
        run = await site.started(ASKS)
        await site.reached(run, "waiting")
        monkeypatch.setattr(site.engine.database.notices, "listen", lambda hear: lambda: None)
        async for block in site.stream(run):
            if block["name"] == "human.waiting":
                await site.post(f"/api/v1/runs/{run}/answer", {"answer": "y"})

    play(tmp_path, act, settings=settings)


def test_a_reader_that_goes_away_costs_nothing_any_more(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(SLEEPS)
        async for _ in site.stream(run):
            assert site.service.streams == 1
            break
        while site.service.streams:
            await asyncio.sleep(0.01)

    play(tmp_path, act)


def test_there_are_no_more_streams_than_the_limit(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(SLEEPS)
        async for _ in site.stream(run):
            await site.get(STREAM.format(run=run), 503)
            break

    play(tmp_path, act, settings=ApiSettings(token=TOKEN, streams_max=1))


def test_a_server_that_stops_ends_its_streams(tmp_path: Path) -> None:
    ended: list[str] = []

    async def act(site: Site) -> None:
        run = await site.started(SLEEPS)
        is_open = asyncio.Event()

        async def follow() -> None:
            async for _ in site.stream(run):
                is_open.set()
            ended.append("ended")

        following = asyncio.create_task(follow())
        await is_open.wait()
        await site.service.close()
        await following
        await site.get(STREAM.format(run=run), 503)
        await site.get("/readyz", 503)

    play(tmp_path, act)
    assert ended == ["ended"]


def test_a_head_request_of_a_stream_is_answered_at_once(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(SLEEPS)
        answer = await site.client.head(STREAM.format(run=run))
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")

    play(tmp_path, act)


def test_graphs_are_streamed_in_their_own_words(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(GRAPH)
        path = "/runs/{run}/events"
        told = [block async for block in site.stream(run, path=path)]
        assert told[0]["type"] == "pipeline.started"
        assert told[-1]["type"] == "pipeline.completed"
        listed = await site.get(f"/runs/{run}/events", headers={"Accept": "application/json"})
        assert [row["type"] for row in listed["events"]] == [row["type"] for row in told]
        middle = told[2]["id"]
        async with site.client.stream(
            "GET", f"/runs/{run}/events", headers={"Last-Event-ID": middle}
        ) as answer:
            rest = [block async for block in blocks(answer)]
        assert rest == [row for row in told if int(row["id"]) > int(middle)]

    play(tmp_path, act)
