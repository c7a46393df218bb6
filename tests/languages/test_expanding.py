"""The expansion of a document is a document that does the same, and says everything."""

from __future__ import annotations

import re
from functools import cache
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from anew.errors import ConfigError, ProgramError
from anew.expressions import Template
from anew.lab.script import Script, script_of
from anew.lab.simulate import simulate
from anew.languages.dot.graph import DotDialect
from anew.languages.dot.loading import load_dot
from anew.languages.expanding.expanded import Expanded, expand
from anew.languages.playbook import load_playbook
from anew.program.policy import Retry
from anew.program.program import Dialect, Program
from anew.values import Object
from tests.corpus import Played, corpus
from tests.generated import playbooks, scripts
from tests.languages.dot.generated_graphs import case_of

CORPUS = corpus()
# What a playbook cannot hold of a graph's context, and the note that says so. May only shrink.
EXCUSED = {
    "_branch_results": "tells of the branches in another form",
    "parallel.results": "tells of the branches in another form",
    "_threads": "'_threads', which node",
}
EVENTS_MAX = 200
SETTINGS = (
    "attempts",
    "backoff",
    "delay",
    "jitter",
    "honor_retry_after",
    "budget",
    "on_exhausted",
)


@cache
def expansion(text: bytes, file: str) -> Expanded:
    """Made once: several tests look at the same ones."""
    return expand(text, file)


@cache
def loaded(text: str) -> Program:
    found = load_playbook(text, "again.yaml")
    assert found.program is not None, found.findings
    return found.program


def story(program: Program, script: Script, *, events_max: int = 100_000) -> Object:
    """What a run does; visits and attempts as the log has them, which all languages share."""
    played = simulate(program, script, events_max=events_max)
    report = played.report()
    kept = {key: report[key] for key in ("status", "attempts", "delays", "elapsed", "handled")}
    return {
        **kept,
        "unsatisfied": report.get("unsatisfied"),
        "error": (report["error"] or {}).get("kind"),
        "visits": [event.step for event in played.log if event.name == "step.started"],
        "executed": [(x.step, x.task, x.attempt) for x in played.log if x.name == "task.started"],
        "ctx": dict(played.state.ctx),
    }


def uncommented(text: str) -> list[str]:
    """The lines without their remarks, which tell of the document they were made from."""
    lines = [re.sub(r"\s+# .*$", "", line) for line in text.splitlines()]
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def excuse(ctx: Object, other: Object, expanded: Expanded) -> None:
    """Forget what is known to differ, provided that a note of the expansion says so."""
    for key, told in EXCUSED.items():
        if ctx.get(key) != other.get(key):
            assert any(told in note.message for note in expanded.notes), key
            ctx.pop(key, None)
            other.pop(key, None)


@pytest.mark.parametrize("played", CORPUS, ids=lambda played: played.name)
def test_an_expansion_loads_and_does_the_same(played: Played) -> None:
    expanded = expansion(played.text, played.file)
    assert played.program is not None
    before = story(played.program, played.script)
    after = story(loaded(expanded.text), played.script)
    if played.program.language == "dot":
        excuse(before["ctx"], after["ctx"], expanded)
    assert after == before


def test_expanding_twice_changes_nothing_but_the_remarks() -> None:
    for text, file in {(played.text, played.file) for played in CORPUS}:
        once = expansion(text, file)
        again = expand(once.text, "again.yaml")
        assert again.document == once.document, file
        assert uncommented(again.text) == uncommented(once.text), file


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(playbooks(), scripts())
def test_a_generated_playbook_does_the_same(document: str, script: Object) -> None:
    program = load_playbook(document, "flow.yaml").program
    assume(program is not None)
    assert program is not None
    expanded = expand(document, "flow.yaml")
    played = script_of(script)
    try:
        before = story(program, played, events_max=EVENTS_MAX)
    except ConfigError:
        assume(False)  # it goes round for ever
    assert story(loaded(expanded.text), played, events_max=EVENTS_MAX) == before
    assert expand(expanded.text, "flow.yaml").document == expanded.document


@pytest.mark.parametrize("dialect", DotDialect)
def test_a_generated_graph_does_the_same(dialect: DotDialect) -> None:
    for seed in range(20):
        case = case_of(Random(seed), dialect)
        program = load_dot(case.text, "graph.dot").program
        if program is None:
            continue
        expanded, script = expand(case.text, "graph.dot"), script_of(case.script)
        before, after = story(program, script), story(loaded(expanded.text), script)
        excuse(before["ctx"], after["ctx"], expanded)
        assert after == before, f"seed {seed}"


