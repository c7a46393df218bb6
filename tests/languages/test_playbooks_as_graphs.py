"""A playbook as a DOT graph: it means the same where a graph can say it, and says so where not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anew.languages.dot.loading import load_dot
from anew.languages.playbook import load_playbook
from anew.languages.translation.docs_conditions import CannotSay, docs_condition
from anew.languages.translation.to_dot import Translated, program_to_dot
from anew.languages.translation.to_playbook import graph_to_playbook
from anew.program.findings import Severity
from anew.surfaces.cli.main import main
from anew.values import Object

ROOT = Path(__file__).parents[2]
CASES = [
    case
    for case in json.loads((ROOT / "tests/conformance/dot.json").read_text())
    if case["dialect"] == "docs"
]
EXAMPLES = [
    path
    for path in sorted([*ROOT.glob("examples/*/*.yaml"), *ROOT.glob("docs/examples/*.yaml")])
    if not path.name.endswith("script.yaml") and load_playbook(path.read_text(), "f.yaml").program
]


def graph_of(playbook: str) -> Translated:
    loaded = load_playbook(playbook, "flow.yaml")
    assert loaded.program is not None, loaded.findings
    return program_to_dot(loaded.program)


def step(name: str, body: str) -> str:
    return f"- step: {name}\n  {body}\n"


def flow(*steps: str) -> str:
    return "metadata: {name: flow}\nworkflow:\n" + "".join(steps)


def simulated(
    document: str, script: Object, folder: Path, capsys: pytest.CaptureFixture[str]
) -> Any:
    file, beside = folder / "graph.dot", folder / "script.json"
    file.write_text(document)
    beside.write_text(json.dumps(script))
    main(["simulate", str(file), "--script", str(beside), "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_graph_that_became_a_playbook_becomes_the_same_graph(
    case: Object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    migrated = graph_to_playbook(case["dot"], "graph.dot")
    assert migrated.text is not None
    translated = graph_of(migrated.text)
    assert translated.findings == []
    out = simulated(translated.text, case["script"], tmp_path, capsys)
    expect, order = case["expect"], sorted if case.get("parallel") else list
    assert out["status"] == expect["status"]
    assert order(out["visits"]) == order(expect["visits"])
    delays = [delay["seconds"] for delay in out["delays"]]
    assert delays == pytest.approx(expect["delays"], abs=1e-6)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_graph_of_any_playbook_can_be_loaded(path: Path) -> None:
    translated = graph_of(path.read_text())
    findings = load_dot(translated.text, "graph.dot").findings
    assert [f for f in findings if f.severity is Severity.ERROR] == []
    assert not any("cannot be run" in f.message for f in translated.findings)


def test_what_a_graph_cannot_say_stands_in_its_comments() -> None:
    http = step("a", "tool: {kind: http, url: u}\n  loop: {in: [1], iterator: i}")
    translated = graph_of(flow(http))
    (found,) = translated.findings
    assert found.rule == "migrate.differs"
    assert translated.text.startswith(f"// {found.message}\n")
    assert "loop" in found.message


@pytest.mark.parametrize(
    ("body", "lost"),
    [
        ("tool: {kind: python, code: 'x = 1'}", "a task of kind python"),
        ("tool: [{t: {kind: noop}}, {u: {kind: noop}}]", "its 2 tasks"),
        ("tool: {kind: noop, result: 3}", "its result"),
        ("tool: {kind: shell, command: 'ls {{ ctx.x }}'}", "a command with templates"),
        ("tool: {kind: shell, command: ls, cwd: /}", "`cwd`"),
        ("tool: {kind: agent, prompt: '{{ ctx.x | upper }}'}", "a template other than"),
        ("tool: {kind: human, question: q, choices: [A, B]}", "choices"),
        ("spec: {pool: heavy}\n  tool: {kind: noop}", "its pool"),
        ("next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: c}]}", "all its arcs"),
        ("next: {arcs: [{step: b, when: '{{ ctx.x + 1 == 2 }}'}]}", "the condition of its arc"),
        ("next: {arcs: [{step: b, args: {x: 1}}]}", "the arguments"),
    ],
)
def test_everything_that_is_lost_is_reported(body: str, lost: str) -> None:
    others = step("b", "next: {arcs: [{step: c}]}") + step("c", "tool: {kind: noop}")
    translated = graph_of(flow(step("a", body), others))
    assert any(lost in found.message for found in translated.findings), translated.findings


def rules(*rules: str) -> str:
    return f"tool: {{kind: shell, command: ls, spec: {{policy: {{rules: [{', '.join(rules)}]}}}}}}"


RETRY = "{{when: \"{{{{ outcome.status == 'error' }}}}\", then: {{do: retry, {}}}}}"


@pytest.mark.parametrize(
    ("rule", "lost"),
    [
        (RETRY.format("attempts: 3, backoff: exponential, delay: 1"), "which errors it retries"),
        (RETRY.format("attempts: 3, backoff: linear, delay: 2"), "how long its retries wait"),
        ("{else: {then: {do: continue, set_ctx: {seen: 1}}}}", "sets 'seen' in ctx"),
        ("{else: {then: {do: continue}}}", "as good as a success"),
    ],
)
def test_rules_that_a_node_does_not_have_are_reported(rule: str, lost: str) -> None:
    translated = graph_of(flow(step("a", rules(rule))))
    assert any(lost in found.message for found in translated.findings), translated.findings


def test_a_failing_step_does_not_go_on_to_one_that_does_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = step("a", "tool: {kind: shell, command: ls}\n  next: {arcs: [{step: b}]}")
    translated = graph_of(flow(first, step("b", "tool: {kind: noop}")))
    assert translated.findings == []
    script = {"outcomes": {"a": [{"error": {"kind": "exit_code", "message": "1"}}]}}
    out = simulated(translated.text, script, tmp_path, capsys)
    assert (out["status"], out["visits"]) == ("failed", ["start", "a"])


# --- conditions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("when", "condition"),
    [
        ("{{ event.name == 'step.failed' }}", "status == 'FAILURE'"),
        ("event.name == 'step.done'", "status != 'FAILURE'"),
        ("{{ event.name != 'call.error' }}", "status != 'FAILURE'"),
        (
            "{{ event.outcome.verdict in ['success', 'partial'] }}",
            "status IN ['SUCCESS', 'PARTIAL']",
        ),
        ("{{ ctx.tries < 3 and not ctx.done }}", "(tries < 3) AND (NOT (done))"),
        ("{{ ctx.env != 'prod' }}", "NOT (env == 'prod')"),
        ("{{ ctx.env is defined and ctx.env != 'prod' }}", "env != 'prod'"),
        ("{{ 'x' in ctx.tags or ctx.n == -1 }}", "(tags CONTAINS 'x') OR (n == -1)"),
        ("{{ ctx['tool.output'] == \"it's\" }}", "tool.output == 'it\\'s'"),
        ("{{ event.error.type == 'TIMEOUT' }}", "error.type == 'TIMEOUT'"),
        ("{{ event.outcome.label == 'Yes' }}", "preferred_label == 'Yes'"),
    ],
)
def test_a_condition_is_said_in_the_words_of_a_graph(when: str, condition: str) -> None:
    assert docs_condition(when) == condition


@pytest.mark.parametrize(
    "when",
    [
        "{{ ctx.a + 1 == 2 }}",
        "{{ ctx.a == ctx.b }}",
        "{{ ctx.name | lower == 'x' }}",
        "{{ ctx.a is defined and not ctx.b }}",
        "{{ ctx.a is defined and not (ctx.a in [1, 2]) }}",
        "{{ workload.x == 1 }}",
        "{{ event.name == 'step.exit' }}",
        "a {{ text }}",
    ],
)
def test_a_condition_that_a_graph_does_not_have_is_refused(when: str) -> None:
    with pytest.raises(CannotSay):
        docs_condition(when)


# --- the command line ----------------------------------------------------------------------------


def test_the_command_prints_a_graph_and_tells_what_it_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "flow.yaml"
    file.write_text(flow(step("a", "tool: {kind: http, url: u}")))
    assert main(["graph", str(file), "--format", "dot"]) == 0
    told = capsys.readouterr()
    assert "digraph flow {" in told.out
    assert "a task of kind http" in told.err


def test_a_graph_is_given_back_in_its_plainest_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "graph.dot"
    file.write_text(
        "digraph g { node [shape=box] s [shape=ellipse]; x [shape=ellipse]; s->a->x; a }"
    )
    assert main(["graph", str(file), "--format", "dot"]) == 0
    plainest = capsys.readouterr().out
    assert "  s -> a\n  a -> x\n" in plainest
    file.write_text(plainest)
    assert main(["graph", str(file), "--format", "dot"]) == 0
    assert capsys.readouterr().out == plainest


def test_a_graph_is_not_replaced_by_a_playbook(tmp_path: Path) -> None:
    file = tmp_path / "graph.dot"
    file.write_text(CASES[0]["dot"])
    assert main(["migrate", str(file), "--write"]) == 2
    assert main(["migrate", str(file), "--to", "playbook", "-o", str(tmp_path / "f.yaml")]) == 0
    assert load_playbook((tmp_path / "f.yaml").read_text(), "f.yaml").program is not None
    assert file.read_text() == CASES[0]["dot"]
