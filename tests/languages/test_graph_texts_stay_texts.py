"""A graph has no templates: what looks like one in it is text, and stays so in the playbook."""

from __future__ import annotations

import pytest

from anew.expressions import MappingScope
from anew.languages import load_text
from anew.languages.translation.to_playbook import graph_to_playbook
from anew.program.program import Program

GRAPH = """digraph g {{
  start [shape=Mdiamond]; exit [shape=Msquare]; n [{}]; start -> n;
  n -> exit [label="Go {{{{ 7*7 }}}}"]; n -> start2 [label=no]; start2 [prompt=x]; start2 -> exit
}}"""
AGENT = 'prompt=x, {}="a {{{{ 7*7 }}}}"'


@pytest.mark.parametrize(
    ("attributes", "key", "literal"),
    [
        ('shape=parallelogram, tool_command="echo {{ 7*7 }}"', "command", "echo {{ 7*7 }}"),
        ('shape=house, dotfile="{{ 7*7 }}.dot"', "file", "{{ 7*7 }}.dot"),
        ("shape=hexagon, label=q", "choices", ["Go {{ 7*7 }}", "no"]),
        (AGENT.format("system"), "system", "a {{ 7*7 }}"),
        (AGENT.format("llm_model"), "model", "a {{ 7*7 }}"),
        (AGENT.format("command"), "command", "a {{ 7*7 }}"),
        (AGENT.format("cwd"), "cwd", "a {{ 7*7 }}"),
        (AGENT.format("thread_id"), "thread", "a {{ 7*7 }}"),
    ],
)
def test_braces_of_a_graph_are_not_rendered_by_its_playbook(
    attributes: str, key: str, literal: object
) -> None:
    migrated = graph_to_playbook(GRAPH.format(attributes), "x.dot")
    assert migrated.text is not None, migrated.findings
    program = load_text(migrated.text, "x.yaml").program
    assert program is not None
    (task,) = program.steps["n"].tasks
    inputs = task.inputs.value(MappingScope({"ctx": {}, "args": {}, "workload": {}}))
    assert inputs[key] == literal


SCOPE = {"ctx": {"x": "X", "goal": "X"}, "args": {}, "workload": {"x": "X"}, "outcome": {}}


def migrated_program(graph: str) -> Program:
    migrated = graph_to_playbook(graph, "x.dot")
    assert migrated.text is not None, migrated.findings
    program = load_text(migrated.text, "x.yaml").program
    assert program is not None
    return program


@pytest.mark.parametrize("label", ["{% no %}", "{# gone #}", "{{ 7*7 }}", "it's {{ 'a' }}", "{%"])
def test_a_person_may_choose_a_label_that_looks_like_a_template(label: str) -> None:
    program = migrated_program(f"""digraph g {{
      start [shape=Mdiamond]; exit [shape=Msquare]; n [shape=hexagon, label=q]; start -> n;
      n -> exit [label="[k] {label}"]; n -> start2 [label=no]; start2 [prompt=x]; start2 -> exit
    }}""")
    (task,) = program.steps["n"].tasks
    choices = task.inputs.value(MappingScope(SCOPE))["choices"]
    assert choices == [arc.label for arc in program.steps["n"].router.arcs]
    outcome = {"result": {"label": choices[0], "answer": choices[0]}, "status": "ok"}
    patches = {
        ".".join(patch.path): patch.value.value(MappingScope({**SCOPE, "outcome": outcome}))
        for rule in task.policy.rules
        for patch in rule.patches
    }
    assert patches["human.gate.selected"] == "k"


def test_what_an_edge_says_to_its_target_is_text() -> None:
    program = migrated_program("""digraph g {
      start [shape=Mdiamond]; exit [shape=Msquare]; n [prompt=x];
      start -> n [thread_id="{{ 7*7 }}"]; n -> exit
    }""")
    (arc,) = program.steps["start"].router.arcs
    assert arc.args is not None
    assert arc.args.value(MappingScope(SCOPE)) == {"thread_id": "{{ 7*7 }}"}


@pytest.mark.parametrize("prompt", ["{${ctx.x}}", "a {% ${ctx.x} {", "{${ctx.x}{${ctx.x}%}"])
def test_a_brace_beside_a_variable_stays_a_brace(prompt: str) -> None:
    program = migrated_program(f"""digraph g {{
      start [shape=Mdiamond]; exit [shape=Msquare]; n [prompt="{prompt}"]; start -> n -> exit
    }}""")
    (task,) = program.steps["n"].tasks
    rendered = task.inputs.value(MappingScope(SCOPE))["prompt"]
    assert rendered == prompt.replace("${ctx.x}", "X")


def test_a_command_with_a_variable_keeps_its_folder() -> None:
    program = migrated_program("""digraph g {
      start [shape=Mdiamond]; exit [shape=Msquare];
      n [shape=parallelogram, tool_command="echo $x {{ 7*7 }}", cwd="a {{ 7*7 }}"];
      start -> n -> exit
    }""")
    (task,) = program.steps["n"].tasks
    inputs = task.inputs.value(MappingScope(SCOPE))
    assert inputs["cwd"] == "a {{ 7*7 }}"
    assert inputs["command"].endswith("{{ 7*7 }}")


def test_attributes_of_the_graph_are_the_workload_as_they_stand() -> None:
    graph = """digraph g {{ goal="{}"; start [shape=Mdiamond]; exit [shape=Msquare]; n [prompt=x];
      start -> n -> exit }}"""
    assert migrated_program(graph.format("{{ 7*7 }}")).workload["graph.goal"] == "{{ 7*7 }}"
    told = graph_to_playbook(graph.format("{{ run_id }}"), "x.dot").findings
    assert any("`graph.goal` of the graph is a text" in found.message for found in told)
    told = graph_to_playbook(graph.format("{{ 7*7 }}"), "x.dot").findings
    assert not any("graph.goal" in found.message for found in told)
