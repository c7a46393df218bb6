"""Compile the edges out of a node to the arcs of its step, in the order a router asks them."""

from __future__ import annotations

from msgspec import Struct

from anew.expressions import constant
from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.conditions import CompiledCondition, Names, compile_condition
from anew.languages.dot.graph import Attribute, Edge, Node
from anew.languages.dot.node_type import Role
from anew.languages.dot.people import label_of
from anew.languages.dot.retries import on_failure
from anew.languages.dot.settings import flag, given, text, whole
from anew.program.program import Arc, RouteMode, Router

PARALLEL_DEFAULT = 4


class CompiledEdge(Struct, frozen=True):
    """An edge with its condition, compiled; None for an edge without one."""

    edge: Edge
    number: int
    condition: CompiledCondition | None

    @property
    def weight(self) -> int:
        return weight_of(self.edge)


def weight_of(edge: Edge) -> int:
    return whole(edge, "weight", least=-(1 << 53)) or 0


def routes_of(c: GraphCompilation, node: Node) -> list[CompiledEdge]:
    """The edges in file order. The conditions of a fork are not asked."""
    is_fork = c.role(node.id) is Role.FORK
    names = Names(c.dialect, c.graph.name, c.gates)
    found: list[CompiledEdge] = []
    for number, edge in enumerate(c.leaving[node.id]):
        said = None if is_fork else given(edge, "condition")
        compiled = None
        if said is not None:
            compiled = _compiled(c, said, names)
        found.append(CompiledEdge(edge, number, compiled))
    return found


def _compiled(c: GraphCompilation, said: Attribute, names: Names) -> CompiledCondition:
    """Compiled once, however many edges inherit it."""
    found = c.conditions.get((said.raw, said.span))
    if found is None:
        found = compile_condition(said.raw, names)
        c.conditions[said.raw, said.span] = found
    return found


def router_of(c: GraphCompilation, node: Node, routes: list[CompiledEdge]) -> Router:
    """`routes` are those of this node; what is wrong with their conditions has been reported."""
    ranks = _ranks(c, routes)
    arcs = tuple(_arc(c, node, route, ranks[route.number]) for route in routes)
    if c.role(node.id) is Role.FORK:
        return _fork(c, node, arcs)
    return Router(
        RouteMode.PREFERRED,
        arcs,
        must_choose=_must_choose(c, node, arcs),
        gives_up=not c.is_docs,
        span=node.span,
    )


def _fork(c: GraphCompilation, node: Node, arcs: tuple[Arc, ...]) -> Router:
    width = whole(node, "max_parallel", least=1)
    if width is None and not c.is_docs:
        width = PARALLEL_DEFAULT
    join = c.joins[node.id] or c.synthetic_joins.get(node.id)
    return Router(RouteMode.FORK, arcs, join=join, width=width, span=node.span)


def _must_choose(c: GraphCompilation, node: Node, arcs: tuple[Arc, ...]) -> bool:
    """Whether to find no edge is a failure. It is not at an end of the graph.

    A node without edges ends a graph of the spec dialect well; in docs only exits do.
    """
    if c.role(node.id) is Role.EXIT:
        return False
    if node.id == c.fallback and not arcs:
        return False  # it ends the run with the failure that led to it
    return c.is_docs or bool(arcs)


def _ranks(c: GraphCompilation, routes: list[CompiledEdge]) -> dict[int, int]:
    """Conditions first. In docs the most specific leads, then weight, then the file's order."""

    def order(route: CompiledEdge) -> tuple[object, ...]:
        if route.condition is None:
            return (1, -route.weight, route.edge.target, route.number)
        if c.is_docs:
            operators, segments = route.condition.specificity
            return (0, -operators, -segments, -route.weight, route.number)
        return (0, -route.weight, route.edge.target, route.number)

    ordered = sorted(routes, key=order)
    return {route.number: rank for rank, route in enumerate(ordered)}


def _arc(c: GraphCompilation, node: Node, route: CompiledEdge, rank: int) -> Arc:
    edge = route.edge
    told = {key: text(edge, key) for key in ("fidelity", "thread_id") if given(edge, key)}
    return Arc(
        to=_leads_to(c, edge),
        when=None if route.condition is None else route.condition.condition,
        args=constant(told) if told else None,
        label=label_of(edge),
        weight=route.weight,
        rank=rank,
        answers_failure=_answers_failure(c, node, edge),
        most=whole(edge, "max_retries"),
        span=edge.span,
    )


def _leads_to(c: GraphCompilation, edge: Edge) -> str:
    if restarts(edge):
        return c.restart_steps[edge.target]
    return c.arrivals.get((edge.source, edge.target), edge.target)


def restarts(edge: Edge) -> bool:
    """Whether the edge ends this run and begins a new one at its target."""
    return flag(edge, "loop_restart") is True


def _answers_failure(c: GraphCompilation, node: Node, edge: Edge) -> bool:
    """A plain edge takes a failure only where a diamond decides what that means."""
    is_choice = Role.CHOICE in (c.role(edge.target), c.role(node.id))
    return is_choice or on_failure(c, node) == "route"
