"""One action on many runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anew.runtime import bulk as runtime_bulk
from anew.surfaces.api import bulk
from tests.surfaces.api.served import FAILS, NOOP, SLEEPS, WAITS, Site, play
from tests.surfaces.api.test_run_list import RETRIES, stands

BULK = "/api/v1/runs/bulk"


async def asleep(site: Site, count: int) -> list[str]:
    runs = [await site.started(SLEEPS) for _ in range(count)]
    for run in runs:
        await stands(site, run, "parked")
    return runs


async def state_of(site: Site, run: str) -> str:
    rows = (await site.get("/api/v1/runs"))["runs"]
    return str(next(row["state"] for row in rows if row["run"] == run))


def test_a_dry_run_counts_and_changes_nothing(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        runs = await asleep(site, 2)
        await site.ended(await site.started(NOOP))
        for which in ({"filter": {}}, {"filter": {"since": "1h"}}):
            said = await site.post(BULK, {"action": "cancel", "dry_run": True, **which})
            assert (said["count"], said["able"]) == (3, 2)
        said = await site.post(BULK, {"action": "resume", "runs": [*runs, "99"], "dry_run": True})
        assert (said["count"], said["able"], said["changed"]) == (2, 0, [])
        said = await site.post(
            BULK, {"action": "pause", "filter": {"state": ["parked", "done"]}, "dry_run": True}
        )
        assert (said["count"], said["able"]) == (3, 2)
        assert [await state_of(site, run) for run in runs] == ["parked", "parked"]

    play(tmp_path, act)


def test_each_action_changes_the_runs_that_it_can(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        runs = await asleep(site, 2)
        done = await site.started(NOOP)
        await site.ended(done)
        for action, state in (("pause", "paused"), ("resume", "parked"), ("cancel", "cancelled")):
            said = await site.post(BULK, {"action": action, "runs": [*runs, done]})
            assert said["changed"] == runs[::-1], action
            detail = f"it is done: there is nothing to {action}"
            assert said["refused"] == [{"run": done, "detail": detail, "retried_as": None}]
            assert (said["count"], said["able"], said["next"]) == (3, 2, None)
            for run in runs:
                await stands(site, run, state)

    play(tmp_path, act)


def test_waits_are_skipped_in_bulk(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        slept = (await asleep(site, 1))[0]
        retrying = await site.started(RETRIES)
        await stands(site, retrying, "retrying")
        said = await site.post(BULK, {"action": "skip", "filter": {"state": "retrying"}})
        assert said["changed"] == [retrying]
        said = await site.post(BULK, {"action": "skip", "filter": {"program": "sleeper"}})
        assert said["changed"] == [slept]
        assert (await site.ended(slept))["status"] == "done"

    play(tmp_path, act)


ASKS_AND_SLEEPS = """\
metadata: {name: both}
workflow:
  - step: start
    tool: {kind: noop}
    next: {spec: {mode: inclusive}, arcs: [{step: ask}, {step: nap}]}
  - step: ask
    tool: {kind: human, question: "Ship it?", choices: ["[Y] Yes"]}
  - step: nap
    tool: {kind: sleep, seconds: 3600}
