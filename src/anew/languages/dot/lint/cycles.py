"""Check that something the author wrote ends every cycle.

Every run has default limits; a cycle that only they end goes on for longer than anyone means.
"""

from __future__ import annotations

from collections.abc import Sequence

from anew.languages.dot.compilation import GraphCompilation
from anew.languages.dot.goals import REDIRECTS_KEY, STEPS_KEYS, VISITS_KEYS, VISITS_PER_NODE_MAX
from anew.languages.dot.graph import Edge, Node
from anew.languages.dot.lint.reach import ways_from
from anew.languages.dot.settings import flag, given, is_goal_gate
from anew.program.graph_walks import components, is_cycle

_NAMED = 5
_COUNTERS = ("_retry_count", "retry_count", "internal.retry_count")


def check_cycles(c: GraphCompilation) -> None:
    if given(c.graph, *STEPS_KEYS, *VISITS_KEYS, REDIRECTS_KEY) is not None:
        return
    ways = {node.id: ways_from(c, node) for node in c.graph.nodes.values()}
    for group in reversed(components(ways, ways)):
        if is_cycle(ways, group) and not _is_bounded(c, set(group)):
            _report(c, group[::-1])


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
