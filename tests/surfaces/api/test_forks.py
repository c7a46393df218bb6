"""Forks and retries over HTTP: previewed, begun, refused."""

from __future__ import annotations

from pathlib import Path

from tests.surfaces.api.served import Site, play

STEPS = """\
metadata: {name: steps}
workload: {who: world}
workflow:
  - step: one
    tool: {kind: noop, result: 1}
    next: [{step: two}]
  - step: two
    tool: {kind: shell, command: "exit 1"}
    next: [{step: three}]
  - step: three
    tool: {kind: noop, result: "{{ workload.who }}"}
"""
MENDED = STEPS.replace("exit 1", "exit 0")


def test_a_fork_goes_on_under_another_document_with_another_workload(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        old = await site.started(STEPS)
        assert (await site.ended(old))["status"] == "failed"
        wish = {"step": "two", "document": MENDED, "workload": {"who": "moon"}, "key": "f"}
        path = f"/api/v1/runs/{old}/fork"
        told = await site.post(path, {**wish, "dry_run": True}, 200)
        assert told["preview"]["effects"][0]["what"] == "exit 1"
        assert set(told) == {"preview"}
        new = await site.post(path, wish, 201)
        assert (await site.ended(new["run"]))["result"] == "moon"
        assert (await site.post(path, wish, 200))["run"] == new["run"]
        assert (await site.ended(old))["status"] == "failed"

    play(tmp_path, act)


def test_what_a_run_is_found_by_goes_on_with_it(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        old = await site.started(STEPS, labels={"customer": "acme"})
        await site.ended(old)
        retried = (await site.post(f"/api/v1/runs/{old}/retry", {}, 201))["run"]
        await site.ended(retried)
        again = (await site.post(f"/api/v1/runs/{retried}/retry", {}, 201))["run"]
        wish = {"step": "two", "labels": {"customer": "other"}}
        forked = (await site.post(f"/api/v1/runs/{old}/fork", wish, 201))["run"]
        found = (await site.get("/api/v1/runs?label=customer=acme"))["runs"]
        assert {row["run"]: row["labels"] for row in found} == {
            old: {"customer": "acme"},
            retried: {"customer": "acme", "retry_of": old},
            again: {"customer": "acme", "retry_of": retried},
        }
        [row] = (await site.get("/api/v1/runs?label=customer=other"))["runs"]
        assert (row["run"], row["labels"]["fork_of"]) == (forked, old)

    play(tmp_path, act)


def test_a_document_that_does_not_fit_is_a_conflict_with_its_reasons(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        old = await site.started(STEPS)
        await site.ended(old)
        wish = {"at": 8, "document": STEPS.replace("step: two", "step: deux")}
        problem = await site.post(f"/api/v1/runs/{old}/fork", wish, 409)
        assert [row["step"] for row in problem["misfits"]] == ["two"]
        path = f"/api/v1/runs/{old}/fork"
        await site.post(path, {"at": 8, "program": "none"}, 404)
        await site.post(path, {"at": 8, "program": "a", "document": "b"}, 400)
        await site.post(path, {"at": 8, "step": "two"}, 400)
        await site.post(path, {"at": 8, "visit": 1}, 400)
        await site.post(path, {"at": 8, "version": 1}, 400)
        told = (await site.post(path, {}, 400))["detail"]
        assert "nothing is left" in told
        assert "--" not in told
        await site.post("/api/v1/runs/17/fork", {}, 404)

    play(tmp_path, act)


def test_a_retry_of_what_its_own_document_lacks_is_a_conflict(tmp_path: Path) -> None:
    other = MENDED.replace("step: two", "step: deux")

    async def act(site: Site) -> None:
        old = await site.started(MENDED)
        await site.ended(old)
        wish = {"step": "three", "document": other}
        new = (await site.post(f"/api/v1/runs/{old}/fork", wish, 201))["run"]
        await site.ended(new)
        problem = await site.post(f"/api/v1/runs/{new}/retry", {"step": "two"}, 409)
        assert [row["step"] for row in problem["misfits"]] == ["two"]

    play(tmp_path, act)


def test_a_retry_can_be_previewed(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        old = await site.started(STEPS)
        await site.ended(old)
        told = await site.post(f"/api/v1/runs/{old}/retry", {"dry_run": True}, 200)
        assert [row["step"] for row in told["preview"]["again"]] == ["two"]

    play(tmp_path, act)


def test_registering_a_version_tells_which_runs_could_be_moved_to_it(tmp_path: Path) -> None:
    waits = "metadata: {name: waits}\nworkflow: [{step: w, tool: {kind: wait, signal: go}}]"

    async def act(site: Site) -> None:
        run = await site.started(waits)
        await site.reached(run, "waiting")
        newer = waits.replace("signal: go", "signal: come")
        answer = await site.post("/api/v1/programs", {"document": newer}, 201)
        assert answer["runs"] == {"movable": [run], "stuck": [], "has_more": False}
        other = waits.replace("step: w", "step: v")
        (stuck,) = (await site.post("/api/v1/programs", {"document": other}, 201))["runs"]["stuck"]
        assert stuck["run"] == run
        assert stuck["reasons"][0]["step"] == "w"

    play(tmp_path, act)
