"""The paths and words of NoETL and of the DOT engines."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest

from tests.surfaces.api.served import ASKS, FAILS, GRAPH, NOOP, SLEEPS, Site, answered, play

FILED = NOOP.replace("{name: quick}", "{name: quick, path: demo/quick}")


@pytest.mark.parametrize("path", ["/api/execute", "/api/run/playbook", "/api/executions/run"])
def test_a_registered_playbook_is_executed_by_its_path(tmp_path: Path, path: str) -> None:
    async def act(site: Site) -> None:
        sent = {"content": FILED, "resource_type": "Playbook"}
        taken = await site.post("/api/catalog/register", sent, 201)
        assert (taken["status"], taken["path"], taken["version"]) == ("success", "demo/quick", 1)
        for wanted in ({"path": "demo/quick"}, {"path": "quick", "version": "latest"},
                       {"path": "quick", "version": "1"}, {"path": "demo/quick", "version": 1},
                       {"catalog_id": taken["catalog_id"]}):  # fmt: skip
            said = await site.post(path, wanted | {"workload": {"word": "hi"}})
            assert said["status"] == "started"
            assert isinstance(said["execution_id"], str)
            await site.ended(said["execution_id"])
            shown = await site.get(f"/api/executions/{said['execution_id']}")
            assert (shown["status"], shown["result"]) == ("COMPLETED", {"said": "hi"})
            assert shown["path"] == "demo/quick"
            assert shown["events"][0]["event_type"] == "run.requested"
        await site.post(path, {"path": "nobody"}, 404)
        await site.post(path, {"catalog_id": "nobody"}, 404)
        await site.post(path, {}, 400)
        await site.post(path, {"path": "quick", "version": "2"}, 404)
        for version in ("0", "x", "", "-1", "99999999999"):
            await site.post(path, {"path": "quick", "version": version}, 400)
        listed = await site.get("/api/executions")
        assert {row["path"] for row in listed} == {"demo/quick"}

    play(tmp_path, act)


def test_one_path_of_two_playbooks_is_refused_with_both_names(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.post("/api/catalog/register", {"content": FILED}, 201)
        other = FILED.replace("name: quick", "name: slow")
        for path in ("/api/catalog/register", "/api/v1/programs"):
            word = "content" if path.startswith("/api/catalog") else "document"
            problem = await site.post(path, {word: other}, 409)
            assert all(name in problem["detail"] for name in ("'quick'", "'slow'", "'demo/quick'"))
        started = await site.post("/api/v1/runs", {"program": "demo/quick"}, 201)
        assert started["run"]

    play(tmp_path, act)


def test_a_playbook_in_base64_is_registered_too(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        content = b64encode(FILED.encode()).decode()
        await site.post("/api/catalog/playbook", {"content": content}, 201)
        broken = "\r\n".join(content[n : n + 20] for n in range(0, len(content), 20)) + "\n"
        again = await site.post("/api/catalog/playbook", {"content": broken}, 201)
        assert again["version"] == 1
        shown = await site.post("/api/catalog/resource", {"path": "demo/quick", "version": 1})
        assert shown["content"] == FILED
        assert await site.get("/api/catalog/playbook?path=quick") == shown
        listed = await site.post("/api/catalog/list", {"resource_type": "Playbook"})
        assert [row["path"] for row in listed["entries"]] == ["demo/quick"]
        await site.post("/api/catalog/resource", {"path": "nobody"}, 404)
        await site.post("/api/catalog/register", {"content": "workflow: 7"}, 422)

    play(tmp_path, act)


def test_completed_is_said_only_of_a_run_that_has_ended(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(SLEEPS)
        status = await site.get(f"/api/executions/{run}/status")
        assert (status["status"], status["completed"], status["failed"]) == (
            "RUNNING", False, False,
        )  # fmt: skip
        assert (await site.get(f"/api/executions/{run}"))["status"] == "RUNNING"
        said = await site.post(f"/api/executions/{run}/cancel", {"reason": "x", "cascade": True})
        assert said["status"] == "CANCELLED"
        status = await site.get(f"/api/executions/{run}/status")
        assert (status["status"], status["completed"]) == ("CANCELLED", True)
        failed = await site.started(FAILS)
        await site.ended(failed)
        status = await site.get(f"/api/executions/{failed}/status")
        assert (status["status"], status["completed"], status["failed"]) == ("FAILED", True, True)
        listed = await site.get("/api/executions")
        assert [row["execution_id"] for row in listed] == [failed, run]
        events = (await site.get(f"/api/executions/{run}/events"))["events"]
        assert events[-1]["event_type"] == "run.cancelled"
        assert (await site.get(f"/api/vars/{run}"))["variables"] == {}
        await site.post(f"/api/executions/{run}/finalize")

    play(tmp_path, act)


def test_health_under_the_names_noetl_has_for_it(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        assert await site.get("/api/health") == await site.get("/health") == {"status": "ok"}

    play(tmp_path, act)


def test_a_graph_is_submitted_as_text_or_as_json(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        as_json = await site.post("/pipelines", {"dot": GRAPH}, 201)
        headers = {"Content-Type": "text/vnd.graphviz"}
        answer = await site.client.post("/pipelines", content=GRAPH, headers=headers)
        for run in (as_json["id"], answered(answer, 201)["id"]):
            await site.ended(run)
            for path in (f"/pipelines/{run}", f"/runs/{run}"):
                shown = await site.get(path)
                assert (shown["run_id"], shown["status"]) == (run, "completed")
                assert shown["completed_nodes"] == ["start", "work", "done"]
        await site.post("/pipelines", {}, 400)
        await site.post("/pipelines", {"dot": "digraph {"}, 422)

    play(tmp_path, act)


def test_a_registered_graph_is_run_by_its_name(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        await site.post("/api/v1/programs", {"document": GRAPH}, 201)
        listed = (await site.get("/pipelines"))["pipelines"]
        assert [row["name"] for row in listed] == ["tiny"]
        assert (await site.get("/pipelines/tiny"))["document"] == GRAPH
        started = await site.post("/pipelines/tiny/run", {"context": {"who": "me"}}, 201)
        run = started["run_id"]
        await site.ended(run)
        assert [row["run_id"] for row in (await site.get("/runs"))["runs"]] == [run]
        for prefix in ("runs", "pipelines", "pipeline"):
            assert "outcome" in str(await site.get(f"/{prefix}/{run}/context"))
            assert (await site.get(f"/{prefix}/{run}/checkpoint"))["current_node"] is None
            drawn = await site.client.get(f"/{prefix}/{run}/graph")
            assert drawn.text.startswith("<svg")
        await site.post("/pipelines/nobody/run", None, 404)
        await site.get("/pipelines/nobody", 404)

    play(tmp_path, act)


@pytest.mark.parametrize("prefix", ["runs", "pipelines", "pipeline"])
def test_a_question_is_answered_in_their_words(tmp_path: Path, prefix: str) -> None:
    async def act(site: Site) -> None:
        first, second = [await site.started(ASKS) for _ in range(2)]
        for run in (first, second):
            await site.reached(run, "waiting")
        path = f"/{prefix}/{first}"
        pending = (await site.get(f"{path}/pending"))["pending"][0]
        assert (pending["node_id"], pending["question"]) == ("gate", "Ship it?")
        await site.post(f"{path}/respond", {"response": "perhaps"}, 422)
        await site.post(f"{path}/respond", {}, 400)
        await site.post(f"{path}/respond", {"response": "y", "node_id": "gate"})
        assert (await site.ended(first))["status"] == "done"
        path = f"/{prefix}/{second}"
        question = (await site.get(f"{path}/questions"))["questions"][0]["id"]
        await site.post(f"{path}/questions/{second}-0/answer", {"answer": "n"}, 404)
        await site.post(f"{path}/questions/{question}/answer", {"answer": "n"})
        assert (await site.ended(second))["steps"]["gate"]["result"]["label"] == "[N] No"
        await site.post(f"{path}/respond", {"answer": "n"}, 409)

    play(tmp_path, act)


def test_a_run_is_cancelled_in_their_words(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        run = await site.started(SLEEPS)
        assert (await site.post(f"/runs/{run}/cancel"))["status"] == "cancelled"

    play(tmp_path, act)


def test_events_come_in_the_form_that_is_wished_for_most(tmp_path: Path) -> None:
    json, stream = "application/json", "text/event-stream"
    wishes = {
        f"{json}, {stream};q=0.1": (json, json),
        f"{json};q=0.1, {stream}": (stream, stream),
        f"{json};q=0.5, {stream};q=0": (json, json),
        f"{json};q=0, {stream};q=0.2": (stream, stream),
        f"{stream};q=0": (json, stream),
        "*/*": (json, stream),
    }

    async def act(site: Site) -> None:
        run = await site.started(NOOP)
        await site.ended(run)
        for accept, forms in wishes.items():
            for path, form in zip(("/api/v1/runs", "/pipelines"), forms, strict=True):
                answer = await site.client.get(f"{path}/{run}/events", headers={"Accept": accept})
                assert answer.headers["content-type"].startswith(form), (accept, path)

    play(tmp_path, act)