"""


def test_waits_are_skipped_whatever_stands_for_the_run(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        both = await site.started(ASKS_AND_SLEEPS)
        slept = (await asleep(site, 1))[0]
        await stands(site, both, "person")
        await site.post(f"/api/v1/runs/{slept}/pause")
        await site.ended(await site.started(NOOP))
        await stands(site, await site.started(WAITS), "signal")
        body = {"action": "skip", "filter": {}, "by": "ann"}
        said = await site.post(BULK, {**body, "dry_run": True})
        assert (said["count"], said["able"]) == (4, 2)
        said = await site.post(BULK, body)
        assert said["changed"] == [slept, both]
        for run in (slept, both):
            events = (await site.get(f"/api/v1/runs/{run}/events"))["events"]
            assert [one["data"]["by"] for one in events if one["name"] == "wait.skipped"] == ["ann"]
        said = await site.post(BULK, body)
        assert {one["detail"] for one in said["refused"]} >= {"there was nothing to skip"}

    play(tmp_path, act)


def test_a_repeated_retry_starts_nothing_twice(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        failed = [await site.started(FAILS) for _ in range(2)]
        for run in failed:
            await site.ended(run)
        body = {"action": "retry", "filter": {"state": "failed", "until": "0s"}}
        assert (await site.post(BULK, {**body, "dry_run": True}))["able"] == 2
        body = {"action": "retry", "runs": failed}
        first = await site.post(BULK, body)
        assert first["changed"] == failed[::-1]
        again = await site.post(BULK, body)
        assert again["changed"] == []
        assert all("it was retried before, as run" in one["detail"] for one in again["refused"])
        rows = (await site.get("/api/v1/runs"))["runs"]
        assert len(rows) == 4
        assert all(row["key"] is None for row in rows)  # what nobody gave is no news

    play(tmp_path, act)


def test_one_that_is_refused_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act(site: Site) -> None:
        runs = await asleep(site, 3)
        told: list[int] = []
        cancel = site.engine.cancel

        async def sometimes(run: Any, reason: str | None = None) -> bool:
            told.append(run)
            if str(run) == runs[1]:
                raise runtime_bulk.ActionRefused("not this one")
            return await cancel(run, reason)

        monkeypatch.setattr(site.engine, "cancel", sometimes)
        said = await site.post(BULK, {"action": "cancel", "filter": {}, "reason": "test"})
        assert said["changed"] == [runs[2], runs[0]]
        assert said["refused"] == [{"run": runs[1], "detail": "not this one", "retried_as": None}]
        assert len(told) == 3

    play(tmp_path, act)


def test_many_runs_take_several_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "BULK_RUNS_MAX", 2)

    async def act(site: Site) -> None:
        runs = await asleep(site, 5)
        body: dict[str, Any] = {"action": "cancel", "filter": {"program": "sleeper"}}
        changed: list[str] = []
        for _ in range(3):
            said = await site.post(BULK, body)
            changed += said["changed"]
            body["before"] = said["next"]
        assert changed == runs[::-1]
        assert said["next"] is None

    play(tmp_path, act)


def test_a_request_that_takes_long_says_where_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "BULK_SECONDS_MAX", -1.0)

    async def act(site: Site) -> None:
        runs = await asleep(site, 3)
        said = await site.post(BULK, {"action": "pause", "runs": runs})
        assert (said["changed"], said["next"]) == ([runs[2]], runs[2])
        said = await site.post(BULK, {"action": "pause", "runs": runs, "before": said["next"]})
        assert (said["changed"], said["next"]) == ([runs[1]], runs[1])

    play(tmp_path, act)


@pytest.mark.parametrize(
    "body",
    [
        {"action": "cancel"},
        {"action": "cancel", "runs": [], "filter": {}},
        {"action": "delete", "filter": {}},
        {"action": "cancel", "runs": ["x"]},
        {"action": "cancel", "runs": ["9" * 19]},
        {"action": "cancel", "runs": ["1"] * 1_001},
        {"action": "cancel", "filter": {"colour": "red"}},
        {"action": "cancel", "filter": {"state": "gone"}},
        {"action": "cancel", "filter": {"limit": 3}},
        {"action": "cancel", "filter": {"program": ["a", "b"]}},
        {"action": "cancel", "filter": {}, "before": "x"},
        {"action": "cancel", "filter": {}, "more": 1},
        {"action": "resume", "filter": {}, "reason": "x"},
        {"action": "retry", "filter": {}, "reason": "x"},
        {"action": "skip", "filter": {}, "reason": "x"},
        {"action": "pause", "filter": {}, "by": "x"},
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, body: dict[str, Any]) -> None:
    async def act(site: Site) -> None:
        await site.post(BULK, body, 400)

    play(tmp_path, act, works=False)


def test_numbers_and_truths_of_a_filter_are_words(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        retrying = await site.started(RETRIES)
        await stands(site, retrying, "retrying")
        filter = {"retrying": True, "attempt": 2, "state": ["retrying"], "due_within": "2h"}
        said = await site.post(BULK, {"action": "cancel", "filter": filter, "dry_run": True})
        assert said["count"] == 1
        said = await site.post(
            BULK, {"action": "cancel", "filter": {"attempt": 3}, "dry_run": True}
        )
        assert said["count"] == 0

    play(tmp_path, act)
