"""Compile what a run must have achieved before it may end, and how long it may go on."""

from __future__ import annotations

from msgspec.structs import replace

from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.conditions import CompiledCondition, Names, compile_condition
from anew.languages.dot.graph import Attribute, Node
from anew.languages.dot.retries import max_retries
from anew.languages.dot.settings import given, is_goal_gate, whole
from anew.program.policy import Verdict
from anew.program.program import Gate, Limits
from anew.program.span import Span

STEPS_PER_RUN_MIN = 1_000
STEPS_PER_NODE = 10
VISITS_PER_NODE_MAX = 100
SAME_FAILURES_MAX = 3
STEPS_KEYS = ("max_steps",)
VISITS_KEYS = ("max_visits", "max_node_visits")
# Without one of these a text compares nothing, whatever the grammar makes of it.
_SIGNS = ("=", "<", ">", " CONTAINS ", " IN ")
REDIRECTS_KEY = "max_goal_gate_redirects"


def gate_of(c: GraphCompilation, node: Node) -> Gate | None:
    """The gate a node is. In docs it must have succeeded; in spec not have been left undone.

    One with a condition asks for that instead; any other text describes the goal.
    """
    found = given(node, "goal_gate")
    if found is None or not is_goal_gate(node):
        return None
    gate, asked = _plain_gate(c, node, found.span), goal_condition(c, found)
    if asked is None or asked.reach is None:
        return gate
    by_verdict = asked.reach.by_verdict
    can_hold = tuple(verdict for verdict, holds in by_verdict.items() if holds is not False)
    is_decided = None not in by_verdict.values()
    return replace(gate, accepts=can_hold, when=None if is_decided else asked.condition)


def goal_condition(c: GraphCompilation, said: Attribute) -> CompiledCondition | None:
    """What a gate asks for, where its text is a condition that compares something."""
    if not any(sign in said.raw for sign in _SIGNS):
        return None
    asked = compile_condition(said.raw, Names(c.dialect, c.graph.name, c.gates))
    return None if asked.tree is None or asked.condition is None else asked


def _plain_gate(c: GraphCompilation, node: Node, span: Span) -> Gate:
    most = whole(c.graph, REDIRECTS_KEY)
    retries = max_retries(c, node)
    said = c.targeting(node, "retry_target") if c.is_docs else gate_target(c, node)
    to, to_span = (None, None) if said is None else (said.raw.strip(), said.span)
    if c.is_docs:
        return Gate(
            to=to or node.id,
            most=retries if most is None else most,
            shares_budget=most is None,
            to_span=to_span,
            span=span,
        )
    return Gate(
        accepts=(Verdict.SUCCESS, Verdict.PARTIAL),
        is_owed=False,
        to=to,
        most=max(1, retries) if most is None else most,
        shares_budget=most is None,
        to_span=to_span,
        span=span,
    )


def gate_target(c: GraphCompilation, node: Node) -> Attribute | None:
    """What says where an unsatisfied gate of the spec dialect sends the run."""
    keys = ("retry_target", "fallback_retry_target")
    return c.targeting(node, *keys) or c.targeting(c.graph, *keys)


def limits_of(c: GraphCompilation) -> Limits:
    graph = c.graph
    steps = max(STEPS_PER_RUN_MIN, STEPS_PER_NODE * len(graph.nodes))
    restarts = whole(graph, "max_restarts")
    return Limits(
        steps_per_run=whole(graph, *STEPS_KEYS, least=1) or steps,
        visits_per_step=whole(graph, *VISITS_KEYS, least=1) or VISITS_PER_NODE_MAX,
        same_failures=whole(graph, "max_same_failures", least=1) or SAME_FAILURES_MAX,
        restarts=Limits().restarts if restarts is None else restarts,
    )
