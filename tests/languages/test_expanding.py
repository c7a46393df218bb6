"""The expansion of a document is a document that does the same, and says everything."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from anew.engine.events import TaskStarted
from anew.errors import ConfigError, ProgramError
from anew.expressions import Template
from anew.lab.script import Script, script_of
from anew.lab.simulate import Simulation, simulate
from anew.languages.dot.conditions.evaluation import text_of
from anew.languages.dot.graph import DotDialect
from anew.languages.dot.loading import load_dot
from anew.languages.expanding.expanded import Expanded, expand
from anew.languages.playbook import load_playbook
from anew.program.policy import Retry
from anew.program.program import Dialect, Program
from anew.values import Object
from tests.corpus import Played, corpus, corpus_parts
from tests.generated import playbooks, scripts
from tests.languages.dot.generated_graphs import case_of

CORPUS, PARTS = corpus(), corpus_parts()
# What a playbook cannot hold of a graph's context, and the note that says so. May only shrink.
EXCUSED = {
    "_branch_results": "describes the branches in another form",
    "parallel.results": "describes the branches in another form",
    "_threads": "'_threads', which node",
}
# What an agent of a graph is told and one of a playbook is not, and the note that says so.
EXCUSED_INPUTS = {
    "node": "agents of a graph get a summary of the run so far",
    "thread": "agents of a graph get a summary of the run so far",
    "preamble": "agents of a graph get a summary of the run so far",
    "history": "agents of a graph get a summary of the run so far",
    "classes": "`classes` of node",
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


_EXPANDED: dict[str, Simulation] = {}


def expanded_simulation(played: Played) -> Simulation:
    """What the expansion does; played once, and not to be changed."""
    if played.name not in _EXPANDED:
        program = loaded(expansion(played.text, played.file).text)
        _EXPANDED[played.name] = simulate(program, played.script)
    return _EXPANDED[played.name]


@cache
def loaded(text: str) -> Program:
    found = load_playbook(text, "again.yaml")
    assert found.program is not None, found.findings
    return found.program


def story(program: Program, script: Script, *, events_max: int = 100_000) -> Object:
    return story_of(simulate(program, script, events_max=events_max))


def story_of(played: Simulation) -> Object:
    """What a run does; visits and attempts as the log has them, which all languages share."""
    report = played.report()
    kept = {key: report[key] for key in ("status", "attempts", "delays", "elapsed", "handled")}
    return {
        **kept,
        "unsatisfied": report.get("unsatisfied"),
        "error": (report["error"] or {}).get("kind"),
        "visits": [event.step for event in played.log if event.name == "step.started"],
        "executed": [(x.step, x.task, x.attempt) for x in played.log if x.name == "task.started"],
        "inputs": [inputs_of(x, played.program) for x in played.log if isinstance(x, TaskStarted)],
        "ctx": dict(played.state.ctx),
    }


def inputs_of(started: TaskStarted, program: Program) -> Any:
    """What a tool is given, as it takes it; a relay is no tool, and what it passes on shows later."""
    step = program.steps.get(started.step or "")
    if step is None or step.is_relay or not isinstance(started.inputs, dict):
        return None if step is not None and step.is_relay else started.inputs
    inputs = dict(started.inputs)
    if isinstance(env := inputs.get("env"), dict):
        # A variable is a text, and one that is null is not set.
        given = {name: value for name, value in env.items() if value is not None}
        inputs["env"] = {name: text_of(value) for name, value in given.items()}
    if isinstance(args := inputs.get("args"), dict) and "file" in inputs:
        # A graph keeps its own attributes from a graph it calls.
        inputs["args"] = {key: args[key] for key in args if not key.startswith("graph.")}
    return {key: value for key, value in inputs.items() if value not in ({}, "")}


def uncommented(text: str) -> list[str]:
    """The lines without their remarks, which tell of the document they were made from."""
    lines = [re.sub(r"\s+# .*$", "", line) for line in text.splitlines()]
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def excuse(before: Object, after: Object, expanded: Expanded) -> None:
    """Forget what is known to differ, provided that a note of the expansion says so."""
    _excuse(before["ctx"], after["ctx"], expanded, EXCUSED)
    for inputs, other in zip(before["inputs"], after["inputs"], strict=True):
        if isinstance(inputs, dict) and isinstance(other, dict):
            _excuse(inputs, other, expanded, EXCUSED_INPUTS)


def _excuse(values: Object, other: Object, expanded: Expanded, excused: dict[str, str]) -> None:
    for key, told in excused.items():
        if values.get(key) != other.get(key):
            assert any(told in note.message for note in expanded.notes), key
            values.pop(key, None)
            other.pop(key, None)


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_an_expansion_loads_and_does_the_same(part: list[Played]) -> None:
    for played in part:
        before, after = story_of(played.simulation), story_of(expanded_simulation(played))
        if played.simulation.program.language == "dot":
            excuse(before, after, expansion(played.text, played.file))
        assert after == before, played.name


def test_expanding_twice_changes_nothing_but_the_remarks() -> None:
    seen: set[tuple[str, ...]] = set()
    for once in (expansion(played.text, played.file) for played in CORPUS):
        parts = shape(once.document)
        if parts <= seen:
            continue  # it has no key that was not written twice already, in a like place
        seen |= parts
        again = expand(once.text, "again.yaml")
        assert again.document == once.document, once.text
        assert uncommented(again.text) == uncommented(once.text)


def shape(value: Any) -> set[tuple[str, ...]]:
    """Every key in a document, with those around it and the type of what it holds."""
    found: set[tuple[str, ...]] = set()

    def note(value: Any, path: tuple[str, ...]) -> None:
        found.add((*path, type(value).__name__))
        if isinstance(value, dict):
            for key, inner in value.items():
                note(inner, (*path[-1:], key))
        elif isinstance(value, list):
            for inner in value:
                note(inner, path)

    note(value, ())
    return found


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
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
    for seed in range(10):
        case = case_of(Random(seed), dialect)
        program = load_dot(case.text, "graph.dot").program
        if program is None:
            continue
        expanded, script = expand(case.text, "graph.dot"), script_of(case.script)
        before, after = story(program, script), story(loaded(expanded.text), script)
        excuse(before, after, expanded)
        assert after == before, f"seed {seed}"


def test_nothing_is_excused_that_need_not_be() -> None:
    needed: set[str] = set()
    for played in CORPUS:
        if not played.file.endswith(".dot"):
            continue
        before, after = story_of(played.simulation), story_of(expanded_simulation(played))
        needed |= {key for key in EXCUSED if before["ctx"].get(key) != after["ctx"].get(key)}
        pairs = zip(before["inputs"], after["inputs"], strict=True)
        for inputs, other in ((a or {}, b or {}) for a, b in pairs):
            needed |= {key for key in EXCUSED_INPUTS if inputs.get(key) != other.get(key)}
    assert needed == {*EXCUSED, *EXCUSED_INPUTS}


def test_every_retry_rule_says_every_setting() -> None:
    seen = 0
    for played in CORPUS:
        for rule in _found(expansion(played.text, played.file).document, "do", "retry"):
            rows = rule.get("backoff")
            by_error = rows.values() if isinstance(rows, dict) else ()
            needed = set(SETTINGS) - ({"delay", "jitter"} if by_error else set())
            assert needed <= rule.keys(), played.name
            assert all({"kind", "delay", "jitter"} <= row.keys() for row in by_error)
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
            if not rule.then.by_error
        ]
        told = [
            row
            for row in _found(expansion(played.text, played.file).document, "do", "retry")
            if "attempts" in row and "delay" in row
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
    tools += [step["compensate"] for step in document["workflow"] if "compensate" in step]
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
        "workflow: [{step: a, tool: {kind: noop, set: {ctx.a.b: '{{ outcome.result }}'}}}]",
        "workload: {w: 5}\nworkflow: [{step: a, tool: {kind: noop, set: {ctx.a.b: '{{ ctx.w }}'}}}]",
        "workflow: [{step: a, tool: noop, set: {ctx.a.b: 3, c.d: 4}, retry: true}]",
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


# --- commands of graphs --------------------------------------------------------------------------


def command_story(command: str, *, dialect: DotDialect, **script: Any) -> tuple[Expanded, Object]:
    """The expansion of a graph with one command, which is given the same as the graph's own."""
    ends = ("ellipse", "ellipse") if dialect is DotDialect.DOCS else ("Mdiamond", "Msquare")
    shape = "component" if dialect is DotDialect.DOCS else "parallelogram"
    graph = (
        f"digraph g {{ s [shape={ends[0]}] e [shape={ends[1]}]\n"
        f'a [shape={shape} tool_command="{command}" max_retries=3]; s -> a -> e }}'
    )
    expanded = expand(graph, "g.dot")
    before = story(expanded.program, script_of(script))
    after = story(loaded(expanded.text), script_of(script))
    assert after == before
    return expanded, after


