"""Check what failures lead to: retries, their targets, goal gates, and failures without a route."""

from __future__ import annotations

from collections.abc import Mapping

from anew.languages.dot.attributes import shown
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.goals import gate_target
from anew.languages.dot.graph import Node
from anew.languages.dot.lint.reach import TARGET_KEYS
from anew.languages.dot.node_type import Role
from anew.languages.dot.retries import (
    JITTER_MAX,
    max_retries,
    on_failure,
    redirected_to,
    rescuing,
)
from anew.languages.dot.routes import CompiledEdge
from anew.languages.dot.settings import Holder, given, is_goal_gate, number
from anew.program.graph_walks import reached

RETRIES_USUAL = 5
JITTER_USUAL = 1.0
_NAMED = 5


def check_failures(c: GraphCompilation, routes: Mapping[str, list[CompiledEdge]]) -> None:
    _check_targets(c, c.graph, "the graph")
    for node in c.graph.nodes.values():
        _check_targets(c, node, f"node {node.id!r}")
        _check_count(c, node)
        _check_jitter(c, node)
        _check_gate(c, node)
        _check_late_edges(c, node, routes[node.id])
    _check_routes(c, routes)


def _check_targets(c: GraphCompilation, holder: Holder, owner: str) -> None:
    for key in (*TARGET_KEYS, "fallback"):
        found = given(holder, key)
        if found is None or found.raw.strip() in c.graph.nodes:
            continue
        if key == "fallback" and holder is not c.graph:
            continue
        rule = "retry-target" if c.is_docs else "retry_target_exists"
        if not c.is_first(rule, found):
            continue
        word = found.raw.strip()
        message = f"{key} of {owner} is {shown(word)}, which is not a node"
        c.report(rule, found.span, message, c.suggestions.remedy(word, c.graph.nodes))


def _check_count(c: GraphCompilation, node: Node) -> None:
    retries = max_retries(c, node)
    found = given(node, "max_retries")
    if found is None or retries <= RETRIES_USUAL:
        return
    if c.is_first("high-retry-count", found):
        message = f"node {node.id!r} is retried up to {retries} times"
        remedy = "A repair edge or a fallback often helps sooner."
        c.report("high-retry-count", found.span, message, remedy)


def _check_jitter(c: GraphCompilation, node: Node) -> None:
    found, fraction = given(node, "retry_jitter"), number(node, "retry_jitter")
    if not c.is_docs or found is None or fraction is None:
        return
    is_high = JITTER_USUAL < fraction <= JITTER_MAX
    if is_high and c.is_first("high-jitter", found):
        message = (
            f"retry_jitter of node {node.id!r} makes delays up to {fraction + 1:g} times as long"
        )
        remedy = "It is a part of the delay: 0.1 adds at most a tenth."
        c.report("high-jitter", found.span, message, remedy)


def _check_gate(c: GraphCompilation, node: Node) -> None:
    if c.is_docs or not is_goal_gate(node) or gate_target(c, node) is not None:
        return
    message = f"the goal gate {node.id!r} has no retry_target: unsatisfied it ends the run"
    remedy = "Add retry_target=… to the node or the graph."
    c.report("goal_gate_has_retry", node.attributes["goal_gate"].span, message, remedy)


def _check_late_edges(c: GraphCompilation, node: Node, routes: list[CompiledEdge]) -> None:
    """Edges for failures that are taken only when the retries by way of a target are spent."""
    target, retries = redirected_to(c, node), max_retries(c, node)
    if target is None or not retries:
        return
    for route in routes:
        said = given(route.edge, "condition")
        if said is None or not _is_for_failures(route) or not c.is_first("fail-edge-late", said):
            continue
        times = "once" if retries == 1 else f"up to {retries} times"
        message = f"a failure of {node.id!r} goes to its retry_target {target!r} first, {times}"
        remedy = (
            "The edge is taken after that. Remove max_retries to take it at once, or write "
            "retry_target_mode=after to retry the node itself first."
        )
        c.report("fail-edge-late", said.span, message, remedy)


def _is_for_failures(route: CompiledEdge) -> bool:
    """Whether an edge is there for failures of every type, and for nothing else."""
    condition = route.condition
    if condition is None or condition.tree is None or "error" in condition.text.lower():
        return False
    return condition.can_hold_on_failure and not condition.can_hold_on_success


# --- failures without a route --------------------------------------------------------------------


def _check_routes(c: GraphCompilation, routes: Mapping[str, list[CompiledEdge]]) -> None:
    """One finding for all of them: that a failure ends the run is often meant."""
    if given(c.graph, "on_failure") is not None or c.fallback is not None:
        return
    inside = _inside_branches(c)
    open_ended = [
        node
        for node in c.graph.nodes.values()
        if node.id not in inside and not _has_route(c, node, routes[node.id])
    ]
    if not open_ended:
        return
    named = ", ".join(repr(node.id) for node in open_ended[:_NAMED])
    more = f" and {len(open_ended) - _NAMED} more" if len(open_ended) > _NAMED else ""
    message = f"a failure of {named}{more} has no route: it ends the run"
    edge = "status == 'FAILURE'" if c.is_docs else "outcome=fail"
    remedy = f'Add an edge with condition="{edge}"; on_failure=exit says that it is meant.'
    c.report("fail-edge-missing", open_ended[0].span, message, remedy)


def _inside_branches(c: GraphCompilation) -> set[str]:
    """Nodes whose failure ends a branch, of which the join takes care."""
    ends = {node.id for node in c.with_role(Role.JOIN)} | set(c.implied_joins.values())
    ways = {name: [to for to in targets if to not in ends] for name, targets in c.leads.items()}
    forks = [fork for fork, join in c.joins.items() if join or fork in c.implied_joins]
    return reached(ways, [target for fork in forks for target in ways[fork]])


def _has_route(c: GraphCompilation, node: Node, routes: list[CompiledEdge]) -> bool:
    if c.role(node.id) not in (Role.WORK, Role.JOIN) or given(node, "on_failure") is not None:
        return True
    if c.types[node.id].name == "wait.human" and given(node, "timeout") is None:
        return True  # it waits for as long as it takes
    if rescuing(c, node) is not None or on_failure(c, node) != "exit":
        return True
    return any(_takes_failures(c, route) for route in routes)


def _takes_failures(c: GraphCompilation, route: CompiledEdge) -> bool:
    if route.condition is None:
        return c.role(route.edge.target) is Role.CHOICE
    return route.condition.can_hold_on_failure
