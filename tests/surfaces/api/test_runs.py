"""Runs over HTTP: started, listed, shown, and changed."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from anew.store import RunId, StoreError
from anew.surfaces.api import request
from anew.surfaces.api.settings import ApiSettings
from tests.surfaces.api.served import (
    ASKS,
    CHAIN,
    FAILS,
    GRAPH,
    NOOP,
    SLEEPS,
    TOKEN,
    WAITS,
    Site,
    answered,
    play,
)


def test_a_document_is_run_and_shown_as_the_command_line_shows_it(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(NOOP, workload={"word": "hello"}, labels={"team": "a"})
        shown = await site.ended(run)
        assert shown["run"] == run
        assert shown["program"] == "quick"
        assert shown["status"] == "done"
        assert shown["result"] == {"said": "hello"}
        assert shown["steps"]["only"] == {
            "status": "done",
            "visits": 1,
            "attempts": 1,
            "result": {"said": "hello"},
        }
        assert set(shown) == {
            "run", "program", "status", "error", "result", "ctx", "seconds", "events", "steps",
        }  # fmt: skip

    play(tmp_path, act)


def test_a_registered_program_is_run_by_its_name_and_version(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.post("/api/v1/programs", {"document": NOOP}, 201)
        newer = NOOP.replace("{said: ", "{says: ")
        assert (await site.post("/api/v1/programs", {"document": newer}, 201))["version"] == 2
        old = await site.post("/api/v1/runs", {"program": "quick", "version": 1}, 201)
        new = await site.post("/api/v1/runs", {"program": "quick"}, 201)
        assert list((await site.ended(old["run"]))["result"]) == ["said"]
        assert list((await site.ended(new["run"]))["result"]) == ["says"]
        await site.post("/api/v1/runs", {"program": "quick", "version": 3}, 404)
        await site.post("/api/v1/runs", {"program": "nobody"}, 404)

    play(tmp_path, act)


def test_a_run_that_is_new_is_not_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act(site: Site) -> None:
        await site.post("/api/v1/programs", {"document": SLEEPS}, 201)
        body = {"program": "sleeper", "key": "the-same"}
        with monkeypatch.context() as patched:
            patched.setattr(site.engine.database.archive, "run", refuse)
            new = await site.post("/api/v1/runs", body, 201)
        assert new["status"] == "running"
        assert await site.post("/api/v1/runs", body, 200) == new

    async def refuse(run: RunId) -> None:
        raise StoreError(f"run {run} was read")

    play(tmp_path, act)


def test_twenty_equal_starts_at_once_are_one_run(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        body = {"document": NOOP, "key": "order-7"}
        answers = await asyncio.gather(
            *(site.client.post("/api/v1/runs", json=body) for _ in range(20))
        )
        assert sorted(answer.status_code for answer in answers) == [200] * 19 + [201]
        assert len({answer.json()["run"] for answer in answers}) == 1
        assert len((await site.get("/api/v1/runs"))["runs"]) == 1

    play(tmp_path, act)


def test_the_idempotency_key_header_is_the_key(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        header = {"Idempotency-Key": "k"}
        first = await site.post("/api/v1/runs", {"document": NOOP}, 201, headers=header)
        again = await site.post("/api/v1/runs", {"document": NOOP, "key": "k"}, 200)
        assert again["run"] == first["run"]
        differing = {"document": NOOP, "key": "other"}
        await site.post("/api/v1/runs", differing, 400, headers=header)
        assert "notice" not in again
        more = {"document": NOOP, "key": "k", "workload": {"region": "eu"}}
        told = await site.post("/api/v1/runs", more, 200)
        assert (told["run"], told["differs"]) == (again["run"], ["input"])
        assert f"anew fork {told['run']}" in told["notice"]
        refused = await site.post("/api/v1/runs", {"document": CHAIN, "key": "k"}, 409)
        assert "belongs to run" in refused["detail"]
        await site.post("/api/v1/runs", {"document": NOOP, "key": "child:x"}, 400)

    play(tmp_path, act)


def test_the_errors_of_a_document_come_back_as_findings(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        broken = CHAIN.replace("{step: second}", "{step: secnd}", 1)
        sent = {"document": broken, "file": "chain.yaml"}
        problem = await site.post("/api/v1/runs", sent, 422)
        found = problem["findings"][0]
        assert (found["severity"], found["file"], found["line"]) == ("error", "chain.yaml", 5)
        assert "second" in found["suggestion"]
        assert (await site.get("/api/v1/runs"))["runs"] == []

    play(tmp_path, act)


BAD_STARTS: list[tuple[Any, int]] = [
    ({}, 400),
    ([], 400),
    ({"document": NOOP, "program": "quick"}, 400),
    ({"document": 7}, 400),
    ({"document": NOOP, "worklaod": {}}, 400),
    ({"document": NOOP, "workload": []}, 400),
    ({"document": NOOP, "labels": {"a": 1}}, 400),
    ({"document": NOOP, "labels": {"a": "b\u0000c"}}, 400),
    ({"document": NOOP, "key": ""}, 400),
    ({"document": NOOP, "dialect": "docs"}, 400),
    ({"document": NOOP, "dialect": "other"}, 400),
    ({"document": "{"}, 422),
    ({"document": ""}, 422),
]


def test_a_start_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        for body, status in BAD_STARTS:
            await site.post("/api/v1/runs", body, status)
        assert (await site.get("/api/v1/runs"))["runs"] == []

    play(tmp_path, act)


BAD_BODIES = [
    (b"{", "application/json", 400),
    (b"\xff\xfe", "application/json", 400),
    (b"[" * 100_000, "application/json", 400),
    (b'{"document": "x"}', "text/plain", 415),
    (b"", "application/json", 400),
]


def test_a_body_that_is_no_json_is_refused(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        for content, media_type, status in BAD_BODIES:
            headers = {"Content-Type": media_type}
            answer = await site.client.post("/api/v1/runs", content=content, headers=headers)
            answered(answer, status)

    play(tmp_path, act)


def test_deeply_nested_workloads_are_refused(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        deep = '{"a":' * 900 + "1" + "}" * 900
        body = f'{{"document": "", "workload": {deep}}}'
        headers = {"Content-Type": "application/json"}
        answer = await site.client.post("/api/v1/runs", content=body, headers=headers)
        assert answer.status_code in (400, 422)

    play(tmp_path, act)


def test_each_limit_is_named_when_it_is_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_PAYLOAD_BYTES_MAX", "1000")
    monkeypatch.setenv("ANEW_DOCUMENT_BYTES_MAX", "2000")

    async def act(site: Site) -> None:
        big = {"document": NOOP, "workload": {"x": "y" * 1000}}
        problem = await site.post("/api/v1/runs", big, 413)
        assert problem["name"] == "ANEW_PAYLOAD_BYTES_MAX"
        assert problem["limit"] == 1000
        long = {"document": NOOP + "#" * 2000}
        problem = await site.post("/api/v1/runs", long, 413)
        assert problem["name"] == "ANEW_DOCUMENT_BYTES_MAX"
        problem = await site.post("/api/v1/runs", {"document": "x" * 5000}, 413)
        assert problem["name"] == "REQUEST_BYTES_MAX"
        assert (await site.get("/api/v1/runs"))["runs"] == []

    play(tmp_path, act, settings=ApiSettings(token=TOKEN, request_bytes_max=4000))


def test_a_body_of_unknown_length_is_kept_no_further_than_the_limit(tmp_path: Path) -> None:
    async def long() -> Any:
        for _ in range(100):
            yield b" " * 100_000

    async def act(site: Site) -> None:
        headers = {"Content-Type": "application/json"}
        answer = await site.client.post("/api/v1/runs", content=long(), headers=headers)
        assert answered(answer, 413)["limit"] == 200_000
        await site.get("/healthz")

    play(tmp_path, act, settings=ApiSettings(token=TOKEN, request_bytes_max=200_000))


def test_a_body_without_end_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request, "DISCARDED_BYTES_MAX", 500_000)
    most, sent = 50_000_000, 0

    async def endless() -> Any:
        nonlocal sent
        while sent < most:
            sent += 100_000
            yield b" " * 100_000

    async def act(site: Site) -> None:
        headers = {"Content-Type": "application/json"}
        with suppress(httpx2.TransportError):  # cut off before it heard the answer
            answer = await site.client.post("/api/v1/runs", content=endless(), headers=headers)
            assert answer.status_code == 413
        assert sent < most
        await site.get("/healthz")

    play(tmp_path, act, settings=ApiSettings(token=TOKEN, request_bytes_max=200_000))


def test_runs_are_listed_page_by_page_without_gap_or_repetition(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        started = [await site.started(NOOP) for _ in range(7)]
        found, before = [], None
        while True:
            query = {"limit": "3"} | ({"before": before} if before else {})
            page = await site.get("/api/v1/runs", params=query)
            found += [row["run"] for row in page["runs"]]
            before = page["next"]
            if before is None:
                break
        assert found == list(reversed(started))

    play(tmp_path, act)


def test_runs_are_filtered(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        quick = await site.started(NOOP, labels={"team": "a", "x": "1"})
        failed = await site.started(FAILS, labels={"team": "b"})
        asks = await site.started(ASKS)
        await site.ended(quick)
        await site.ended(failed)
        await site.reached(asks, "waiting")

        async def found(query: str) -> list[str]:
            return [row["run"] for row in (await site.get(f"/api/v1/runs?{query}"))["runs"]]

        assert await found("status=done") == [quick]
        assert await found("status=done&status=failed") == [failed, quick]
        assert await found("program=ask") == [asks]
        assert await found("label=team=a&label=x=1") == [quick]
        assert await found("label=team=a&label=x=2") == []
        assert await found("since=1h") == [asks, failed, quick]
        assert await found("since=2999-01-01") == []
        assert await found(f"parent={quick}") == []
        assert await found("retrying=true") == []
        row = (await site.get("/api/v1/runs?status=waiting"))["runs"][0]
        assert row["questions"][0]["question"] == "Ship it?"

    play(tmp_path, act)


BAD_QUERIES = (
    "limit=0 limit=1001 limit=x limit= status=gone since=soon label=x before=last retrying=maybe "
    "nonsense=1 limit=1&limit=2 parent=-1"
).split()


def test_a_filter_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        for query in BAD_QUERIES:
            await site.get(f"/api/v1/runs?{query}", 400)

    play(tmp_path, act)


def test_a_run_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        for run in ("1", "last", "9" * 19, "9" * 400, "-1", "1.0", "٣"):
            for path in ("", "/events", "/events/stream", "/questions", "/timeline", "/graph"):
                await site.get(f"/api/v1/runs/{run}{path}", 404)
            for word in ("cancel", "pause", "resume", "retry", "skip"):
                await site.post(f"/api/v1/runs/{run}/{word}", None, 404)
            await site.post(f"/api/v1/runs/{run}/answer", {"answer": "x"}, 404)
            await site.post(f"/api/v1/runs/{run}/signals/paid", {}, 404)

    play(tmp_path, act)


def test_a_run_is_cancelled_once(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(SLEEPS)
        said = await site.post(f"/api/v1/runs/{run}/cancel", {"reason": "enough"})
        assert said == {"run": run, "status": "cancelled", "changed": True}
        again = await site.post(f"/api/v1/runs/{run}/cancel")
        assert again == {"run": run, "status": "cancelled", "changed": False}
        assert (await site.get(f"/api/v1/runs/{run}"))["error"]["message"] == "enough"

    play(tmp_path, act)


def test_a_run_is_paused_and_resumed(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(ASKS)
        await site.reached(run, "waiting")
        assert (await site.post(f"/api/v1/runs/{run}/pause"))["status"] == "paused"
        said = await site.post(f"/api/v1/runs/{run}/answer", {"answer": "y", "by": "ann"})
        assert said["status"] == "paused"
        assert (await site.post(f"/api/v1/runs/{run}/resume"))["changed"] is True
        assert (await site.ended(run))["result"] == "[Y] Yes by ann"
        ended = await site.post(f"/api/v1/runs/{run}/resume")
        assert ended == {"run": run, "status": "done", "changed": False}

    play(tmp_path, act)


def test_a_wait_is_skipped_once(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(SLEEPS)
        async for event in site.stream(run):
            if event["name"] == "task.started":
                break
        path = f"/api/v1/runs/{run}/skip"
        assert (await site.post(path, {"step": "only", "visit": 2}))["changed"] is False
        said = await site.post(path, {"step": "only", "visit": 1, "by": "ann"})
        assert (said["run"], said["changed"]) == (run, True)
        ended = await site.ended(run)
        assert (ended["status"], ended["result"]["slept"] < 3600) == ("done", True)
        again = await site.post(path)
        assert again == {"run": run, "status": "done", "changed": False}
        log = (await site.get(f"/api/v1/runs/{run}/events"))["events"]
        (skipped,) = [event for event in log if event["name"] == "wait.skipped"]
        assert (skipped["data"]["by"], skipped["data"]["waited_for"]) == ("ann", "sleep")

    play(tmp_path, act)


def test_a_skip_that_cannot_be_meant_is_refused(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(SLEEPS)
        path = f"/api/v1/runs/{run}/skip"
        problem = await site.post(path, {"step": "onyl"}, 400)
        assert "no step 'onyl'. Did you mean 'only'?" in problem["detail"]
        assert "name the step" in (await site.post(path, {"iteration": 1}, 400))["detail"]
        for body in ({"visit": -1}, {"visit": "1"}, {"stpe": "only"}, {"by": 5}):
            await site.post(path, body, 400)

    play(tmp_path, act)


def test_a_question_is_listed_and_answered_once(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(ASKS)
        await site.reached(run, "waiting")
        path = f"/api/v1/runs/{run}"
        question = (await site.get(f"{path}/questions"))["questions"][0]
        assert (question["step"], question["choices"]) == ("gate", ["[Y] Yes", "[N] No"])
        problem = await site.post(f"{path}/answer", {"answer": "perhaps"}, 422)
        assert "none of the choices" in problem["detail"]
        await site.post(f"{path}/answer", {}, 400)
        await site.post(f"{path}/answer", {"answer": "y", "by": "ann"})
        assert (await site.ended(run))["result"] == "[Y] Yes by ann"
        await site.post(f"{path}/answer", {"answer": "n"}, 409)
        assert (await site.get(f"{path}/questions"))["questions"] == []

    play(tmp_path, act)


def test_a_failed_run_is_retried_once_for_each_key(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(FAILS)
        assert (await site.ended(run))["error"]["kind"] == "exit_code"
        new = await site.post(f"/api/v1/runs/{run}/retry", {"step": "only", "key": "r"}, 201)
        again = await site.post(f"/api/v1/runs/{run}/retry", {"step": "only", "key": "r"}, 200)
        assert new["run"] == again["run"] != run
        assert (await site.ended(new["run"]))["status"] == "failed"
        other = await site.started(FAILS, key="taken")
        await site.ended(other)
        for key in ("taken", "r"):
            await site.post(f"/api/v1/runs/{other}/retry", {"step": "only", "key": key}, 409)
        problem = await site.post(f"/api/v1/runs/{run}/retry", {"step": "nowhere"}, 400)
        assert "no step 'nowhere'" in problem["detail"]

    play(tmp_path, act)


def test_the_timeline_and_the_graph_of_a_run(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(CHAIN)
        await site.ended(run)
        lines = (await site.get(f"/api/v1/runs/{run}/timeline"))["lines"]
        assert lines[0].split() == ["0.000", "run", "started"]
        for form, start in (("mermaid", "flowchart"), ("dot", "digraph"), ("svg", "<svg")):
            drawn = await site.client.get(f"/api/v1/runs/{run}/graph?format={form}")
            assert drawn.text.startswith(start)
        await site.get(f"/api/v1/runs/{run}/graph?format=png", 400)

    play(tmp_path, act)


def test_a_graph_is_run_in_its_dialect(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(GRAPH, dialect="spec")
        assert (await site.ended(run))["status"] == "done"

    play(tmp_path, act)


def test_a_document_cannot_read_the_disk_of_the_server(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("the secret of the server")
    graph = GRAPH.replace('prompt="do it"', 'prompt="@secret.md"')

    async def act(site: Site) -> None:
        sent = {"document": graph, "file": str(tmp_path / "tiny.dot")}
        found = await site.post("/api/v1/check", sent)
        assert "prompt-file" in [finding["rule"] for finding in found]
        given = sent | {"files": {"secret.md": "what the sender has"}}
        found = await site.post("/api/v1/check", given)
        assert "prompt-file" not in [finding["rule"] for finding in found]
        await site.post("/api/v1/programs", given, 201)
        shown = await site.get("/api/v1/programs/tiny")
        assert shown["files"] == {"secret.md": "what the sender has"}

    play(tmp_path, act)


def test_a_signal_reaches_the_run_that_waits_for_it_once(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(WAITS)
        path = f"/api/v1/runs/{run}/signals/paid"
        headers = {"Idempotency-Key": "delivery-1"}
        said = await site.post(path, {"sum": 7}, 202, headers=headers)
        assert said == {"run": run, "signal": "paid", "accepted": True}
        assert (await site.ended(run))["result"] == {"sum": 7}
        again = await site.post(path, {"sum": 7}, 202, headers=headers)
        assert again["accepted"] is False
        await site.post(path, {"sum": 8}, 409)

    play(tmp_path, act)


def test_a_webhook_needs_its_address_and_no_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_KEY", "k" * 43 + "=")

    async def act(site: Site) -> None:
        run = await site.started(WAITS)
        path = (await site.get(f"/api/v1/runs/{run}/signals/paid/url"))["path"]
        bare = {"Authorization": ""}
        await site.post(path[:-1] + ("A" if path[-1] != "A" else "B"), {}, 404, headers=bare)
        said = await site.post(path, {"sum": 9}, 202, headers=bare)
        assert said["accepted"] is True
        assert (await site.ended(run))["result"] == {"sum": 9}

    play(tmp_path, act)


def test_a_query_that_names_what_can_be_no_run_is_refused(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.started(NOOP)
        for query in (f"parent={2**63}", f"before={2**63}", "parent=9999999999999999999"):
            await site.get(f"/api/v1/runs?{query}", 400)
        for path in ("/api/executions", "/runs"):
            await site.get(f"{path}?before={2**63}", 400)
        assert (await site.get(f"/api/v1/runs?parent={2**63 - 1}"))["runs"] == []

    play(tmp_path, act)


def test_labels_to_look_for_are_few_and_short(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(NOOP, labels={f"a{n}": "b" for n in range(16)})
        labels = [("label", f"a{n}=b") for n in range(16)]
        found = await site.get("/api/v1/runs", params=labels)
        assert [row["run"] for row in found["runs"]] == [run]
        await site.get("/api/v1/runs", 400, params=[*labels, ("label", "x=y")])
        await site.get("/api/v1/runs", 400, params=[("label", "x=" + "y" * 600)])

    play(tmp_path, act)
