"""Documents looked into over HTTP: whatever is in them, the answer is one the page can show."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from anew.surfaces.api import inspection
from tests.surfaces.api.served import GRAPH, Site, play

FLOW = """\
metadata: {name: flow}
workload: {url: "http://x", pages: 3, dry: false, tags: [a], more: {x: 1}, nobody: null}
workflow:
  - step: fetch
    tool:
      kind: http
      url: "{{ workload.url }}"
      timeout: 5
      spec:
        policy:
          rules:
            - when: "{{ outcome.status == 'error' }}"
              then: {do: retry, attempts: 3, backoff: fixed, delay: 2.0}
    next: {arcs: [{step: save, when: "{{ event.name == 'step.done' }}"}, {step: rescue}]}
  - step: save
    tool: {kind: noop}
  - step: rescue
    tool: {kind: noop}
"""
PARENT = """\
metadata: {name: parent}
workflow:
  - step: call
    tool: {kind: playbook, path: child}
"""
CHILD = """\
metadata: {name: child}
workflow:
  - step: a
    tool: {kind: noop}
    next: [{step: b}]
  - step: b
    tool: {kind: noop}
"""


async def inspected(site: Site, document: str, **more: Any) -> dict[str, Any]:
    return dict(await site.post("/api/v1/inspect", {"document": document, **more}))


def test_a_document_is_told_with_its_graph_its_form_and_its_worst_case(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        told = await inspected(site, FLOW, file="flow.yaml")
        assert (told["name"], told["language"], told["findings"]) == ("flow", "playbook", [])
        nodes = {node["name"]: node for node in told["graph"]["nodes"]}
        assert (nodes["fetch"]["line"], nodes["fetch"]["is_entry"]) == (4, True)
        assert {node["status"] for node in nodes.values()} == {None}
        edge = told["graph"]["edges"][0]
        assert (edge["source"], edge["target"], edge["line"]) == ("fetch", "save", 14)
        assert (edge["taken"], edge["last"]) == (0, None)
        form = [(row["name"], row["type"], row["default"]) for row in told["workload"]]
        assert form == [
            *(("url", "string", "http://x"), ("pages", "number", 3), ("dry", "boolean", False)),
            *(("tags", "array", ["a"]), ("more", "object", {"x": 1}), ("nobody", "null", None)),
        ]
        assert told["bounds"]["executions"] == {"bounded": True, "at_most": 4}
        assert told["bounds"]["file"] == "flow.yaml"
        assert told["bounds_lines"][0].startswith("flow.yaml: at most 4 executions, 4 s in waits")

    play(tmp_path, act)


@pytest.mark.parametrize(
    "document",
    ["workflow: [", "", "digraph { a -> }", FLOW.replace("step: rescue}", "step: rescu}"), "\0"],
)
def test_a_document_with_errors_is_an_answer(tmp_path: Path, document: str) -> None:
    async def act(site: Site) -> None:
        told = await inspected(site, document)
        errors = [row for row in told["findings"] if row["severity"] == "error"]
        assert errors, told["findings"]
        assert all(row["line"] >= 1 and row["message"] for row in errors)
        assert (told["name"], told["graph"], told["bounds"]) == (None, None, None)
        assert (told["workload"], told["bounds_lines"]) == ([], [])

    play(tmp_path, act)


def test_a_graph_is_told_with_what_nothing_gives_a_value(tmp_path: Path) -> None:
    async def act(site: Site) -> None:
        document = GRAPH.replace("do it", "do $thing").replace(
            "digraph tiny {", 'digraph tiny { graph [goal="ship"];'
        )
        told = await inspected(site, document)
        assert (told["name"], told["language"]) == ("tiny", "dot")
        roles = {node["name"]: node["role"] for node in told["graph"]["nodes"]}
        assert roles == {"start": "step", "work": "step", "done": "exit"}
        form = {row["name"]: (row["type"], row["default"]) for row in told["workload"]}
        assert form == {"graph.goal": ("string", "ship"), "thing": ("null", None)}
        assert told["bounds_lines"]

    play(tmp_path, act)


def test_what_a_task_calls_is_found_among_the_programs_and_never_on_the_disk(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "child.yaml").write_text(CHILD)

    async def act(site: Site) -> None:
        alone = await inspected(site, PARENT)
        assert not alone["bounds"]["executions"]["bounded"]
        assert any("no program of this name" in line for line in alone["bounds_lines"])
        by_file = PARENT.replace("path: child", "file: child.yaml")
        unsent = await inspected(site, by_file)
        assert any("was not sent along" in line for line in unsent["bounds_lines"])
        sent = await inspected(site, by_file, files={"child.yaml": CHILD})
        assert sent["bounds"]["executions"]["bounded"]
        await site.post("/api/v1/programs", {"document": CHILD}, 201)
        known = await inspected(site, PARENT)
        assert known["bounds"]["executions"]["bounded"]

    play(tmp_path, act)


def test_a_worst_case_that_takes_too_long_is_left_out_with_a_word(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(inspection, "BOUNDS_SECONDS_MAX", 0.05)
    monkeypatch.setattr(inspection, "bounds_of", lambda *_, **__: time.sleep(0.5))

    async def act(site: Site) -> None:
        told = await inspected(site, FLOW)
        assert (told["bounds"], told["bounds_lines"]) == (None, [])
        assert told["graph"] is not None
        [note] = told["findings"]
        assert (note["severity"], note["rule"]) == ("info", "bounds")
        assert "was not found within" in note["message"]

    play(tmp_path, act)


def test_a_mistake_of_ours_does_not_hide_the_findings(tmp_path: Path, monkeypatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret inside")

    monkeypatch.setattr(inspection, "bounds_of", fails)

    async def act(site: Site) -> None:
        told = await inspected(site, FLOW)
        [note] = told["findings"]
        assert "log of the server" in note["message"]
        assert "secret" not in str(told)

    play(tmp_path, act)


def test_items_are_assumed_where_only_a_run_knows_them(tmp_path: Path) -> None:
    document = FLOW.replace(
        "  - step: save\n", '  - step: save\n    loop: {in: "{{ fetch.rows }}", iterator: row}\n'
    )

    async def act(site: Site) -> None:
        told = await inspected(site, document, items=10)
        assert told["bounds"]["assumed"]
        assert told["bounds"]["executions"] == {"bounded": True, "at_most": 13}
        assert not (await inspected(site, document))["bounds"]["executions"]["bounded"]
        body = {"document": document, "items": -1}
        await site.post("/api/v1/inspect", body, 400)

    play(tmp_path, act)
