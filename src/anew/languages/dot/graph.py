"""A DOT graph as it was written: nodes, edges and attributes, each with its place.

Defaults are applied, subgraphs are flattened, chains of edges are cut into hops. What the parts
mean is the business of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from anew.program.span import Span


class DotDialect(StrEnum):
    """Whose words a graph uses (graphs.md#detection)."""

    DOCS = "docs"
    SPEC = "spec"


Scalar = str | int | float | bool


class Attribute(Struct, frozen=True):
    """`value` is typed, also when it was quoted; `raw` is the text as it was written, unescaped.

    A duration (`900s`, `15m`) keeps its text as value. `is_default`: it comes from `node [..]`,
    `edge [..]` or the stylesheet, not from the statement itself.
    """

    key: str
    value: Scalar
    raw: str
    span: Span  # of the value
    key_span: Span
    is_default: bool = False


class Node(Struct):
    """`classes` come from `class` and from the labels of the subgraphs it stands in.

    `groups` are those of the subgraphs alone, the innermost first. A node that no statement
    declares exists because an edge names it (`is_declared` False). `again` has the places of
    further statements that give it attributes.
    """

    id: str
    span: Span
    attributes: dict[str, Attribute] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    is_declared: bool = True
    again: list[Span] = field(default_factory=list)
    groups: tuple[str, ...] = ()

    def text(self, key: str, default: str = "") -> str:
        """The attribute as it was written, or the default."""
        found = self.attributes.get(key)
        return default if found is None else found.raw


class Edge(Struct):
    """One hop. `span` is the place of its arrow's source; `target_span` that of its target."""

    source: str
    target: str
    span: Span
    target_span: Span
    attributes: dict[str, Attribute] = field(default_factory=dict)

    def text(self, key: str, default: str = "") -> str:
        found = self.attributes.get(key)
        return default if found is None else found.raw


class Graph(Struct):
    """`nodes` and `edges` are in the order of their first mention."""

    name: str
    span: Span
    attributes: dict[str, Attribute] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)

    def text(self, key: str, default: str = "") -> str:
        found = self.attributes.get(key)
        return default if found is None else found.raw

    def leaving(self) -> Mapping[str, list[Edge]]:
        """The edges out of each node, in the order they were written."""
        found: dict[str, list[Edge]] = {name: [] for name in self.nodes}
        for edge in self.edges:
            found[edge.source].append(edge)
        return found
