"""`singleton`: of a name, one run at a time is unfinished."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from anew.engine.state import RunStatus
from anew.errors import ConfigError
from anew.runtime.programs import read_document
from anew.runtime.run_starts import Started, StartRequest
from anew.runtime.singletons import check_singleton
from tests.runtime.test_control import in_a_world

WAITS = "{metadata: {name: waits}, workflow: [{step: s, tool: {kind: wait, signal: go}}]}"


def request(name: str | None = "nightly") -> StartRequest:
    return StartRequest(read_document(WAITS, "flow.yaml"), {}, None, {"by": "ann"}, singleton=name)


async def start(world: Any, name: str | None = "nightly") -> Started:
    started = await world.engine.start(request(name))
    assert isinstance(started, Started)
    return started


def test_of_many_starts_at_once_one_begins_a_run(tmp_path: Path) -> None:
    async def work(world: Any) -> None:
        started = await asyncio.gather(*(start(world) for _ in range(10)))
        assert len({one.run for one in started}) == 1
        assert [one.is_new for one in started].count(True) == 1

    in_a_world(work, tmp_path)


def test_another_run_may_start_once_the_last_has_ended(tmp_path: Path) -> None:
    async def work(world: Any) -> None:
        first = await start(world)
        again = await start(world)
        assert (again.run, again.is_new) == (first.run, False)
        assert f"run {first.run} of the singleton 'nightly' is not finished" in str(again.notice)
        await world.engine.cancel(first.run)
        second = await start(world)
        assert second.is_new
        assert second.run != first.run
        assert (await start(world)).run == second.run

    in_a_world(work, tmp_path)


def test_other_names_and_runs_without_one_start_beside_it(tmp_path: Path) -> None:
    async def work(world: Any) -> None:
        names = ("nightly", "hourly", None, None)
        started = [await start(world, name) for name in names]
        assert [one.is_new for one in started] == [True] * 4
        rows = [await world.engine.database.archive.run(one.run) for one in started]
        assert {row.status for row in rows} <= {RunStatus.RUNNING, RunStatus.WAITING}
        assert all(row.labels["by"] == "ann" for row in rows)

    in_a_world(work, tmp_path)


def test_a_retry_counts_as_the_run_of_its_name(tmp_path: Path) -> None:
    async def work(world: Any) -> None:
        first = await start(world)
        await world.engine.cancel(first.run)
        retried = await world.engine.retry(first.run, "s")
        again = await start(world)
        assert (again.run, again.is_new) == (retried.run, False)
        await world.engine.cancel(retried.run)
        assert (await start(world)).is_new

    in_a_world(work, tmp_path)


def test_a_name_and_a_key_are_refused_together() -> None:
    assert check_singleton("nightly", None) == "nightly"
    with pytest.raises(ConfigError, match="a key names one run forever"):
        check_singleton("nightly", "k")
    with pytest.raises(ConfigError, match="the singleton is empty"):
        check_singleton(" ", None)
