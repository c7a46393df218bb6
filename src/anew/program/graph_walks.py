"""Walks through a directed graph: what is reached, what leads there, and what can come back.

A graph is a mapping of each node to those it leads to; a node that is no key leads nowhere. Knows
nothing of what the nodes are. Nothing here is recursive: a path may be longer than Python's stack.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeAlias, TypeVar

N = TypeVar("N", bound=Hashable)
Leads: TypeAlias = Mapping[N, Iterable[N]]


def reached(leads: Leads[N], first: Iterable[N]) -> set[N]:
    """Every node that the first ones lead to, and those themselves."""
    seen = set(first)
    todo = list(seen)
    while todo:
        for node in leads.get(todo.pop(), ()):
            if node not in seen:
                seen.add(node)
                todo.append(node)
    return seen


def backwards(leads: Leads[N]) -> dict[N, list[N]]:
    """The nodes that lead to each node."""
    found: dict[N, list[N]] = {node: [] for node in leads}
    for node, targets in leads.items():
        for target in targets:
            found.setdefault(target, []).append(node)
    return found


def cyclic(leads: Leads[N], first: Iterable[N]) -> set[N]:
    """The nodes that the first ones lead to and that can lead back to themselves."""
    return {node for group in components(leads, first) if is_cycle(leads, group) for node in group}


def is_cycle(leads: Leads[N], group: list[N]) -> bool:
    """Whether the nodes of a component can come back to themselves."""
    return len(group) > 1 or group[0] in leads.get(group[0], ())


def components(leads: Leads[N], first: Iterable[N]) -> list[list[N]]:
    """The strongly connected parts of what the first nodes lead to (Tarjan, 1972).

    Each comes before those it leads to, and has first the node that was come to last.
    """
    order: dict[N, int] = {}
    low: dict[N, int] = {}
    stack: list[N] = []
    on_stack: set[N] = set()
    work: list[tuple[N, Iterator[N]]] = []
    found: list[list[N]] = []

    def enter(node: N) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        on_stack.add(node)
        work.append((node, iter(leads.get(node, ()))))

    for root in first:
        if root not in order:
            enter(root)
        while work:
            node, rest = work[-1]
            ahead = next(rest, None)
            if ahead is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    found.append(_popped(stack, on_stack, node))
            elif ahead not in order:
                enter(ahead)
            elif ahead in on_stack:
                low[node] = min(low[node], order[ahead])
    return found[::-1]


def _popped(stack: list[N], on_stack: set[N], node: N) -> list[N]:
    part: list[N] = []
    while not part or part[-1] != node:
        part.append(stack.pop())
        on_stack.discard(part[-1])
    return part
