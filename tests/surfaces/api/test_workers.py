"""Who works and what waits, over HTTP: the server itself, workers elsewhere, pools without any."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from psycopg.conninfo import conninfo_to_dict

from anew import __version__
from anew.runtime.bootstrap import open_worker_engine
from tests.postgres_server import Database, a_database  # noqa: F401
from tests.surfaces.api.served import SLEEPS, TOKEN, Site, play

LOOK_SECONDS = 0.02

LONELY = """\
metadata: {name: lonely}
workflow:
  - step: only
    spec: {pool: gpu}
    tool: {kind: noop}
"""


async def seen(site: Site, of: str = "workers", **fields: Any) -> dict[str, Any]:
    """What is told once there is such a row: a process speaks up soon after it began."""
    while True:
        told = dict(await site.get("/api/v1/workers"))
        if any(fields.items() <= row.items() for row in told[of]):
            return told
        await asyncio.sleep(LOOK_SECONDS)


def test_a_server_tells_of_itself(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        told = await seen(site, kind="server")
        [row] = told["workers"]
        assert (row["slots"], row["pools"], row["version"]) == (8, ["default"], __version__)
        assert row["is_alive"]
        assert row["started_at"] <= row["seen_at"] <= told["now"]
        [pool] = told["pools"]
        assert pool == {
            "pool": "default",
            "workers": 1,
            "slots": 8,
            "oldest_ready_at": None,
            "next_due_at": None,
            **dict.fromkeys(("busy", "ready", "waiting", "leased", "expired"), 0),
        }
        await site.get("/api/v1/workers?more=1", 400)

    play(tmp_path, act)


def test_jobs_that_nobody_takes_show_in_their_pool(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.started(LONELY)
        await site.started(SLEEPS)
        told = await seen(site, "pools", waiting=1)
        usual, gpu = told["pools"]
        assert (gpu["pool"], gpu["workers"], gpu["slots"], gpu["ready"]) == ("gpu", 0, 0, 1)
        assert gpu["oldest_ready_at"] <= told["now"]
        assert (usual["pool"], usual["waiting"], usual["ready"]) == ("default", 1, 0)
        assert usual["next_due_at"] > told["now"]

    play(tmp_path, act)


def test_a_worker_elsewhere_is_known_until_it_stops(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("ANEW_TOKEN", TOKEN)

    async def act(site: Site) -> None:
        async with open_worker_engine(site.url, slots=2, pools=("gpu",)):
            told = await seen(site, kind="worker")
            rows = {row["kind"]: row for row in told["workers"]}
            assert (rows["worker"]["pools"], rows["worker"]["slots"]) == (["gpu"], 2)
            pools = {pool["pool"]: pool for pool in told["pools"]}
            assert (pools["gpu"]["workers"], pools["gpu"]["slots"]) == (1, 2)
        kinds = [row["kind"] for row in (await site.get("/api/v1/workers"))["workers"]]
        assert kinds == ["server"]

    play(tmp_path, act)


def test_a_server_without_workers_counts_for_no_pool(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        told = await seen(site, kind="server", slots=0)
        assert [pool["workers"] for pool in told["pools"]] == [0]

    play(tmp_path, act, works=False)


def test_all_who_share_a_postgres_are_known(tmp_path: Path, database: Database) -> None:
    url = f"postgresql:///?{urlencode(conninfo_to_dict(database.dsn))}"

    async def act(site: Site) -> None:
        async with open_worker_engine(url, slots=5):
            told = await seen(site, kind="worker")
            assert sorted(row["kind"] for row in told["workers"]) == ["server", "worker"]
            [pool] = told["pools"]
            assert (pool["workers"], pool["slots"]) == (2, 13)

    play(tmp_path, act, url=url)
