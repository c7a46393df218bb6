"""Failed runs that were retried, by whom ever: in lists, in groups of failures, and in bulk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.api.served import FAILS, GRAPH, NOOP, Site, play
from tests.surfaces.api.test_run_list import found

BULK = "/api/v1/runs/bulk"
FAILS_AS_GRAPH = GRAPH.replace('shape=box, prompt="do it"', 'type=tool, tool_command="exit 3"')


async def failed(site: Site, count: int, document: str = FAILS) -> list[str]:
    runs = [await site.started(document) for _ in range(count)]
    for run in runs:
        assert (await site.ended(run))["status"] == "failed"
    return runs


async def retried(site: Site, run: str, way: str) -> str:
    """The run that takes up `run`, made in one of the ways there are."""
    if way == "plain":
        answer = await site.post(f"/api/v1/runs/{run}/retry", {}, 201)
        new = str(answer["run"])
    else:
        answer = await site.post(BULK, {"action": "retry", "runs": [run]})
        assert answer["changed"] == [run]
        [new] = await found(site, f"label=retry_of%3D{run}")
    await site.ended(new)
    return new


async def row_of(site: Site, run: str) -> dict[str, Any]:
    rows = (await site.get("/api/v1/runs"))["runs"]
    return dict(next(row for row in rows if row["run"] == run))


@pytest.mark.parametrize("way", ["plain", "bulk"])
@pytest.mark.parametrize("document", [FAILS, FAILS_AS_GRAPH])
def test_a_list_tells_which_run_takes_up_another(tmp_path: Path, way: str, document: str) -> None:
    async def act(site: Site) -> None:
        one, other = await failed(site, 2, document)
        assert (await row_of(site, one))["retried_as"] is None
        new = await retried(site, one, way)
        assert (await row_of(site, one))["retried_as"] == new
        assert (await row_of(site, other))["retried_as"] is None
        assert (await row_of(site, new))["retried_as"] is None
        assert await found(site, "retried=true") == [one]
        assert await found(site, "retried=false&state=failed") == [new, other]
        facets = await site.get("/api/v1/runs/facets?retried=true")
        assert facets["total"] == 1

    play(tmp_path, act)


@pytest.mark.parametrize("way", ["plain", "bulk"])
def test_what_anyone_retried_is_not_retried_in_bulk(tmp_path: Path, way: str) -> None:
    async def act(site: Site) -> None:
        one, other = await failed(site, 2)
        new = await retried(site, one, way)
        body = {"action": "retry", "runs": [one, other]}
        said = await site.post(BULK, {**body, "dry_run": True})
        assert (said["count"], said["able"]) == (2, 1)
        said = await site.post(BULK, body)
        assert said["changed"] == [other]
        assert said["refused"] == [
            {"run": one, "detail": f"it was retried before, as run {new}", "retried_as": new}
        ]
        assert len((await site.get("/api/v1/runs"))["runs"]) == 4

    play(tmp_path, act)


def test_a_filter_says_whether_retried_runs_are_meant(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        one, _ = await failed(site, 2)
        await retried(site, one, "plain")
        able = {}
        for said in (True, False):
            body = {"action": "retry", "filter": {"retried": said}, "dry_run": True}
            answer = await site.post(BULK, body)
            able[said] = (answer["count"], answer["able"])
        assert able == {True: (1, 0), False: (2, 2)}

    play(tmp_path, act)


def test_failures_are_those_that_are_left(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        one, other = await failed(site, 2)
        [group] = (await site.get("/api/v1/failures"))["groups"]
        assert (group["count"], group["retried"]) == (2, 0)
        new = await retried(site, one, "plain")
        [group] = (await site.get("/api/v1/failures"))["groups"]
        assert (group["count"], group["retried"], group["newest"]) == (2, 1, new)
        [group] = (await site.get("/api/v1/failures?retried=true"))["groups"]
        assert (group["count"], group["retried"]) == (3, 1)
        assert other in await found(site, f"fingerprint={group['fingerprint']}&retried=false")

    play(tmp_path, act)


def test_a_group_of_which_all_were_retried_is_gone(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        flag = tmp_path / "mended"
        document = FAILS.replace("exit 3", f"test -e {flag}")
        [run] = await failed(site, 1, document)
        flag.touch()
        new = await retried(site, run, "plain")
        assert (await site.get(f"/api/v1/runs/{new}"))["status"] == "done"
        assert (await site.get("/api/v1/failures"))["groups"] == []
        [group] = (await site.get("/api/v1/failures?retried=true"))["groups"]
        assert (group["count"], group["retried"]) == (1, 1)

    play(tmp_path, act)


def test_a_fork_takes_nothing_up(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        [run] = await failed(site, 1)
        await site.post(f"/api/v1/runs/{run}/fork", {"step": "only"}, 201)
        assert (await row_of(site, run))["retried_as"] is None
        assert (await site.post(BULK, {"action": "retry", "runs": [run]}))["changed"] == [run]

    play(tmp_path, act)


def test_a_run_may_be_retried_again_by_itself(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        [run] = await failed(site, 1)
        await retried(site, run, "bulk")
        again = await retried(site, run, "plain")
        assert (await row_of(site, run))["retried_as"] == again

    play(tmp_path, act)


def test_runs_that_are_not_there_are_refused(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        done = await site.started(NOOP)
        await site.ended(done)
        nobody = {"run": "99", "detail": "there is no such run", "retried_as": None}
        for more in ({"dry_run": True}, {}):
            body = {"action": "cancel", "runs": ["99", done, "99"], **more}
            said = await site.post(BULK, body)
            assert (said["count"], said["refused"][0]) == (1, nobody)
            assert [one["run"] for one in said["refused"]].count("99") == 1
        said = await site.post(BULK, {**body, "before": done})
        assert said["refused"] == []

    play(tmp_path, act)
