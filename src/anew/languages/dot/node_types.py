"""The types a node can have, in one table, and which of them each node is.

A `type` decides, then the graph's `shape_map`, then the shape in the words of the dialect. What
stands at the ends of the graph is decided last, because it depends on the edges.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from anew.languages.dot.agents import build_agent
from anew.languages.dot.children import build_child
from anew.languages.dot.commands import build_command
from anew.languages.dot.graph import DotDialect, Graph, Node
from anew.languages.dot.node_type import NodeType, Role
from anew.languages.dot.people import build_person
from anew.languages.dot.relays import build_choice, build_join, build_pass
from anew.languages.dot.settings import text

START = NodeType("start", build_pass, Role.START)
EXIT = NodeType("exit", build_pass, Role.EXIT)
AGENT = NodeType("codergen", build_agent)
CHILD = NodeType("sub_pipeline", build_child)
_TABLE = (
    START,
    EXIT,
    AGENT,
    CHILD,
    NodeType("conditional", build_choice, Role.CHOICE),
    NodeType("parallel", build_pass, Role.FORK),
    NodeType("parallel.fan_in", build_join, Role.JOIN),
    NodeType("wait.human", build_person),
    NodeType("tool", build_command),
    NodeType("stack.manager_loop", build_child),
)
TYPES: Mapping[str, NodeType] = {one.name: one for one in _TABLE}
# What other engines' files call them.
ALIASES: Mapping[str, str] = {
    "agent": "codergen",
    "llm": "codergen",
    "fan_in": "parallel.fan_in",
    "human": "wait.human",
    "manager": "stack.manager_loop",
    "folder": "sub_pipeline",
}
TYPE_KEYS = ("type", "node_type", "handler")

SHAPES: Mapping[DotDialect, Mapping[str, str]] = {
    DotDialect.DOCS: {
        "box": "codergen",
        "diamond": "conditional",
        "hexagon": "parallel",
        "invhouse": "parallel.fan_in",
        "house": "wait.human",
        "component": "tool",
        "tab": "stack.manager_loop",
        "folder": "sub_pipeline",
    },
    DotDialect.SPEC: {
        "Mdiamond": "start",
        "Msquare": "exit",
        "box": "codergen",
        "diamond": "conditional",
        "component": "parallel",
        "tripleoctagon": "parallel.fan_in",
        "hexagon": "wait.human",
        "parallelogram": "tool",
        "house": "stack.manager_loop",
        "folder": "sub_pipeline",
    },
}
# The shape of a docs graph's ends; which end it is, its edges tell.
END_SHAPE = "ellipse"
DEFAULT_SHAPE = "box"


class Known(Struct, frozen=True):
    """Types by name and by shape, those of extensions included."""

    types: Mapping[str, NodeType] = field(default_factory=lambda: TYPES)
    shapes: Mapping[str, str] = field(default_factory=dict)

    def named(self, word: str) -> NodeType | None:
        return self.types.get(word) or self.types.get(ALIASES.get(word, ""))


def shape_of(node: Node) -> str:
    return text(node, "shape").strip() or DEFAULT_SHAPE


def stated_type(node: Node, known: Known) -> NodeType | None:
    """The type a node names itself, if there is such a type."""
    return known.named(text(node, *TYPE_KEYS).strip())


def shape_map(graph: Graph) -> Mapping[str, str]:
    """`house:wait.human,hexagon:stack.manager_loop` as a table."""
    pairs = (pair.partition(":") for pair in text(graph, "shape_map").split(","))
    return {shape.strip(): name.strip() for shape, _, name in pairs if shape.strip()}


def shaped_type(
    node: Node, known: Known, dialect: DotDialect, *, mapped: Mapping[str, str]
) -> NodeType | None:
    """The type a shape stands for; None for a shape that stands for none."""
    shape = shape_of(node)
    for table in (mapped, known.shapes, SHAPES[dialect]):
        found = known.named(table.get(shape, ""))
        if found is not None:
            return found
    return None
