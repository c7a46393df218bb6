"""Check forks: that their branches meet, and that a join knows how many it waits for."""

from __future__ import annotations

from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.gathering import lacks_k
from anew.languages.dot.node_types import SHAPES
from anew.languages.dot.settings import whole


def check_branches(c: GraphCompilation) -> None:
    for node in c.graph.nodes.values():
        if lacks_k(node):
            place = node.attributes["join_policy"].span
            message = f"node {node.id!r} waits for k branches and does not say how many"
            c.report("k-missing", place, message, "Add k=2, or another number.")
    for fork, join in c.joins.items():
        if join is None:
            _check_unmatched(c, fork)
        else:
            _check_enough(c, fork, join)


def _check_enough(c: GraphCompilation, fork: str, join: str) -> None:
    """That a join does not wait for more branches than there are."""
    branches = len(c.leads[fork])
    for node in (c.graph.nodes[join], c.graph.nodes[fork]):
        k = whole(node, "k", least=1)
        if k is not None and k > branches:
            place = node.attributes["k"].span
            message = f"node {node.id!r} waits for {k} branches, but {fork!r} has {branches}"
            c.report("attribute-value", place, message, f"Write k={branches}, or less.")


def _check_unmatched(c: GraphCompilation, fork: str) -> None:
    place = c.graph.nodes[fork].span
    shapes = SHAPES[c.dialect].items()
    shape = next(shape for shape, name in shapes if name == "parallel.fan_in")
    remedy = f"Add a fan-in node (shape={shape}) that every branch leads to."
    implied = c.implied_joins.get(fork)
    if implied is not None:
        message = f"the branches of {fork!r} have no fan-in; they meet before node {implied!r}"
        c.report("fan-in-implied", place, message, remedy)
    else:
        message = f"no fan-in can be reached from every branch of {fork!r}"
        c.report("fan-in-missing", place, message, remedy)
