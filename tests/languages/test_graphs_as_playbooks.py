"""A graph that is rewritten as a playbook does the same: visits, delays and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anew.expressions import MappingScope, compile_template
from anew.languages.document import read_yaml
from anew.languages.dot.beside import Beside
from anew.languages.nodes import plain
from anew.languages.playbook import load_playbook
from anew.languages.translation.to_playbook import graph_to_playbook
from anew.surfaces.cli.main import main
from anew.values import Object

CASES = json.loads((Path(__file__).parents[1] / "conformance" / "dot.json").read_text())


def simulated(
    document: str, script: Object, folder: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[int, Any]:
    file, beside = folder / "flow.yaml", folder / "script.json"
    file.write_text(document)
    beside.write_text(json.dumps(script))
    exit_status = main(["simulate", str(file), "--script", str(beside), "--json"])
    return exit_status, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_graph_does_the_same_as_a_playbook(
    case: Object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    migrated = graph_to_playbook(case["dot"], "graph.dot")
    assert migrated.text is not None, migrated.findings
    exit_status, out = simulated(migrated.text, case["script"], tmp_path, capsys)
    expect, order = case["expect"], sorted if case.get("parallel") else list
    assert (out["status"], exit_status) == (expect["status"], expect["exit_status"])
    executed = [event["step"] for event in out["events"] if event["name"] == "task.started"]
    assert order(executed) == order(expect["visits"])
    delays = order(delay["seconds"] for delay in out["delays"])
    assert delays == pytest.approx(order(expect["delays"]), abs=1e-6)
    assert out.get("unsatisfied", []) == expect.get("unsatisfied", [])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_playbook_of_a_graph_is_canonical(case: Object) -> None:
    migrated = graph_to_playbook(case["dot"], "graph.dot")
    assert migrated.text is not None
    loaded = load_playbook(migrated.text, "flow.yaml")
    assert loaded.strict == []
    assert [f for f in loaded.findings if f.rule != "step.unreachable"] == []


# --- what a graph has beside its edges -----------------------------------------------------------

DOCS = "digraph g {{ s [shape=ellipse] x [shape=ellipse] {} }}"


def playbook_of(body: str) -> tuple[Object, list[str]]:
    """The steps of a docs graph's playbook by name, and what was reported."""
    migrated = graph_to_playbook(DOCS.format(body), "graph.dot")
    assert migrated.text is not None, migrated.findings
    root, findings = read_yaml(migrated.text, "flow.yaml")
    assert root is not None
    assert findings == []
    steps = plain(root)["workflow"]
    return {step["step"]: step for step in steps}, [f.message for f in migrated.findings]


def test_a_command_gets_its_variables_from_its_environment() -> None:
    body = 'a [shape=component tool_command="echo $name ${ctx.dir} $HOME"]; s->a->x'
    steps, _ = playbook_of(body)
    tool = steps["a"]["tool"]
    assert tool["kind"] == "shell"
    assert "{{" not in tool["command"]
    assert "{{ ctx.name }}" in tool["env"].values()
    assert "{{ ctx.dir }}" in tool["env"].values()
    assert set(steps["a"]["tool"]["env"]) <= {"name", "CTX_dir", "CTX_HOME"}


def test_a_text_keeps_its_variables_and_its_braces() -> None:
    steps, _ = playbook_of('a [prompt="Fix $thing; cost $$5 in {{braces}}"]; s->a->x')
    prompt = compile_template(steps["a"]["tool"]["prompt"])
    told = prompt.value(MappingScope({"ctx": {"thing": "it"}}))
    assert told == "Fix it; cost $5 in {{braces}}"
    nothing = prompt.value(MappingScope({"ctx": {}}))
    assert nothing == "Fix $thing; cost $5 in {{braces}}"


def test_a_restart_is_told_to_begin_at_its_node() -> None:
    body = "a; b; s->a->b; b->a [loop_restart=true, condition=\"status == 'FAILURE'\"]; b->x"
    steps, _ = playbook_of(body)
    assert steps["a (restart)"]["tool"] == {"kind": "restart", "entry": "a"}


def test_what_branches_left_behind_is_told_in_another_form() -> None:
    body = "f [shape=hexagon] j [shape=invhouse join_policy=k_of_n k=2] a; b; s->f; "
    steps, told = playbook_of(f"{body} f->a->j; f->b->j; j->x")
    assert steps["j"]["spec"]["join"] == {"policy": "k_of_n", "k": 2}
    assert any("_branch_results" in message for message in told)


def test_a_condition_that_cannot_be_said_is_reported_and_never_holds() -> None:
    body = 'a; b; s->a; a->b [condition="left == context.right"]; a->x; b->x'
    steps, told = playbook_of(body)
    arcs = {arc["step"]: arc.get("when") for arc in steps["a"]["next"]["arcs"]}
    assert arcs == {"b": "{{ false }}", "x": None}
    assert any("compares two keys" in message for message in told)


def test_a_wrong_graph_gives_its_errors_and_no_playbook() -> None:
    migrated = graph_to_playbook("digraph g { a -> ", "graph.dot")
    assert migrated.text is None
    assert migrated.findings != []


def test_the_prompts_of_files_stand_in_the_playbook(tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text("Write\n$goal!\n")
    file = tmp_path / "g.dot"
    file.write_text(
        "digraph g { goal=G; s [shape=Mdiamond] x [shape=Msquare]; s->a->b->x;"
        ' a [prompt_file="p.md"]; b [prompt="@p.md"] }'
    )
    migrated = graph_to_playbook(file.read_text(), str(file))
    assert migrated.text is not None
    assert migrated.text.count("Write\n        G!\n") == 2
    assert "p.md" not in migrated.text


def test_the_files_of_a_graph_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written is what was checked, also when a file changes meanwhile."""
    opened: list[str] = []
    on_disk = Beside._on_disk

    def counted(self: Beside, path: Path, bytes_max: int) -> bytes | str:
        opened.append(path.name)
        return on_disk(self, path, bytes_max)

    monkeypatch.setattr(Beside, "_on_disk", counted)
    (tmp_path / "m.css").write_text("* { llm_model: m }")
    (tmp_path / "p.md").write_text("Write.")
    body = 'model_stylesheet="m.css"; a [prompt_file="p.md"]; s->a->x;'
    migrated = graph_to_playbook(DOCS.format(body), str(tmp_path / "g.dot"))
    assert migrated.text is not None
    assert opened == ["m.css", "p.md"]


def test_a_control_character_of_a_label_survives() -> None:
    text = DOCS.format('a [goal=g label="x\x9by"]; s->a->x')
    migrated = graph_to_playbook(text, "g.dot")
    assert migrated.text is not None, migrated.findings
    root, _ = read_yaml(migrated.text, "flow.yaml")
    assert root is not None
    steps = {step["step"]: step for step in plain(root)["workflow"]}
    assert steps["a"]["desc"] == "x\x9by"
