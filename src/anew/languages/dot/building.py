"""Put nodes, edges and attributes together to a graph, with defaults and within named limits.

Is told what a document says, statement by statement, and knows nothing of how it is written.
"""

from __future__ import annotations

import re

from msgspec import Struct, field
from msgspec.structs import replace

from anew.languages.dot.cursor import Cursor, value_text
from anew.languages.dot.graph import Attribute, Edge, Graph, Node
from anew.languages.dot.scopes import Block
from anew.languages.dot.tokens import DotToken

NODES_MAX = 100_000
EDGES_MAX = 100_000
# Defaults give attributes to every node after them: without this bound a short text fills memory.
ATTRIBUTES_MAX = 1_000_000
SUBGRAPH_DEPTH_MAX = 50
CLASSES_PER_NODE_MAX = 50

_SPLIT = "Split the graph into sub-pipelines."
_WORDS = re.compile(r"[\s,]+")

Attributes = dict[str, Attribute]


class Chain(Struct):
    """`a -> b -> c [..]`: the hops before the last, and what was stated behind it.

    Whether these hops have the attributes too depends on the dialect, which is known later.
    """

    hops: list[Edge]
    stated: Attributes


class Builder(Struct):
    cursor: Cursor
    graph: Graph
    chains: list[Chain] = field(default_factory=list)
    attributes: int = 0
    described: set[str] = field(default_factory=set)
    declared_in: dict[str, list[Block]] = field(default_factory=dict)
    mentioned_in: dict[str, Block] = field(default_factory=dict)

    def mention(self, token: DotToken, scope: Block) -> Node:
        """The node an edge names; made with the current defaults when it is new."""
        name = value_text(token)
        node = self.graph.nodes.get(name)
        if node is None:
            self._count_node(token)
            self.charge(len(scope.nodes), token)
            node = Node(name, self.cursor.span(token), dict(scope.nodes), is_declared=False)
            self.graph.nodes[name] = node
            self.mentioned_in[name] = scope
        return node

    def declare(self, token: DotToken, scope: Block, *, stated: Attributes | None) -> None:
        """A node statement. `stated` is None when it has no attribute list."""
        node = self.mention(token, scope)
        place = self.cursor.span(token)
        if not node.is_declared:
            node.is_declared, node.span = True, place
            # An edge may name a node before its block gives it defaults.
            own = {key: one for key, one in node.attributes.items() if not one.is_default}
            node.attributes = {**scope.nodes, **own}
            self.charge(len(scope.nodes), token)
        scopes = self.declared_in.setdefault(node.id, [])
        if not scopes or scopes[-1] is not scope:
            scopes.append(scope)
        if stated is None:
            return
        if node.id in self.described:
            node.again.append(place)
        self.described.add(node.id)
        self.charge(len(stated), token)
        node.attributes.update(stated)

    def connect(self, ids: list[DotToken], scope: Block, *, stated: Attributes) -> None:
        """An edge statement of one hop or more."""
        for token in ids:
            self.mention(token, scope)
        last = len(ids) - 2
        hops = [self._hop(ids[n], ids[n + 1], scope) for n in range(last + 1)]
        hops[last].attributes.update(stated)
        self.charge(len(stated) * len(hops), ids[0])
        if last and stated:
            self.chains.append(Chain(hops[:last], stated))

    def set_node_defaults(self, scope: Block, stated: Attributes, *, at: DotToken) -> None:
        self.charge(len(scope.nodes) + len(stated), at)
        scope.nodes = {**scope.nodes, **_as_defaults(stated)}

    def set_edge_defaults(self, scope: Block, stated: Attributes, *, at: DotToken) -> None:
        self.charge(len(scope.edges) + len(stated), at)
        scope.edges = {**scope.edges, **_as_defaults(stated)}

    def set_graph(self, scope: Block, stated: Attributes) -> None:
        """`key = value` or `graph [..]`; inside a subgraph they are the subgraph's."""
        if scope.parent is None:
            self.graph.attributes.update(stated)
        elif (label := stated.get("label")) is not None:
            scope.label = label.raw

    def finish(self) -> None:
        """Give the nodes their classes; only now are all labels known."""
        split: dict[str, tuple[str, ...]] = {}
        for node in self.graph.nodes.values():
            scopes = self.declared_in.get(node.id) or [self.mentioned_in[node.id]]
            node.groups = _joined([scope.groups() for scope in scopes])
            written = node.text("class")
            if written not in split:
                split[written] = self._class_words(node, written)
            node.classes = _joined([split[written], node.groups])

    def charge(self, attributes: int, at: DotToken) -> None:
        self.attributes += attributes
        if self.attributes > ATTRIBUTES_MAX:
            message = f"nodes and edges have more than {ATTRIBUTES_MAX:,} attributes in all"
            self.cursor.refuse("dot.size", at, message, _SPLIT)

    def _count_node(self, token: DotToken) -> None:
        if len(self.graph.nodes) >= NODES_MAX:
            message = f"the graph has more than {NODES_MAX:,} nodes"
            self.cursor.refuse("dot.size", token, message, _SPLIT)

    def _hop(self, source: DotToken, target: DotToken, scope: Block) -> Edge:
        if len(self.graph.edges) >= EDGES_MAX:
            message = f"the graph has more than {EDGES_MAX:,} edges"
            self.cursor.refuse("dot.size", source, message, _SPLIT)
        self.charge(len(scope.edges), source)
        places = self.cursor.span(source), self.cursor.span(target)
        edge = Edge(value_text(source), value_text(target), *places, dict(scope.edges))
        self.graph.edges.append(edge)
        return edge

    def _class_words(self, node: Node, written: str) -> tuple[str, ...]:
        words = tuple(dict.fromkeys(word for word in _WORDS.split(written) if word))
        if len(words) <= CLASSES_PER_NODE_MAX:
            return words
        offset = self.cursor.source.offset(node.attributes["class"].span)
        message = f"the node {node.id!r} has more than {CLASSES_PER_NODE_MAX} classes"
        at = DotToken("value", "", offset, offset)
        self.cursor.report("dot.size", at, message, "Give it fewer classes.")
        return words[:CLASSES_PER_NODE_MAX]


def _as_defaults(stated: Attributes) -> Attributes:
    return {key: replace(one, is_default=True) for key, one in stated.items()}


def _joined(parts: list[tuple[str, ...]]) -> tuple[str, ...]:
    full = [part for part in parts if part]
    if len(full) < 2:
        return full[0] if full else ()
    return tuple(dict.fromkeys(word for part in full for word in part))
