"""Check that every node can be reached from the start, and leads to the exit.

A retry target, a fallback and the jump of a gate are ways too. Each check is one walk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.graph import Node
from anew.languages.dot.node_type import Role

# Where a node or the graph says which node to try again from.
TARGET_KEYS = ("retry_target", "fallback_retry_target")


def check_reach(c: GraphCompilation) -> None:
    starts = [node.id for node in c.with_role(Role.START)]
    if not starts:
        return  # nothing could be reached, which is said already
    ways = {node.id: ways_from(c, node) for node in c.graph.nodes.values()}
    jumps = [target for key in TARGET_KEYS if (target := c.target(c.graph, key)) is not None]
    ahead = walked(ways, [*starts, *jumps])
    fallback = [c.fallback] if c.fallback is not None else []
    _check_reached(c, walked(ways, [*ahead, *fallback]), starts[0])
    if c.is_docs:
        _check_exit(c, ways, ahead - set(fallback))


def ways_from(c: GraphCompilation, node: Node) -> list[str]:
    """Where a run can go from a node: along its edges, and to its retry targets."""
    targets = (c.target(node, key) for key in TARGET_KEYS)
    return [*c.leads[node.id], *(target for target in targets if target is not None)]


def walked(ways: Mapping[str, Iterable[str]], first: Iterable[str]) -> set[str]:
    """Every node that can be come to from the first ones, which are part of it."""
    seen = set(first)
    todo = list(seen)
    while todo:
        for name in ways[todo.pop()]:
            if name not in seen:
                seen.add(name)
                todo.append(name)
    return seen


def _check_reached(c: GraphCompilation, reached: set[str], start: str) -> None:
    for node in c.graph.nodes.values():
        if node.id not in reached:
            message = f"no way leads from the start {start!r} to node {node.id!r}"
            remedy = "Add an edge that leads to it, or remove it."
            c.report("reachability", node.span, message, remedy)


def _check_exit(c: GraphCompilation, ways: Mapping[str, list[str]], asked: set[str]) -> None:
    exits = [node.id for node in c.with_role(Role.EXIT)]
    if not exits:
        return
    back: dict[str, list[str]] = {name: [] for name in ways}
    for name, targets in ways.items():
        for target in targets:
            back[target].append(name)
    leading = walked(back, exits)
    for name in c.graph.nodes:
        if name in asked and name not in leading:
            message = f"no way leads from node {name!r} to the exit {exits[0]!r}"
            remedy = f"Add an edge from it, as `{name} -> {exits[0]}`."
            c.report("exit-reachable", c.graph.nodes[name].span, message, remedy)
