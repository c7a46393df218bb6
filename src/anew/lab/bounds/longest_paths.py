"""The longest way through a graph whose edges cost something, for many sorts of cost at once.

A cycle that costs something has no longest way; what ends it is asked of the caller. Knows graphs
and amounts, and nothing of programs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from msgspec import Struct, field

from anew.lab.bounds.amounts import ZERO, Bound, larger
from anew.lab.cancellation import CancelCheck, never_cancelled, until_cancelled
from anew.program.graph_walks import components, is_cycle

N = TypeVar("N", bound=Hashable)


class CostEdge(Struct, Generic[N], frozen=True):
    """A way from node to node; `cost` has an amount by sort, those that are missing are nothing.

    `mark` is the caller's.
    """

    source: N
    target: N
    cost: Mapping[str, Bound]
    mark: object = None


# What a cycle of these nodes amounts to in a sort that it costs something in.
CycleCost = Callable[[frozenset[N], str], Bound]


class Ways(Struct, Generic[N]):
    """The most that each node can have cost when it is reached, and by which edge it did.

    `round` has the edges of the cycle that a node is part of.
    """

    most: dict[N, dict[str, Bound]]
    came: dict[tuple[N, str], CostEdge[N]] = field(default_factory=dict)
    round: dict[N, Sequence[CostEdge[N]]] = field(default_factory=dict)

    def path(self, node: N, sort: str) -> list[CostEdge[N]]:
        """The edges of the costliest way to a node, as far as it is one way: not into a cycle."""
        found: list[CostEdge[N]] = []
        seen = {node}
        while (edge := self.came.get((node, sort))) is not None and edge.source not in seen:
            found.append(edge)
            node = edge.source
            seen.add(node)
        return found[::-1]

    def way_round(self, node: N, sort: str) -> list[CostEdge[N]]:
        """The edges of a way from a node back to it, by the costliest of its cycle."""
        inside = self.round.get(node, ())
        costliest = max(inside, key=lambda edge: edge.cost.get(sort, ZERO).at_most, default=None)
        if costliest is None or not costliest.cost.get(sort, ZERO).at_most:
            return []
        there, back = (node, costliest.source), (costliest.target, node)
        return [*_shortest(inside, *there), costliest, *_shortest(inside, *back)]


def _leaving(edges: Sequence[CostEdge[N]]) -> dict[N, list[CostEdge[N]]]:
    found: dict[N, list[CostEdge[N]]] = {}
    for edge in edges:
        found.setdefault(edge.source, []).append(edge)
    return found


def _shortest(edges: Sequence[CostEdge[N]], start: N, end: N) -> list[CostEdge[N]]:
    """The fewest edges from node to node; there is a way."""
    came: dict[N, CostEdge[N]] = {}
    leaving, reached = _leaving(edges), [start]
    for node in reached:
        for edge in leaving.get(node, ()):
            if edge.target not in came and edge.target != start:
                came[edge.target] = edge
                reached.append(edge.target)
    found: list[CostEdge[N]] = []
    while end != start:
        found.append(came[end])
        end = came[end].source
    return found[::-1]


def longest(
    start: N,
    edges: Sequence[CostEdge[N]],
    endless: CycleCost[N],
    cancel_check: CancelCheck = never_cancelled,
) -> Ways[N]:
    """The costliest ways from `start` to every node it leads to."""
    leaving = _leaving(edges)
    ways: Ways[N] = Ways({start: {}})
    leads = {node: [edge.target for edge in ahead] for node, ahead in leaving.items()}
    for members in components(leads, [start]):
        group = frozenset(members)
        if is_cycle(leads, members):
            _settle_cycle(ways, group, leaving, endless)
        for node in until_cancelled(members, cancel_check):
            _extend(ways, node, (e for e in leaving.get(node, ()) if e.target not in group))
    return ways


def _settle_cycle(
    ways: Ways[N],
    group: frozenset[N],
    leaving: Mapping[N, list[CostEdge[N]]],
    endless: CycleCost[N],
) -> None:
    """Every node of a cycle can have cost what any of them has, and what going round costs."""
    inside = [edge for node in group for edge in leaving.get(node, ()) if edge.target in group]
    reached: dict[str, Bound] = {}
    for node in group:
        for sort, bound in ways.most.get(node, {}).items():
            reached[sort] = larger(reached.get(sort, ZERO), bound)
    costly = {sort for edge in inside for sort, bound in edge.cost.items() if bound.at_most}
    for sort in costly:
        reached[sort] = reached.get(sort, ZERO) + endless(group, sort)
    _keep_ways_in(ways, group, inside)
    for node in group:
        ways.most[node] = dict(reached)
        ways.round[node] = inside


def _keep_ways_in(ways: Ways[N], group: frozenset[N], inside: Sequence[CostEdge[N]]) -> None:
    """A path into a cycle goes on, from where it was entered, to all of its nodes."""
    leads = _leaving(inside)
    todo = [node for node in group if node in ways.most]
    seen = set(todo)
    while todo:
        for edge in leads.get(todo.pop(), ()):
            if edge.target not in seen:
                seen.add(edge.target)
                todo.append(edge.target)
                for sort in edge.cost:
                    ways.came.setdefault((edge.target, sort), edge)


def _extend(ways: Ways[N], node: N, edges: Iterable[CostEdge[N]]) -> None:
    before = ways.most.get(node, {})
    for edge in edges:
        known = ways.most.setdefault(edge.target, {})
        for sort in before.keys() | edge.cost.keys():
            bound = before.get(sort, ZERO) + edge.cost.get(sort, ZERO)
            best = known.get(sort)
            # Of ways that cost the same, the one that goes further says more.
            if best is None or bound.at_most >= best.at_most:
                ways.came[edge.target, sort] = edge
            known[sort] = bound if best is None else larger(best, bound)
