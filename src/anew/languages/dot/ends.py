"""Which node a graph starts at, which ones it may end at, and the type of every node.

In the spec dialect shapes or ids say it. The docs dialect draws both ends alike: the one without
incoming edges is the start, the one without outgoing edges the exit, and ids break ties.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from anew.languages.dot.graph import DotDialect, Graph, Node
from anew.languages.dot.node_type import NodeType, Role
from anew.languages.dot.node_types import (
    AGENT,
    DEFAULT_SHAPE,
    END_SHAPE,
    EXIT,
    START,
    TYPE_KEYS,
    Known,
    shape_map,
    shape_of,
    shaped_type,
    stated_type,
)
from anew.languages.dot.settings import given

# Shapes that stand for no type of their own.
_PLAIN_SHAPES = (DEFAULT_SHAPE, END_SHAPE, "oval", "circle", "doublecircle")
_START_IDS = ("start",)
_DOCS_EXIT_IDS = ("done", "exit", "end")
_SPEC_EXIT_IDS = ("exit", "end")


def types_of(graph: Graph, dialect: DotDialect, known: Known) -> dict[str, NodeType]:
    """The type of each node. What has none, as far as one can tell, counts as an agent's."""
    mapped = shape_map(graph)
    found: dict[str, NodeType | None] = {}
    for node in graph.nodes.values():
        stated = stated_type(node, known)
        found[node.id] = stated or shaped_type(node, known, dialect, mapped=mapped)
    if dialect is DotDialect.DOCS:
        _mark_docs_ends(graph, found)
    else:
        _mark_by_id(graph, found, START, _START_IDS)
        _mark_by_id(graph, found, EXIT, _SPEC_EXIT_IDS)
    return {name: kind or AGENT for name, kind in found.items()}


def _mark_docs_ends(graph: Graph, found: dict[str, NodeType | None]) -> None:
    ends = [
        node.id
        for node in graph.nodes.values()
        if found[node.id] is None and shape_of(node) == END_SHAPE
    ]
    if not ends:
        _mark_by_id(graph, found, START, _START_IDS)
        _mark_by_id(graph, found, EXIT, _DOCS_EXIT_IDS)
        return
    entered = {edge.target for edge in graph.edges if edge.source != edge.target}
    left = {edge.source for edge in graph.edges if edge.source != edge.target}
    if not _has(found, Role.START):
        _mark(found, START, _candidates(ends, entered, _START_IDS))
    if not _has(found, Role.EXIT):
        rest = [name for name in ends if found[name] is None]
        _mark(found, EXIT, _candidates(rest, left, _DOCS_EXIT_IDS))


def _candidates(ends: list[str], busy: Collection[str], ids: Iterable[str]) -> list[str]:
    """The ends without edges of that kind; the first by id where there are several or none."""
    free = [name for name in ends if name not in busy]
    if len(free) == 1:
        return free
    for wanted in ids:
        named = [name for name in free or ends if name.lower() == wanted]
        if named:
            return named[:1]
    return free


def _mark_by_id(
    graph: Graph, found: dict[str, NodeType | None], kind: NodeType, ids: Iterable[str]
) -> None:
    """Where no shape or type says it, the first of these ids does."""
    if _has(found, kind.role):
        return
    plain = {node.id: node for node in graph.nodes.values() if _is_plain(node)}
    for wanted in ids:
        named = [name for name in plain if name.lower() == wanted]
        if named:
            _mark(found, kind, named[:1])
            return


def _is_plain(node: Node) -> bool:
    """Whether a node says nothing about its type, neither by name nor by shape."""
    return given(node, *TYPE_KEYS) is None and shape_of(node) in _PLAIN_SHAPES


def _has(found: dict[str, NodeType | None], role: Role) -> bool:
    return any(kind is not None and kind.role is role for kind in found.values())


def _mark(found: dict[str, NodeType | None], kind: NodeType, names: Iterable[str]) -> None:
    for name in names:
        found[name] = kind
