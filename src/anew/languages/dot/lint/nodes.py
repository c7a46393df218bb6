"""Check nodes: that they have a type, what their type needs, and that they are declared once."""

from __future__ import annotations

import re
from collections.abc import Mapping

from anew.languages.dot.attributes import shown
from anew.languages.dot.children import CHILD_TYPES, child_of, names_child
from anew.languages.dot.commands import command_of
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.graph import Node
from anew.languages.dot.node_type import Role
from anew.languages.dot.node_types import (
    ALIASES,
    END_SHAPE,
    SHAPES,
    TYPE_KEYS,
    Known,
    shape_map,
    shape_of,
    shaped_type,
    stated_type,
)
from anew.languages.dot.people import default_choice
from anew.languages.dot.settings import given
from anew.program.findings import Severity, listed

_ACCELERATOR = re.compile(r"\s*\[\w+\]")


def check_nodes(c: GraphCompilation, known: Known) -> None:
    mapped = shape_map(c.graph)
    declared = {node.id.lower(): node.id for node in c.graph.nodes.values() if node.is_declared}
    for node in c.graph.nodes.values():
        _check_type(c, node, known)
        if stated_type(node, known) is None:
            _check_shape(c, node, known, mapped=mapped)
        if given(node, *TYPE_KEYS) is None or stated_type(node, known) is not None:
            _check_needs(c, node)
        _check_declared(c, node, declared)


# --- types ---------------------------------------------------------------------------------------


def _check_type(c: GraphCompilation, node: Node, known: Known) -> None:
    stated = given(node, *TYPE_KEYS)
    if stated is None or known.named(stated.raw.strip()) is not None:
        return
    if not c.is_first(_handlers(c), stated):
        return
    word = stated.raw.strip()
    remedy = c.suggestions.remedy(word, {*known.types, *ALIASES})
    message = f"node {node.id!r} has the type {shown(word)}, which is not known"
    c.report(_handlers(c), stated.span, message, remedy)


def _handlers(c: GraphCompilation) -> str:
    return "known-handlers" if c.is_docs else "type_known"


def _check_shape(
    c: GraphCompilation, node: Node, known: Known, *, mapped: Mapping[str, str]
) -> None:
    if shaped_type(node, known, c.dialect, mapped=mapped) is not None:
        _check_confusion(c, node, mapped)
        return
    if c.role(node.id) in (Role.START, Role.EXIT):
        return
    shape = given(node, "shape")
    assert shape is not None  # without one it is a box, which is known
    if not c.is_first(_handlers(c), shape):
        return
    message = f"node {node.id!r} has the shape {shown(shape.raw)}, which means no type here"
    ends = [END_SHAPE] if c.is_docs else []
    remedy = listed([*ends, *SHAPES[c.dialect], *known.shapes, *mapped])
    if c.is_docs and shape_of(node) == END_SHAPE:
        message = f"node {node.id!r} is an ellipse, but neither the start nor the exit"
        remedy = "Give it another shape, or cut the edges that lead to it or leave it."
    elif not c.is_docs:
        message = f"{message}: it counts as a box"
    c.report(_handlers(c), shape.span, message, remedy)


def _check_confusion(c: GraphCompilation, node: Node, mapped: Mapping[str, str]) -> None:
    shape = given(node, "shape")
    if shape is None or shape_of(node) in mapped:
        return
    labels = [given(edge, "label") for edge in c.leaving[node.id]]
    said = [label.raw for label in labels if label is not None]
    if not c.is_docs and shape_of(node) == "house" and len(said) > 1 and not child_of(c, node):
        message = f"node {node.id!r} is a house, which manages a child here, but offers choices"
        remedy = 'To ask a person write shape=hexagon, or shape_map="house:wait.human".'
        c.report("shape-confusion", shape.span, message, remedy)
    if not c.is_docs and shape_of(node) == "hexagon" and names_child(node):
        message = f"node {node.id!r} is a hexagon, which asks a person here, but names a child"
        remedy = 'To run the child write shape=house, or shape_map="hexagon:stack.manager_loop".'
        c.report("shape-confusion", shape.span, message, remedy)
    if c.is_docs and shape_of(node) == "hexagon" and any(map(_ACCELERATOR.match, said)):
        message = f"node {node.id!r} is a hexagon, which splits here, but its edges offer choices"
        remedy = 'To ask a person write shape=house, or dialect="spec".'
        c.report("shape-confusion", shape.span, message, remedy)


# --- what types need -----------------------------------------------------------------------------


def _check_needs(c: GraphCompilation, node: Node) -> None:
    kind = c.types[node.id].name
    if kind == "codergen":
        _check_task(c, node)
    elif kind == "tool" and command_of(c, node) is None:
        message = f"the tool node {node.id!r} has no command"
        c.report("command-missing", node.span, message, 'Add tool_command="…".')
    elif kind == "wait.human":
        _check_default(c, node)
    elif kind in CHILD_TYPES and not child_of(c, node):
        message = f"node {node.id!r} runs a child, but no file is named"
        remedy = 'Add stack.child_dotfile="child.dot" to the node or the graph.'
        if not c.is_docs and shape_of(node) == "house":
            remedy = f"{remedy} To ask a person write shape=hexagon: a house runs a child in spec."
        c.report("child-missing", node.span, message, remedy)


def _check_default(c: GraphCompilation, node: Node) -> None:
    said = given(node, "human.default_choice")
    if said is not None and default_choice(c, node) is None:
        message = f"no edge leads from {node.id!r} to its default choice {shown(said.raw)}"
        targets = list(dict.fromkeys(c.leads[node.id]))
        c.report("attribute-value", said.span, message, c.suggestions.remedy(said.raw, targets))


def _check_task(c: GraphCompilation, node: Node) -> None:
    if c.is_docs and given(node, "goal", "prompt", "llm_prompt") is None:
        message = f"the agent {node.id!r} has no goal: it is given its label"
        c.report("missing-goal", node.span, message, 'Add goal="…".')
    elif not c.is_docs and given(node, "prompt", "llm_prompt", "label", "goal") is None:
        message = f"the agent {node.id!r} has neither prompt nor label: it is given its id"
        c.report("prompt_on_llm_nodes", node.span, message, 'Add prompt="…".')


# --- declarations --------------------------------------------------------------------------------


def _check_declared(c: GraphCompilation, node: Node, declared: Mapping[str, str]) -> None:
    if node.again and c.is_docs:
        message = f"node {node.id!r} is declared in line {node.span.line} already"
        for place in node.again:
            c.report("unique-names", place, message, "Give it another id, or merge the two.")
    if node.is_declared:
        return
    other = declared.get(node.id.lower())
    message = f"node {node.id!r} is named by an edge and declared nowhere"
    if other is not None:
        message = f"node {node.id!r} is declared nowhere, but {other!r} is"
        c.report("edge_target_exists", node.span, message, f"Did you mean {other!r}?")
        return
    remedy = f"Add a line `{node.id} [goal=…]`." if c.is_docs else f"Add a line `{node.id} [...]`."
    near = c.suggestions.near(node.id, declared.values())
    c.report(
        "orphan-edges" if c.is_docs else "undeclared-node",
        node.span,
        message,
        f"Did you mean {near!r}?" if near else remedy,
        severity=Severity.WARNING if near else None,
    )
