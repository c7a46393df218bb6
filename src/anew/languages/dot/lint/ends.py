"""Check where a graph starts and ends."""

from __future__ import annotations

from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.graph import Node
from anew.languages.dot.node_type import Role
from anew.languages.dot.routes import restarts

_DOCS_START = "Draw it as shape=ellipse with no edge that leads to it."
_DOCS_EXIT = "Draw it as shape=ellipse with no edge that leaves it."
_SPEC_START = "Add a node with shape=Mdiamond, or call one `start`."
_SPEC_EXIT = "Add a node with shape=Msquare, or call one `exit`."


def check_ends(c: GraphCompilation) -> None:
    starts, exits = c.with_role(Role.START), c.with_role(Role.EXIT)
    if c.is_docs:
        _check_single(c, "single-start", starts, "start", _DOCS_START)
        _check_single(c, "single-exit", exits, "exit", _DOCS_EXIT)
        return
    _check_single(c, "start_node", starts, "start", _SPEC_START)
    if not exits:
        c.report("terminal_node", c.graph.span, "the graph has no exit", _SPEC_EXIT)
    _check_edges(c)


def _check_single(
    c: GraphCompilation, rule: str, found: list[Node], what: str, remedy: str
) -> None:
    if not found:
        c.report(rule, c.graph.span, f"the graph has no {what}", remedy)
    for node in found[1:]:
        message = f"node {node.id!r} is a second {what}; the first is {found[0].id!r}"
        c.report(rule, node.span, message, f"Keep one {what}, and lead the edges of others to it.")


def _check_edges(c: GraphCompilation) -> None:
    for edge in c.graph.edges:
        if c.role(edge.target) is Role.START and not restarts(edge):
            message = f"an edge leads from {edge.source!r} to the start {edge.target!r}"
            remedy = "Lead it to the node after the start."
            c.report("start_no_incoming", edge.target_span, message, remedy)
        if c.role(edge.source) is Role.EXIT:
            message = f"an edge leaves the exit {edge.source!r}"
            remedy = "Remove it, or put another node before the exit."
            c.report("exit_no_outgoing", edge.span, message, remedy)
