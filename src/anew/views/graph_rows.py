"""The graph of a program as JSON rows: what the page draws, before any run colours it.

One row for each step and each edge of `views.graph`. A view of a run fills in what happened
(`msgspec.structs.replace`); here nothing has happened yet. Knows no run and no layout.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from anew.program.program import Program
from anew.program.span import NOWHERE, Span
from anew.views.graph import GraphEdge, GraphNode, ProgramGraph, graph_of

# Beyond so many no picture helps, and nobody waits for its layout.
GRAPH_STEPS_MAX = 2_000
GRAPH_EDGES_MAX = 8_000


class LoopShown(Struct, frozen=True):
    """How far the iterations of the newest visit are."""

    total: int
    done: int
    failed: int


class NodeShown(Struct, frozen=True):
    """A step. `status` is null where no run has reached it."""

    name: str
    lines: tuple[str, ...]
    role: str
    is_entry: bool
    is_loop: bool
    is_gate: bool
    line: int | None
    status: str | None = None
    doing: str | None = None
    until: str | None = None
    visits: int = 0
    attempts: int = 0
    retries: int = 0
    attempt: int | None = None
    attempts_max: int | None = None
    loop: LoopShown | None = None
    trouble: str | None = None


class EdgeShown(Struct, frozen=True):
    """A way between two steps: how often it was `taken`, and by which event `last`."""

    source: str
    target: str
    label: str
    is_failure: bool
    line: int | None
    taken: int = 0
    last: int | None = None


class GraphShown(Struct, frozen=True):
    nodes: tuple[NodeShown, ...]
    edges: tuple[EdgeShown, ...]


def graph_shown(program: Program) -> GraphShown | None:
    """The rows of a program that has not run; None when there are too many to draw."""
    graph = graph_of(program)
    if not is_drawable(graph):
        return None
    return GraphShown(node_rows(graph.nodes), edge_rows(graph.edges))


def is_drawable(graph: ProgramGraph) -> bool:
    return len(graph.nodes) <= GRAPH_STEPS_MAX and len(graph.edges) <= GRAPH_EDGES_MAX


def node_rows(nodes: Iterable[GraphNode]) -> tuple[NodeShown, ...]:
    """One row for each node, in their order."""
    return tuple(map(_node_row, nodes))


def edge_rows(edges: Iterable[GraphEdge]) -> tuple[EdgeShown, ...]:
    """One row for each edge, in their order: `zip` them to know by which way an edge is taken."""
    return tuple(map(_edge_row, edges))


def _node_row(node: GraphNode) -> NodeShown:
    return NodeShown(
        name=node.name,
        lines=node.lines,
        role=node.role.value,
        is_entry=node.is_entry,
        is_loop=node.is_loop,
        is_gate=node.is_gate,
        line=_line(node.span),
        status=None if node.status is None else node.status.value,
    )


def _edge_row(edge: GraphEdge) -> EdgeShown:
    return EdgeShown(edge.source, edge.target, edge.label, edge.is_failure, _line(edge.span))


def _line(span: Span) -> int | None:
    """None for what stands nowhere in the document, such as a step that was made up for it."""
    return None if span == NOWHERE else span.line
