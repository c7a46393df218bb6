"""Check edges: their conditions, and attributes that mean less than they seem to."""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.conditions import CompiledCondition, Topic
from anew.languages.dot.graph import Attribute, DotDialect, Edge
from anew.languages.dot.node_type import Role
from anew.languages.dot.routes import CompiledEdge
from anew.languages.dot.settings import given

_SYNTAX = {DotDialect.DOCS: "valid-conditions", DotDialect.SPEC: "condition_syntax"}
# What a person's answer is to a condition.
_ANSWER_KEYS = frozenset(
    {"preferred_label", "human.gate.label", "human.gate.selected", "_human_response"}
)
_RULES: Mapping[Topic, str] = {
    Topic.OTHER_DIALECT: "condition-of-other-dialect",
    Topic.WORD: "condition-word",
    Topic.NOT_SCOPE: "condition-not",
}


def check_edges(c: GraphCompilation, routes: Mapping[str, list[CompiledEdge]]) -> None:
    for edge in c.graph.edges:
        _check_unused(c, edge)
        _check_retries(c, edge)
    for leaving in routes.values():
        for route in leaving:
            said = given(route.edge, "condition")
            if route.condition is not None and said is not None:
                _check_condition(c, route.condition, said)
                _check_choice(c, route.edge, route.condition, said)


def _check_condition(c: GraphCompilation, compiled: CompiledCondition, said: Attribute) -> None:
    if not compiled.problems or not c.is_first("condition", said):
        return
    place = c.places(said)
    for problem in compiled.problems:
        rule = _RULES.get(problem.topic, _SYNTAX[c.dialect])
        remedy = compiled.remedy_of(problem) or "See the reference of conditions."
        c.report(rule, place(problem.at), compiled.message_of(problem), remedy)


def _check_choice(
    c: GraphCompilation, edge: Edge, compiled: CompiledCondition, said: Attribute
) -> None:
    """Conditions are asked before labels: the answer is recorded, and another way may be taken."""
    is_offered = c.types[edge.source].name == "wait.human" and given(edge, "label") is not None
    if not is_offered or compiled.tree is None or not _ANSWER_KEYS.isdisjoint(compiled.reads):
        return
    if not c.is_first("choice-condition", said):
        return
    message = f"the condition decides over the edge to {edge.target!r}, whatever is answered"
    remedy = "Remove the condition, or put a diamond behind the choice that asks it."
    c.report("choice-condition", said.span, message, remedy)


def _check_unused(c: GraphCompilation, edge: Edge) -> None:
    said = given(edge, "condition")
    if said is None or c.role(edge.source) is not Role.FORK:
        return
    if c.is_first("condition-unused", said):
        message = f"the split {edge.source!r} takes all of its edges, whatever their conditions"
        remedy = "Put a diamond into the branch, or remove the condition."
        c.report("condition-unused", said.span, message, remedy)


def _check_retries(c: GraphCompilation, edge: Edge) -> None:
    said = given(edge, "max_retries")
    if said is not None and c.is_first("edge-retries", said):
        message = f"a run may take the edge to {edge.target!r} at most {said.raw.strip()} times"
        remedy = f"To retry a node write max_retries on {edge.source!r}."
        c.report("edge-retries", said.span, message, remedy)
