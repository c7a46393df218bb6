"""The graph of a program, in the three languages it is written in."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from anew.engine.statuses import StepStatus
from anew.languages import load_text
from anew.views.graph import dot_lines, graph_of, mermaid_lines
from anew.views.graph_layers import layers_of
from anew.views.graph_svg import svg_lines

FLOW = """
metadata: {name: flow}
workflow:
  - step: load
    tool:
      - read: {kind: http, url: "http://x"}
      - keep: {kind: noop}
    next:
      - {step: clean, when: "{{ event.name == 'step.failed' }}"}
      - {step: each, when: "{{ ctx.size > 1 }}"}
      - {step: load}
  - step: each
    loop: {in: "{{ [1] }}", iterator: n, spec: {mode: parallel}}
    tool: {kind: noop}
    next: [{step: done, when: "{{ event.failed == 0 }}"}]
  - step: clean
    tool: {kind: noop}
  - step: done
    tool: {kind: noop}
"""
# Ends a text in each of the languages, were it not escaped.
HOSTILE = """
metadata: {name: "n\\"]; <x> & \\e[2J"}
workflow:
  - step: "a\\"]--><script>&\\n\\\\"
    tool: {kind: noop}
    next: [{step: "b#quot;|", when: "{{ ctx.x == '\\"]-->|<b>' }}"}]
  - step: "b#quot;|"
    tool: {kind: noop}
"""
DRAWINGS = [mermaid_lines, dot_lines, svg_lines]


def program(document: str = FLOW):
    loaded = load_text(document, "flow.yaml")
    assert loaded.program is not None, [f"{x.place} {x.message}" for x in loaded.findings]
    return loaded.program


def test_mermaid_shows_steps_conditions_loops_and_failures() -> None:
    assert list(mermaid_lines(graph_of(program()))) == [
        "flowchart TD",
        '  n0(["load<br/>read: http<br/>keep: noop"])',
        '  n1[["each<br/>for each n #40;parallel#41;<br/>noop"]]',
        '  n2["clean<br/>noop"]',
        '  n3["done<br/>noop"]',
        '  n0 -.->|"1. event.name == #39;step.failed#39;"| n2',
        '  n0 -->|"2. ctx.size #62; 1"| n1',
        "  n0 --> n0",
        '  n1 -.->|"event.failed == 0"| n3',
    ]


def test_a_run_is_coloured_by_the_status_of_its_steps() -> None:
    statuses = {"load": StepStatus.DONE, "each": StepStatus.RETRYING}
    lines = list(mermaid_lines(graph_of(program(), statuses)))
    assert "  class n0 done" in lines
    assert "  class n1 retrying" in lines
    dot = "\n".join(dot_lines(graph_of(program(), statuses)))
    assert re.search(r'"load" \[.*fillcolor="#d9f2dd"', dot)
    assert "#d9f2dd" in "".join(svg_lines(graph_of(program(), statuses)))


def test_dot_dashes_the_arcs_for_failures() -> None:
    lines = list(dot_lines(graph_of(program())))
    assert lines[0] == 'digraph "flow" {'
    assert any('"load" -> "clean"' in line and "style=dashed" in line for line in lines)
    assert any('"load" -> "each"' in line and "dashed" not in line for line in lines)
    assert any('"each" [' in line and "peripheries=2" in line for line in lines)


def test_svg_is_well_formed_and_has_every_step_and_arc() -> None:
    root = ElementTree.fromstring("\n".join(svg_lines(graph_of(program()))))
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"load", "each", "clean", "done"} <= set(texts)
    marked = [n for n in root.iter("{http://www.w3.org/2000/svg}path") if n.get("marker-end")]
    assert len(marked) == 4
    assert sum(node.get("stroke-dasharray") is not None for node in marked) == 2


@pytest.mark.parametrize("write", DRAWINGS)
def test_hostile_names_end_no_text_and_reach_no_terminal(write) -> None:
    drawn = "\n".join(write(graph_of(program(HOSTILE))))
    assert "\x1b" not in drawn
    assert "<script>" not in drawn.replace('\\"]--><script>', "")
    if write is svg_lines:
        ElementTree.fromstring(drawn)
    if write is mermaid_lines:
        assert all(line.count('"') in (0, 2) for line in drawn.splitlines())
    if write is dot_lines:
        unescaped = re.sub(r'\\\\|\\"', "", drawn)
        assert all(line.count('"') % 2 == 0 for line in unescaped.splitlines())


def test_arcs_point_down_but_for_those_that_lead_back() -> None:
    graph = graph_of(program())
    layers = layers_of(graph)
    depth = {name: level for level, row in enumerate(layers.rows) for name in row}
    assert layers.back == {("load", "load")}
    for edge in graph.edges:
        if (edge.source, edge.target) not in layers.back:
            assert depth[edge.source] < depth[edge.target]


def test_a_long_chain_is_drawn_without_running_out_of_stack() -> None:
    steps = [f"  - step: s{n}\n    next: [s{n + 1}]" for n in range(1500)]
    document = "workflow:\n" + "\n".join([*steps, "  - step: s1500"])
    assert len(layers_of(graph_of(program(document))).rows) == 1501


def test_boxes_do_not_overlap() -> None:
    names = [f"b{n}" for n in range(6)]
    steps = "".join(
        f"\n  - step: {name}\n    tool: {{kind: noop}}\n    next: [end]" for name in names
    )
    document = f"workflow:\n  - step: start\n    next: [{', '.join(names)}]{steps}\n  - step: end\n"
    root = ElementTree.fromstring("\n".join(svg_lines(graph_of(program(document)))))
    boxes = [
        tuple(float(node.get(key, "0")) for key in ("x", "y", "width", "height"))
        for node in root.iter("{http://www.w3.org/2000/svg}rect")
    ]
    for i, (x, y, w, h) in enumerate(boxes):
        for u, v, s, t in boxes[i + 1 :]:
            assert x + w <= u or u + s <= x or y + h <= v or v + t <= y


def test_the_parts_of_a_graph_have_shapes_of_their_own() -> None:
    graph = """digraph g { s [shape=ellipse] x [shape=ellipse] f [shape=hexagon] a; b [goal_gate=true];
        j [shape=invhouse join_policy=k_of_n k=1] c [shape=diamond] h [shape=house] r;
        s->f; f->a; f->b; a->j; b->j; j->c; c->h [condition="status == 'SUCCESS'"];
        c->r [condition="status == 'FAILURE'"]; h->x [label="[Y] Yes"]; h->r [label="[N] No"];
        r->x }"""
    shown = list(mermaid_lines(graph_of(load_text(graph, "g.dot").program)))
    wanted = [
        '  n0(["s"])',
        '  n1((("x")))',
        '  n2[/"f"\\]',
        '  n4["b<br/>agent<br/>goal gate"]',
        '  n5[\\"j<br/>joins: k_of_n 1"/]',
        '  n6{"c"}',
        '  n7{{"h<br/>human"}}',
        '  n7 -->|"#91;Y#93; Yes"| n1',
        '  n6 -.->|"status == #39;FAILURE#39;"| n8',
        '  n6 -->|"status == #39;SUCCESS#39;"| n7',
        "  class n4 gate",
    ]
    assert [line for line in wanted if line not in shown] == []


def test_the_ways_of_a_failure_are_dashed() -> None:
    graph = """digraph g { fallback=fb s [shape=ellipse] x [shape=ellipse] fb;
        a [max_retries=1 retry_target=r goal_gate=true]; r; s->a->x; r->a }"""
    drawn = graph_of(load_text(graph, "g.dot").program)
    dashed = [(e.source, e.target, e.label) for e in drawn.edges if e.is_failure]
    assert dashed == [("x", "r", "gate a"), ("a", "r", "retry")]
    assert {node.name: node.lines for node in drawn.nodes}["fb"] == ("agent", "fallback")


@pytest.mark.parametrize("draw", DRAWINGS)
def test_names_of_a_graph_cannot_break_out_of_its_drawing(draw) -> None:
    graph = """digraph g { s [shape=ellipse] x [shape=ellipse] h [shape=house]; c [shape=diamond];
        s->h; h->c [label="\\"]--><script>&"]; h->x [label="|n\\""]; c->x }"""
    text = "\n".join(draw(graph_of(load_text(graph, "g.dot").program)))
    if draw is dot_lines:
        assert r'label="\"]--><script>&"' in text
        return
    assert "<script>" not in text
    if draw is svg_lines:
        ElementTree.fromstring(text)
