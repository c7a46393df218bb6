"""Documents and credentials over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surfaces.api.served import CHAIN, GRAPH, NOOP, Site, answered, play

WARNS = """\
metadata: {name: warns}
workflow:
  - step: only
    tool: {kind: sqlite, database: x.db, command: "select {{ workload.x }}"}
"""


def test_a_document_is_registered_and_found_again(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        sent = {"document": NOOP, "file": "quick.yaml"}
        taken = await site.post("/api/v1/programs", sent, 201)
        assert (taken["name"], taken["version"], taken["findings"]) == ("quick", 1, [])
        assert (await site.post("/api/v1/programs", sent, 201))["version"] == 1
        listed = (await site.get("/api/v1/programs"))["programs"]
        assert [(row["name"], row["version"]) for row in listed] == [("quick", 1)]
        shown = await site.get("/api/v1/programs/quick")
        assert shown["document"] == NOOP
        assert shown["digest"] == taken["digest"]

    play(tmp_path, act)


def test_a_document_with_warnings_is_registered_and_says_so(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        taken = await site.post("/api/v1/programs", {"document": WARNS}, 201)
        assert [found["severity"] for found in taken["findings"]] == ["warning"]

    play(tmp_path, act)


def test_a_document_with_errors_is_not_registered(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        problem = await site.post("/api/v1/programs", {"document": "workflow: 7"}, 422)
        assert problem["findings"]
        assert (await site.get("/api/v1/programs"))["programs"] == []

    play(tmp_path, act)


def test_versions_come_newest_first_and_page_by_page(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        for number in range(5):
            document = NOOP.replace("{said:", f"{{said{number}:")
            await site.post("/api/v1/programs", {"document": document}, 201)
        found, before = [], None
        while True:
            query = {"limit": "2"} | ({"before": str(before)} if before else {})
            page = await site.get("/api/v1/programs/quick/versions", params=query)
            found += [row["version"] for row in page["versions"]]
            before = page["next"]
            if before is None:
                break
        assert found == [5, 4, 3, 2, 1]
        old = await site.get("/api/v1/programs/quick?version=2")
        assert "said1" in old["document"]
        await site.get("/api/v1/programs/quick?version=9", 404)
        await site.get("/api/v1/programs/nobody", 404)
        await site.get("/api/v1/programs/nobody/versions", 404)

    play(tmp_path, act)


NAMES = ["team/quick", "a b", "x/versions/y", "%2e", "ü"]


def test_names_may_have_any_characters(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        for name in NAMES:
            await named(site, name)

    async def named(site: Site, name: str) -> None:
        document = NOOP.replace("name: quick", f"name: {name!r}")
        await site.post("/api/v1/programs", {"document": document}, 201)
        shown = await site.client.get("/api/v1/programs/" + name.replace("%", "%25"))
        assert answered(shown, 200)["name"] == name
        run = await site.post("/api/v1/runs", {"program": name}, 201)
        assert (await site.ended(run["run"]))["program"] == name

    play(tmp_path, act)


def test_a_check_tells_findings_and_refuses_nothing(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        assert await site.post("/api/v1/check", {"document": NOOP}) == []
        broken = {"document": CHAIN.replace("tool:", "tol:"), "file": "c.yaml"}
        found = await site.post("/api/v1/check", broken)
        assert set(found[0]) == {
            "severity", "rule", "message", "file", "line", "column", "suggestion",
        }  # fmt: skip
        assert found[0]["file"] == "c.yaml"
        assert await site.post("/api/v1/check", {"document": GRAPH, "dialect": "spec"}) is not None
        loose = await site.post("/api/v1/check", {"document": CHAIN})
        strict = await site.post("/api/v1/check", {"document": CHAIN, "strict": True})
        assert len(strict) > len(loose)

    play(tmp_path, act)


def test_a_credential_goes_in_and_never_comes_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ANEW_KEY", raising=False)
    secret = "hunter2-hunter2"

    async def act(site: Site) -> None:
        sent = {"name": "pg", "type": "postgres", "data": {"host": "h", "password": secret}}
        taken = await site.post("/api/v1/credentials", sent, 201)
        assert taken == {"name": "pg", "type": "postgres", "short": []}
        answer = await site.client.get("/api/v1/credentials")
        assert secret not in answer.text
        listed = {"name": "pg", "type": "postgres", "from": "store"}
        assert answer.json() == {"credentials": [listed]}
        problem = await site.post("/api/v1/credentials", sent | {"data": ""}, 400)
        assert secret not in str(problem)
        await site.post("/api/v1/credentials", sent | {"name": "no spaces"}, 400)
        wrong = await site.post("/api/v1/credentials", sent | {"password": secret}, 400)
        assert secret not in str(wrong)
        assert (await site.client.delete("/api/v1/credentials/pg")).status_code == 204
        answered(await site.client.delete("/api/v1/credentials/pg"), 404)

    play(tmp_path, act)
