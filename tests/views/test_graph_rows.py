"""The rows of a graph that nothing has happened in: one for each step and each way."""

from __future__ import annotations

import pytest

from anew.languages import load_text
from anew.program.program import Program
from anew.views import graph_rows
from anew.views.graph import Way, graph_of
from anew.views.graph_rows import edge_rows, graph_shown

GRAPH = """\
digraph review {
  start [shape=Mdiamond]
  build [prompt="build", goal_gate=true, retry_target=plan, max_retries=2]
  plan [prompt="plan"]
  done [shape=Msquare]
  start -> plan -> build
  build -> done [condition="outcome=success"]
}
"""
FLOW = """\
workflow:
  - step: a
    tool: {kind: noop}
    next:
      - {step: b, when: "{{ event.name == 'step.failed' }}"}
      - {step: c}
  - step: b
    loop: {in: [1, 2], iterator: n}
    tool: {kind: noop}
  - step: c
    tool: {kind: human, question: "Well?"}
"""


def program_of(text: str, file: str) -> Program:
    program = load_text(text, file).program
    assert program is not None
    return program


def test_every_step_and_arc_has_a_row_with_its_line() -> None:
    shown = graph_shown(program_of(FLOW, "flow.yaml"))
    assert shown is not None
    assert [(node.name, node.line, node.role) for node in shown.nodes] == [
        ("a", 2, "step"),
        ("b", 7, "step"),
        ("c", 10, "person"),
    ]
    assert [node.name for node in shown.nodes if node.is_entry] == ["a"]
    assert [node.name for node in shown.nodes if node.is_loop] == ["b"]
    assert [(edge.source, edge.target, edge.line) for edge in shown.edges] == [
        ("a", "b", 5),
        ("a", "c", 6),
    ]
    assert [edge.is_failure for edge in shown.edges] == [True, False]


def test_nothing_has_happened_yet() -> None:
    shown = graph_shown(program_of(FLOW, "flow.yaml"))
    assert shown is not None
    for node in shown.nodes:
        assert (node.status, node.visits, node.attempts, node.loop) == (None, 0, 0, None)
    for edge in shown.edges:
        assert (edge.taken, edge.last) == (0, None)


def test_edges_keep_their_order_so_that_each_is_known_by_its_way() -> None:
    edges = graph_of(program_of(GRAPH, "flow.dot")).edges
    rows = edge_rows(edges)
    assert [(row.source, row.target) for row in rows] == [
        (edge.source, edge.target) for edge in edges
    ]
    ways = {(edge.source, edge.target): (edge.way, edge.number) for edge in edges}
    assert ways["build", "done"] == (Way.ARC, 1)
    assert ways["done", "plan"] == (Way.GATE, None)
    lines = {(row.source, row.target): row.line for row in rows}
    assert lines["build", "done"] == 7
    assert lines["done", "plan"] == 3


@pytest.mark.parametrize("limit", ["GRAPH_STEPS_MAX", "GRAPH_EDGES_MAX"])
def test_a_graph_with_too_many_rows_is_not_drawn(monkeypatch, limit: str) -> None:
    program = program_of(FLOW, "flow.yaml")
    monkeypatch.setattr(graph_rows, limit, 1)
    assert graph_shown(program) is None
