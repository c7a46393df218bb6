"""Check the choices a person is offered: that each can be told from the others.

An answer is the key of a choice, its label, or the beginning of it; case does not count.
"""

from __future__ import annotations

from anew.languages.dot.attributes import shown
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.graph import Edge, Node
from anew.languages.dot.people import key_of, label_of, offered, without_key
from anew.languages.dot.settings import given
from anew.program.span import Span


def check_choices(c: GraphCompilation) -> None:
    for node in c.graph.nodes.values():
        if c.types[node.id].name == "wait.human":
            _check_twice(c, node)
            _check_alike(c, node)


def _check_twice(c: GraphCompilation, node: Node) -> None:
    """The first edge with a label takes all its answers, unless conditions decide."""
    first: dict[str, Edge] = {}
    for edge in offered(c, node):
        if given(edge, "condition") is not None:
            continue
        label = label_of(edge)
        other = first.setdefault(label, edge)
        if other.target != edge.target:
            message = f"the edges to {other.target!r} and {edge.target!r} offer the same choice"
            remedy = "Give one of them another label: this way only one of them is ever chosen."
            c.report("choice-twice", _place(edge), f"{message} {shown(label)}", remedy)


def _check_alike(c: GraphCompilation, node: Node) -> None:
    """Of different labels, those that one answer fits equally well."""
    by_text: dict[str, str] = {}
    by_key: dict[str, str] = {}
    edges: dict[str, Edge] = {}
    for edge in offered(c, node):
        edges.setdefault(label_of(edge), edge)
    for label, edge in edges.items():
        plain, key = without_key(label), key_of(label)
        other = by_text.setdefault(plain.casefold(), label)
        if other != label:
            message = f"the choices {shown(other)} and {shown(label)} say the same"
            remedy = "Give one of them other words: only its exact label distinguishes them."
            c.report("choice-clash", _place(edge), f"{message} but for case and key", remedy)
            continue
        if key is None:
            continue
        other = by_key.setdefault(key.casefold(), label)
        if other != label:
            message = f"the choices {shown(other)} and {shown(label)} have the same key {key!r}"
            remedy = "Give one of them another key: as it is, neither can be chosen by it."
            c.report("choice-clash", _place(edge), message, remedy)


def _place(edge: Edge) -> Span:
    said = given(edge, "label")
    return edge.target_span if said is None else said.span