def test_nothing_is_excused_that_need_not_be() -> None:
    needed = set()
    for played in CORPUS:
        if played.file.endswith(".dot") and played.program is not None:
            before = simulate(played.program, played.script).state.ctx
            after = simulate(loaded(expansion(played.text, played.file).text), played.script)
            needed |= {key for key in EXCUSED if before.get(key) != after.state.ctx.get(key)}
    assert needed == set(EXCUSED)


def test_every_retry_rule_says_every_setting() -> None:
    seen = 0
    for played in CORPUS:
        for rule in _found(expansion(played.text, played.file).document, "do", "retry"):
            assert set(SETTINGS) <= rule.keys(), played.name
            seen += 1
    assert seen > 100


def test_every_task_says_what_an_unmatched_outcome_does_and_how_long_an_attempt_may_take() -> None:
    for played in CORPUS:
        expanded = expansion(played.text, played.file)
        tasks = _tasks(expanded.document)
        said = sum("timeout" in task.get("spec", ()) for task in tasks)
        told = [told for told in expanded.remarks.values() if told[-1].startswith("timeout: ")]
        assert said + len(told) == len(tasks), played.name
        for task in tasks:
            if "eval" in task or "retry" in task:
                continue  # kept in the form of its dialect, as a note tells
            assert task["spec"]["policy"]["on_unmatched"] in ("fail", "continue")


def test_the_numbers_are_those_of_the_program() -> None:
    """Compared with the compiled original, not with what the expansion says of itself."""
    for played in CORPUS:
        program = played.program
        assert program is not None
        if program.language != "playbook":
            continue
        rules = [
            rule.then
            for task in [*_all_tasks(program)]
            for rule in task.policy.rules
            if isinstance(rule.then, Retry) and task.dialect is not Dialect.RETRY
        ]
        told = [
            row
            for row in _found(expansion(played.text, played.file).document, "do", "retry")
            if "attempts" in row
        ]
        said = {(_text(row["attempts"]), row["backoff"], _text(row["delay"])) for row in told}
        for retry in rules:
            plain = not isinstance(retry.backoff.first, Template)
            if plain and not isinstance(retry.attempts, Template):
                kind, first = retry.backoff.kind.value, _text(retry.backoff.first)
                assert (_text(retry.attempts), kind, first) in said


def _all_tasks(program: Program) -> list[Any]:
    return [task for step in program.steps.values() for task in step.tasks]


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _found(value: Any, key: str, wanted: str) -> list[Object]:
    """Every mapping in a value in which `key` is `wanted`."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = [value] if isinstance(value, dict) and value.get(key) == wanted else []
    return [*own, *(row for item in inner for row in _found(item, key, wanted))]


def _tasks(document: Object) -> list[Object]:
    tools = [step["tool"] for step in document["workflow"]]
    tools += [row["tool"] for row in document.get("workbook", ())]
    found: list[Object] = []
    for tool in tools:
        rows = tool if isinstance(tool, list) else [tool]
        found += [row if "kind" in row else next(iter(row.values())) for row in rows]
    return found


# --- where things stand --------------------------------------------------------------------------

FLOW = """\
workflow:
  - step: fetch
    tool:
      - page:
          kind: http
          url: http://x
          spec:
            policy:
              rules:
                - when: "{{ outcome.error.retryable }}"
                  then: {do: retry}
    next:
      arcs:
        - step: store
  - step: store
    tool: {kind: noop}
"""


def test_each_part_names_the_line_it_comes_from() -> None:
    lines = expand(FLOW, "flow.yaml").text.splitlines()

    def line_with(text: str) -> str:
        return next(line for line in lines if line.strip().startswith(text))

    assert line_with("- step: fetch").endswith("# the entry step, flow.yaml:2")
    assert line_with("kind: http").endswith("# flow.yaml:4")
    assert line_with("- when:").endswith("# rule 1, flow.yaml:10")
    assert "arc 1: success only, flow.yaml:14" in "\n".join(lines)
    assert line_with("# timeout: 30 s for one attempt").endswith("the default of http")
    assert line_with("attempts: 3").endswith("the default")


def test_rules_and_arcs_of_one_kind_are_told_apart() -> None:
    flow = """\
