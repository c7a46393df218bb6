"""Lists of runs over HTTP: what they are searched by, counts, points, and groups of failures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from anew.engine.state import RunStatus, StepRunKey
from anew.engine.statuses import DetailedStatus, WaitReason
from anew.runtime import json_rows as rows_module
from anew.store import JobRef, JobRow, RunId, RunRow
from anew.surfaces.api import run_list
from tests.surfaces.api.served import ASKS, FAILS, NOOP, SLEEPS, WAITS, Site, play

RETRIES = """\
metadata: {name: flaky}
workflow:
  - step: fetch
    tool:
      - get:
          kind: shell
          command: "exit 7"
          spec:
            policy:
              rules:
                - when: "{{ outcome.status == 'error' }}"
                  then: {do: retry, attempts: 5, backoff: fixed, delay: 3600}
"""


def test_a_listed_run_is_described_as_it_is_made() -> None:
    """`RunListed` and `OpenJob` only describe what `json_rows` makes."""
    key = StepRunKey("fetch", 1)
    job = JobRow(JobRef(RunId(1), key), WaitReason.RETRY, None, 1, "default", None, 0)
    row = RunRow(
        RunId(1), "p", "d", RunStatus.WAITING, 1, 0, 0, None, None, None, {}, None, 0,
        open=job, damage="unreadable",
    )  # fmt: skip
    made = rows_module.run_row(row)
    only_some_have = {"questions", "signals"}
    assert set(made) == set(run_list.RunListed.__struct_fields__) - only_some_have
    assert set(made["open"]) == set(run_list.OpenJob.__struct_fields__)
    assert msgspec.convert(made, run_list.RunListed, strict=True).state is row.state


async def started_in_every_way(site: Site) -> dict[str, str]:
    """Runs in many states, once they have come to them."""
    runs = {
        "done": await site.started(NOOP, workload={"word": "x"}, labels={"team": "Blue"}),
        "failed": await site.started(FAILS, key="order-5"),
        "parked": await site.started(SLEEPS),
        "person": await site.started(ASKS),
        "signal": await site.started(WAITS),
        "retrying": await site.started(RETRIES),
    }
    for state, run in runs.items():
        await stands(site, run, state)
    return runs


async def stands(site: Site, run: str, state: str) -> dict[str, Any]:
    """The row of a run once it stands so, told by its stream of changes."""
    async with site.client.stream("GET", "/api/v1/runs/changes") as answer:
        lines = answer.aiter_lines()
        while True:
            page = await site.get("/api/v1/runs")
            [row] = [row for row in page["runs"] if row["run"] == run]
            if row["state"] == state:
                return dict(row)
            await anext(lines)


async def found(site: Site, query: str, path: str = "") -> list[str]:
    return [row["run"] for row in (await site.get(f"/api/v1/runs{path}?{query}"))["runs"]]


def test_a_run_stands_in_one_state_everywhere(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        runs = await started_in_every_way(site)
        facets = await site.get("/api/v1/runs/facets")
        assert set(facets["states"]) == {state.value for state in DetailedStatus}
        assert {state: n for state, n in facets["states"].items() if n} == dict.fromkeys(runs, 1)
        assert facets["total"] == 6
        assert facets["programs"] == ["ask", "failing", "flaky", "quick", "sleeper", "waiter"]
        shown = await site.get("/api/v1/runs/points")
        assert {point[0]: point[3] for point in shown["points"]} == {
            run: state for state, run in runs.items()
        }
        assert shown["is_cut"] is False
        assert all(point[2] >= 0 for point in shown["points"])
        for state, run in runs.items():
            assert await found(site, f"state={state}") == [run]
        both = await found(site, "state=person&state=done")
        assert both == [runs["person"], runs["done"]]
        filtered = await site.get("/api/v1/runs/facets?state=person&program=ask")
        assert (filtered["total"], filtered["states"]["person"]) == (1, 1)
        assert await site.get("/api/v1/runs/facets?state=paused") | {"now": ""} == facets | {
            "now": ""
        }

    play(tmp_path, act)


def test_runs_are_found_by_what_people_know_of_them(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        runs = await started_in_every_way(site)
        row = (await site.get("/api/v1/runs?state=failed"))["runs"][0]
        for query, states in (
            ("text=ORDER-5", ["failed"]),
            ("text=blue", ["done"]),
            ("text=EXIT%20status", ["failed"]),
            ("text=%25", []),
            ("error_kind=exit_code", ["failed"]),
            (f"fingerprint={row['fingerprint']}", ["failed"]),
            ("attempt=2", ["retrying"]),
            ("due_within=2h", ["retrying"]),
            ("due_within=1m", []),
            ("program=ask", ["person"]),
            (f"digest={row['digest']}", ["failed"]),
            ("until=1h", []),
            ("running_longer_than=1h", []),
            ("running_longer_than=0s&program=ask", ["person"]),
            ("running_longer_than=0s&program=quick", []),
            ("running_longer_than=0s&status=running&status=done&text=order", []),
            ("since=1h&until=2000-01-01", []),
            ("label=team%3DBlue", ["done"]),
        ):
            assert await found(site, query) == [runs[state] for state in states], query
        assert await found(site, f"text={runs['done'][-9:]}") == [runs["done"]]

    play(tmp_path, act)


def test_a_row_shows_the_job_that_says_most(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        runs = await started_in_every_way(site)
        rows = {row["run"]: row for row in (await site.get("/api/v1/runs"))["runs"]}
        retry = rows[runs["retrying"]]["open"]
        assert (retry["reason"], retry["step"], retry["attempt"]) == ("retry", "fetch", 2)
        assert retry["due_at"] > rows[runs["retrying"]]["created_at"]
        assert retry["is_leased"] is False
        assert rows[runs["done"]]["open"] is None
        assert rows[runs["person"]]["open"]["due_at"] is None
        assert rows[runs["person"]]["questions"][0]["question"] == "Ship it?"
        assert rows[runs["signal"]]["signals"][0]["signal"] == "paid"
        assert rows[runs["failed"]]["fingerprint"] is not None
        assert rows[runs["done"]]["fingerprint"] is None

    play(tmp_path, act)


def test_runs_are_found_by_the_version_they_run(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        second = NOOP.replace("word }}", "word }}!")
        for document in (NOOP, second):
            await site.post("/api/v1/programs", {"document": document}, 201)
        old = await site.post("/api/v1/runs", {"program": "quick", "version": 1}, 201)
        new = await site.post("/api/v1/runs", {"program": "quick"}, 201)
        only_run = await site.started(NOOP.replace("word }}", "word }}?"))
        assert await found(site, "program=quick&version=1") == [old["run"]]
        assert await found(site, "program=quick&version=2") == [new["run"]]
        rows = {row["run"]: row for row in (await site.get("/api/v1/runs"))["runs"]}
        versions = [rows[run]["version"] for run in (old["run"], new["run"], only_run)]
        assert versions == [1, 2, None]
        for query in ("version=1", "program=quick&version=9"):
            told = await site.get(f"/api/v1/runs?{query}", 400)
            assert "version" in told["detail"]

    play(tmp_path, act)


@pytest.mark.parametrize(
    "query",
    [
        *("state=retried", "attempt=0", "attempt=x", "due_within=soon", "due_within=-1"),
        *("running_longer_than=soon", "running_longer_than=1h&status=done"),
        *("due_within=inf", "text=", "text=" + "x" * 201, "until=never", "fingerprint="),
        *("since=", "error_kind=%00", "limit=0", "unknown=1"),
    ],
)
def test_a_word_that_makes_no_sense_is_refused(tmp_path: Path, query: str) -> None:
    async def act(site: Site) -> None:
        for path in ("", "/facets", "/points"):
            await site.get(f"/api/v1/runs{path}?{query}", 400)

    play(tmp_path, act, works=False)


def test_points_are_cut_at_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_list, "POINTS_MAX", 2)

    async def act(site: Site) -> None:
        runs = [await site.started(SLEEPS) for _ in range(3)]
        shown = await site.get("/api/v1/runs/points")
        assert [point[0] for point in shown["points"]] == runs[:0:-1]
        assert shown["is_cut"] is True

    play(tmp_path, act, works=False)


def test_of_very_many_rows_few_are_read_for_what_they_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_module, "ASKING_ROWS_MAX", 1)

    async def act(site: Site) -> None:
        runs = [await site.started(ASKS) for _ in range(2)]
        for run in runs:
            await stands(site, run, "person")
        listed = (await site.get("/api/v1/runs"))["runs"]
        assert ["questions" in row for row in listed] == [True, False]

    play(tmp_path, act)


def test_failures_are_grouped_by_what_went_wrong(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        other = FAILS.replace("exit 3", "exit 4").replace("failing", "second")
        runs = []
        for document in (FAILS, FAILS, FAILS, other):
            runs.append(await site.started(document))
            await site.ended(runs[-1])  # before the next, which is then the newest failure
        shown = await site.get("/api/v1/failures")
        assert [group["count"] for group in shown["groups"]] == [1, 3]
        assert shown["is_cut"] is False
        group = shown["groups"][1]
        assert (group["newest"], group["step"], group["dead"]) == (runs[2], "only", 0)
        assert (group["kind"], group["programs"]) == ("exit_code", ["failing"])
        assert group["first_at"] < group["last_at"]
        assert await found(site, f"fingerprint={group['fingerprint']}") == runs[2::-1]
        only = await site.get("/api/v1/failures?program=second")
        assert [one["count"] for one in only["groups"]] == [1]
        cut = await site.get("/api/v1/failures?limit=1")
        assert (len(cut["groups"]), cut["is_cut"]) == (1, True)
        assert (await site.get("/api/v1/failures?until=2000-01-01"))["groups"] == []
        for query in ("limit=0", "limit=201", "since=never", "x=1"):
            await site.get(f"/api/v1/failures?{query}", 400)

    play(tmp_path, act)
