"""Several servers on one PostgreSQL: any of them serves any run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import urlencode

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.postgres_server import Database, a_database  # noqa: F401
from tests.surfaces.api.served import ASKS, CHAIN, NOOP, PATIENCE_SECONDS, WAITS, Site, served


def play_two(
    folder: Path, database: Database, act: Callable[[Site, Site], Awaitable[None]], **more: bool
) -> None:
    async def whole() -> None:
        url = f"postgresql:///?{urlencode(conninfo_to_dict(database.dsn))}"
        async with (
            asyncio.timeout(PATIENCE_SECONDS),
            served(folder, url=url) as one,
            served(folder, url=url, **more) as other,
        ):
            await act(one, other)

    asyncio.run(whole())


def test_a_run_started_at_one_server_is_followed_at_another(
    tmp_path: Path, database: Database
) -> None:
    async def act(one: Site, other: Site) -> None:
        run = await one.started(CHAIN)
        told = [block["seq"] async for block in other.stream(run)]
        shown = await other.get(f"/api/v1/runs/{run}")
        assert told == list(range(1, shown["events"] + 1))
        assert shown == await one.get(f"/api/v1/runs/{run}")

    play_two(tmp_path, database, act)


def test_a_run_is_answered_and_signalled_at_any_server(tmp_path: Path, database: Database) -> None:
    async def act(one: Site, other: Site) -> None:
        asks, waits = await one.started(ASKS), await one.started(WAITS)
        await other.reached(asks, "waiting")
        await other.post(f"/api/v1/runs/{asks}/answer", {"answer": "y", "by": "ann"})
        await other.post(f"/api/v1/runs/{waits}/signals/paid", {"sum": 7}, 202)
        assert (await one.ended(asks))["result"] == "[Y] Yes by ann"
        assert (await one.ended(waits))["result"] == {"sum": 7}

    play_two(tmp_path, database, act)


def test_equal_starts_at_two_servers_are_one_run(tmp_path: Path, database: Database) -> None:
    async def act(one: Site, other: Site) -> None:
        body = {"document": NOOP, "key": "order-7"}
        starts = [site.client.post("/api/v1/runs", json=body) for site in (one, other) * 10]
        answers = await asyncio.gather(*starts)
        assert sorted(answer.status_code for answer in answers) == [200] * 19 + [201]
        assert len({answer.json()["run"] for answer in answers}) == 1

    play_two(tmp_path, database, act)


def test_what_is_registered_at_one_server_is_what_another_starts_next(
    tmp_path: Path, database: Database
) -> None:
    async def act(one: Site, other: Site) -> None:
        for version in range(1, 6):
            document = CHAIN.replace("{x: 1}", f"{{x: {version}}}")
            await one.post("/api/v1/programs", {"document": document}, 201)
            starts = [site.post("/api/v1/runs", {"program": "chain"}, 201) for site in (other, one)]
            for started in await asyncio.gather(*starts):
                assert (await other.ended(started["run"]))["result"] == {"x": version}

    play_two(tmp_path, database, act)


def test_a_server_without_workers_leaves_the_work_to_the_other(
    tmp_path: Path, database: Database
) -> None:
    async def act(one: Site, other: Site) -> None:
        run = await other.started(CHAIN)
        assert (await other.ended(run))["status"] == "done"

    play_two(tmp_path, database, act, works=False)


def test_a_request_the_database_does_not_answer_is_refused_in_time(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anew.surfaces.api.request.STORE_SECONDS_MAX", 0.5)

    async def act(one: Site, other: Site) -> None:
        held = await psycopg.AsyncConnection.connect(database.dsn)
        await held.execute("LOCK TABLE anew.runs")
        for asked in (
            one.client.get("/api/v1/runs"),
            other.client.post("/api/v1/runs", json={"document": NOOP}),
        ):
            answer = await asked
            assert answer.status_code == 503
            assert "the database gave no answer within 0.5 s" in answer.json()["detail"]
        await held.rollback()
        await held.close()

    play_two(tmp_path, database, act)