workflow:
  - step: a
    tool:
      kind: noop
      spec:
        policy:
          rules:
            - {when: "{{ outcome.result == 1 }}", then: {do: fail}}
            - {when: "{{ outcome.result == 2 }}", then: {do: fail}}
            - {else: {then: {do: continue}}}
    next:
      arcs:
        - {step: b, when: "{{ workload.x }}"}
        - {step: b, when: "{{ workload.y }}"}
  - step: b
    tool: {kind: noop}
"""
    places = expand(flow, "flow.yaml").places
    rules = ("workflow", 0, "tool", "spec", "policy", "rules")
    assert [places[*rules, n].line for n in range(3)] == [8, 9, 10]
    arcs = ("workflow", 0, "next", "arcs")
    assert [places[*arcs, n].line for n in range(2)] == [13, 14]


def test_places_point_into_the_document() -> None:
    expanded = expand(FLOW, "flow.yaml")
    path = ("workflow", 0, "tool", 0, "page", "spec", "policy", "rules", 0)
    assert expanded.places[path].line == 10
    value: Any = expanded.document
    for key in path:
        value = value[key]
    assert value["then"]["attempts"] == 3


def test_a_graph_names_the_lines_of_its_nodes_and_edges() -> None:
    graph = 'digraph g {\n  s [shape=Mdiamond]\n  a [prompt="x", max_retries=2]\n  e [shape=Msquare]\n  s -> a\n  a -> e\n}\n'
    text = expand(graph, "g.dot").text
    assert re.search(r"- step: a +# g.dot:3", text)
    assert re.search(r"- step: e +# arc 1: success only, g.dot:6", text)
    assert re.search(r"attempts: 3 +# executions in all", text)


def test_what_cannot_be_said_is_noted_above_the_step() -> None:
    graph = "digraph g {\n  s [shape=Mdiamond]\n  f [shape=component]\n  a\n  b\n  j [shape=tripleoctagon]\n  e [shape=Msquare]\n  s -> f -> a -> j -> e\n  f -> b -> j\n}\n"
    expanded = expand(graph, "g.dot")
    assert expanded.notes
    for note in expanded.notes:
        assert f"# note: {note.message} (line {note.place.line})" in expanded.text


def test_a_remark_stays_on_its_line() -> None:
    file = "a\nworkflow: [].yaml"
    text = expand("workflow: [{step: a, tool: {kind: noop}}]", file).text
    assert loaded(text).steps.keys() == {"a"}


@pytest.mark.parametrize(
    "document",
    [
        "workflow:\n- step: a\n  tool: http\n  url: u\n  retry: {max_attempts: 4, "
        "retry_when: \"{{ node_id == 'a' and success == false }}\", "
        'stop_when: "{{ status_code == 404 }}"}\n',
        "workflow:\n- step: a\n  tool:\n    kind: noop\n    eval:\n"
        "    - {expr: \"outcome.status == 'success'\", set: {ctx.a.b: 1}, do: break}\n"
        "    - else: {do: retry, attempts: 2}\n",
        "workflow: [{step: a, tool: {kind: noop, set: {a.b: '{{ outcome.result }}'}}}]",
        "workload: {w: 5}\nworkflow: [{step: a, tool: {kind: noop, set: {ctx.a.b: '{{ ctx.w }}'}}}]",
        "workflow: [{step: a, tool: noop, set: {a.b: 3}, retry: true}]",
    ],
)
@pytest.mark.parametrize(
    "outcome", [{"error": {"kind": "server_error"}, "http": {"status": 503}}, {"result": 1}]
)
def test_a_step_that_has_no_canonical_form_keeps_its_own(document: str, outcome: Object) -> None:
    expanded = expand(document, "flow.yaml")
    assert [note.rule for note in expanded.notes] == ["migrate.kept"]
    original = load_playbook(document, "flow.yaml").program
    assert original is not None
    script = script_of({"outcomes": {"a": [outcome]}, "random": 0.25})
    assert story(loaded(expanded.text), script) == story(original, script)


def test_a_document_with_errors_has_no_expansion() -> None:
    with pytest.raises(ProgramError, match="does not exist"):
        expand("workflow: [{step: a, tool: {kind: noop}, next: [b]}]", "flow.yaml")
