"""Nodes that ask a person: the question, the choices its edges offer, and what silence means."""

from __future__ import annotations

import re
from collections.abc import Mapping

from anew.expressions import Scope, Template
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.graph import Edge, Node
from anew.languages.dot.node_type import Work
from anew.languages.dot.scoped import computed, object_of, text_of, within, writes_all
from anew.languages.dot.settings import given, seconds, text, word
from anew.languages.dot.texts import expanded
from anew.values import Object, Value

TIMEOUT_ACTIONS = ("first", "fail", "skip")
_KEY = re.compile(r"\s*(?:\[(\w+)\]|(\w)\)|(\w)\s+-\s)")


def build_person(c: GraphCompilation, node: Node) -> Work:
    question = expanded(c, node, text(node, "label", "goal", "prompt") or node.id)
    static: Object = {"choices": choices(c, node), **_silence(c, node)}

    def inputs(scope: Scope) -> Value:
        return {"question": question.value(scope), **static}

    source = {"question": question.source, **static}
    work = computed(source, inputs, *question.names)
    return Work("human", work, when_done=writes_all(_KEPT, span=node.span))


def label_of(edge: Edge) -> str:
    """What an edge is called: by its label, else by where it leads."""
    return text(edge, "label").strip() or edge.target


def choices(c: GraphCompilation, node: Node) -> list[str]:
    """What may be answered, in the order of the edges."""
    return list(dict.fromkeys(map(label_of, offered(c, node))))


def offered(c: GraphCompilation, node: Node) -> list[Edge]:
    """The edges a person chooses from, in their order.

    An edge with a condition and no label is there for other ends than an answer.
    """
    return [
        edge
        for edge in c.leaving[node.id]
        if given(edge, "condition") is None or given(edge, "label") is not None
    ]


def key_of(label: str) -> str | None:
    """The key a label offers: `Y` of `[Y] Yes`, `Y) Yes` and `Y - Yes`."""
    found = _KEY.match(label)
    return next(filter(None, found.groups())) if found else None


def without_key(label: str) -> str:
    """The label without its key; one that is nothing else stays as it is."""
    return _KEY.sub("", label, count=1).strip() or label


def default_choice(c: GraphCompilation, node: Node) -> Edge | None:
    """The edge that is taken when nobody answers: by its target, its label, else its key."""
    named = text(node, "human.default_choice").strip()
    edges = c.leaving[node.id]
    by_target = (edge for edge in edges if edge.target == named)
    by_label = (edge for edge in edges if label_of(edge).lower() == named.lower())
    by_key = (edge for edge in offered(c, node) if _has_key(edge, named))
    return next(by_target, None) or next(by_label, None) or next(by_key, None)


def _has_key(edge: Edge, key: str) -> bool:
    found = key_of(label_of(edge))
    return found is not None and found.lower() == key.lower()


def _silence(c: GraphCompilation, node: Node) -> Object:
    timeout = seconds(node, "timeout")
    if timeout is None:
        return {}
    action = word(node, "timeout_action", TIMEOUT_ACTIONS)
    default = default_choice(c, node)
    if default is not None and action in (None, "first"):
        return {"timeout": timeout, "timeout_action": "first", "default": label_of(default)}
    return {"timeout": timeout, "timeout_action": action or ("fail" if c.is_docs else "retry")}


def _of_result(scope: Scope, key: str) -> Value:
    return within(object_of(scope, "outcome"), "result").get(key)


def _selected(scope: Scope) -> Value:
    """The key of the chosen label: its accelerator, else its first letter."""
    label = text_of(_of_result(scope, "label"))
    return key_of(label) or label[:1].upper() or None


_KEPT: Mapping[str, Template] = {
    "_human_response": computed("(answer)", lambda scope: _of_result(scope, "answer"), "outcome"),
    "human.gate.selected": computed("(selected)", _selected, "outcome"),
    "human.gate.label": computed("(label)", lambda scope: _of_result(scope, "label"), "outcome"),
}
