"""Check that every node can be reached from the start, and leads to the exit.

A retry target, a fallback and the jump of a gate are ways too. Each check is one walk.
"""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.graph import Node
from anew.languages.dot.node_type import Role
from anew.program.graph_walks import backwards, reached

# Where a node or the graph says which node to try again from.
TARGET_KEYS = ("retry_target", "fallback_retry_target")


def check_reach(c: GraphCompilation) -> None:
    starts = [node.id for node in c.with_role(Role.START)]
    if not starts:
        return  # nothing could be reached, which is said already
    ways = {node.id: ways_from(c, node) for node in c.graph.nodes.values()}
    jumps = [target for key in TARGET_KEYS if (target := c.target(c.graph, key)) is not None]
    ahead = reached(ways, [*starts, *jumps])
    fallback = [c.fallback] if c.fallback is not None else []
    _check_reached(c, reached(ways, [*ahead, *fallback]), starts[0])
    if c.is_docs:
        _check_exit(c, ways, ahead - set(fallback))


def ways_from(c: GraphCompilation, node: Node) -> list[str]:
    """Where a run can go from a node: along its edges, and to its retry targets."""
    targets = (c.target(node, key) for key in TARGET_KEYS)
    return [*c.leads[node.id], *(target for target in targets if target is not None)]


def _check_reached(c: GraphCompilation, found: set[str], start: str) -> None:
    for node in c.graph.nodes.values():
        if node.id not in found:
            message = f"no way leads from the start {start!r} to node {node.id!r}"
            remedy = "Add an edge that leads to it, or remove it."
            c.report("reachability", node.span, message, remedy)


def _check_exit(c: GraphCompilation, ways: Mapping[str, list[str]], asked: set[str]) -> None:
    exits = [node.id for node in c.with_role(Role.EXIT)]
    if not exits:
        return
    leading = reached(backwards(ways), exits)
    for name in c.graph.nodes:
        if name in asked and name not in leading:
            message = f"no way leads from node {name!r} to the exit {exits[0]!r}"
            remedy = f"Add an edge from it, as `{name} -> {exits[0]}`."
            c.report("exit-reachable", c.graph.nodes[name].span, message, remedy)