@pytest.mark.parametrize("dialect", DotDialect)
def test_a_command_reads_the_retries_that_were_made_and_not_those_at_first(
    dialect: DotDialect,
) -> None:
    failed = {"error": {"kind": "exit_code", "retryable": True}}
    script = {"outcomes": {"a": [failed, failed, {"result": {"stdout": ""}}]}}
    expanded, told = command_story("test $retry_count -ge 2", dialect=dialect, **script)
    assert not expanded.notes
    assert [row["env"]["retry_count"] for row in told["inputs"] if row] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("$_retry_count", "0"),
        ("$_current_node", "a"),
        ("$_previous_node", "s"),
        ("${ctx.last_stage}", "s"),
        ("$_pipeline_name", "g"),
        ("$status", "SUCCESS"),
        ("${ctx.deep.key}", "7"),
        ("${ctx.flag}", "true"),
    ],
)
def test_a_command_is_given_the_words_of_the_run(word: str, value: str) -> None:
    workload = {"deep": {"key": 7}, "flag": True}
    expanded, told = command_story(f"echo {word}", dialect=DotDialect.DOCS, workload=workload)
    assert not expanded.notes
    (given,) = [row["env"] for row in told["inputs"] if row]
    assert list(given.values()) == [value]


@pytest.mark.parametrize("goal", ["the graph's", "the run's"])
def test_a_command_is_given_the_goal_of_the_run(goal: str) -> None:
    graph = (
        'digraph g { goal="the graph\'s"; s [shape=Mdiamond] e [shape=Msquare]\n'
        'a [shape=parallelogram tool_command="echo $goal"]; s -> a -> e }'
    )
    expanded, script = expand(graph, "g.dot"), script_of({"workload": {"graph.goal": goal}})
    before, after = story(expanded.program, script), story(loaded(expanded.text), script)
    assert after == before
    assert [row["env"] for row in after["inputs"] if row] == [{"goal": goal}]


