"""Check that something the author wrote ends every cycle.

Every run has default limits; a cycle that only they end goes on for longer than anyone means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.goals import REDIRECTS_KEY, STEPS_KEYS, VISITS_KEYS, VISITS_PER_NODE_MAX
from anew.languages.dot.graph import Edge, Node
from anew.languages.dot.lint.reach import ways_from
from anew.languages.dot.settings import flag, given, is_goal_gate

_NAMED = 5
_COUNTERS = ("_retry_count", "retry_count", "internal.retry_count")


def check_cycles(c: GraphCompilation) -> None:
    if given(c.graph, *STEPS_KEYS, *VISITS_KEYS, REDIRECTS_KEY) is not None:
        return
    ways = {node.id: ways_from(c, node) for node in c.graph.nodes.values()}
    for group in cycles(ways):
        if not _is_bounded(c, set(group)):
            _report(c, group)


def _report(c: GraphCompilation, group: Sequence[str]) -> None:
    named = " -> ".join(group[:_NAMED]) + (" -> …" if len(group) > _NAMED else "")
    message = f"only the limit of {VISITS_PER_NODE_MAX} visits ends the cycle of {named}"
    remedy = "Add max_visits to the graph, or max_retries to a node or an edge of it."
    c.report("unbounded-cycle", c.graph.nodes[group[0]].span, message, remedy)


def _is_bounded(c: GraphCompilation, members: set[str]) -> bool:
    return any(
        _bounds(c, c.graph.nodes[name])
        or any(_counts(edge) for edge in c.leaving[name] if edge.target in members)
        for name in members
    )


def _bounds(c: GraphCompilation, node: Node) -> bool:
    """A retry limit, a gate or a person in the cycle ends it."""
    is_limited = given(node, "max_retries") is not None or is_goal_gate(node)
    return is_limited or c.types[node.id].name == "wait.human"


def _counts(edge: Edge) -> bool:
    """Whether the edge itself says how often it is taken, or leaves the run."""
    if given(edge, "max_retries") is not None or flag(edge, "loop_restart") is True:
        return True
    return any(counter in edge.text("condition") for counter in _COUNTERS)


def cycles(ways: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """The groups of nodes that can all come back to each other, in linear time (Tarjan, 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    for root in ways:
        if root in index:
            continue
        # A stack of our own: a path may be longer than Python's.
        work: list[tuple[str, Iterator[str]]] = []
        _open(root, ways, index=index, low=low, stack=stack, on_stack=on_stack, work=work)
        while work:
            name, ahead = work[-1]
            target = next(ahead, None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    group = _closed(name, stack, on_stack)
                    if len(group) > 1 or name in ways[name]:
                        yield group
            elif target not in index:
                _open(target, ways, index=index, low=low, stack=stack, on_stack=on_stack, work=work)
            elif target in on_stack:
                low[name] = min(low[name], index[target])


def _open(
    name: str,
    ways: Mapping[str, Sequence[str]],
    *,
    index: dict[str, int],
    low: dict[str, int],
    stack: list[str],
    on_stack: set[str],
    work: list[tuple[str, Iterator[str]]],
) -> None:
    index[name] = low[name] = len(index)
    stack.append(name)
    on_stack.add(name)
    work.append((name, iter(ways[name])))


def _closed(name: str, stack: list[str], on_stack: set[str]) -> list[str]:
    """The finished group, in the order its nodes were come to."""
    group = [stack.pop()]
    while group[-1] != name:
        group.append(stack.pop())
    on_stack.difference_update(group)
    return group[::-1]