def test_a_text_leaves_a_variable_that_is_null_as_it_is() -> None:
    graph = (
        "digraph g { s [shape=ellipse] e [shape=ellipse]\n"
        'a [prompt="in $_branch_id by $who"]; s -> a -> e }'
    )
    expanded, script = expand(graph, "g.dot"), script_of({"workload": {"who": None}})
    before, after = story(expanded.program, script), story(loaded(expanded.text), script)
    excuse(before, after, expanded)
    assert after == before
    assert [row["prompt"] for row in after["inputs"] if row] == ["in $_branch_id by $who"]


@pytest.mark.parametrize("word", ["$_retry_count", "$error_message"])
def test_a_word_that_cannot_be_said_in_a_command_is_noted(word: str) -> None:
    graph = (
        "digraph g { s [shape=Mdiamond] e [shape=Msquare]\n"
        f'a [shape=parallelogram tool_command="echo {word}"]; s -> a -> e }}'
    )
    (note,) = expand(graph, "g.dot").notes
    assert note.message.startswith(f"{word} of node 'a' was left as it is: ")


def test_a_variable_of_the_shell_stays_its_own_unless_the_context_has_one() -> None:
    graph = (
        "digraph g { s [shape=ellipse] e [shape=ellipse]\n"
        'a [shape=component tool_command="echo $HOME"]; s -> a -> e }'
    )
    program = loaded(expand(graph, "g.dot").text)
    for workload, printed in (({}, "the shell's"), ({"HOME": "mine"}, "mine")):
        played = simulate(program, script_of({"workload": workload}))
        (given,) = [row for row in story_of(played)["inputs"] if row]
        env = {"PATH": os.environ["PATH"], "HOME": "the shell's", **given.get("env", {})}
        done = subprocess.run(
            ["sh", "-c", given["command"]], env=env, capture_output=True, check=True
        )
        assert done.stdout.decode().strip() == printed
