"""The graph of a run: how each step stands, and which ways were taken how often."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from anew.engine.moments import moment_text
from anew.engine.statuses import StepStatus
from anew.program.policy import Retry
from anew.program.program import Program
from anew.views.graph import GraphEdge, graph_of
from anew.views.graph_rows import (
    EdgeShown,
    GraphShown,
    LoopShown,
    NodeShown,
    edge_rows,
    is_drawable,
    node_rows,
)
from anew.views.picture.waits import first_of
from anew.views.picture.ways import WaysTaken
from anew.views.progress import Progress
from anew.views.step_progress import StepProgress
from anew.views.wording import error_text

# What a graph may have of a picture. About 900 steps; a larger one has no layout that helps.
PICTURE_GRAPH_BYTES_MAX = 320 * 1024
# Fewer parts need not be measured.
_SMALL = 200


def graph_of_run(progress: Progress, ways: WaysTaken) -> GraphShown | None:
    """None without a program, and where there is too much to draw."""
    program = progress.program
    if program is None:
        return None
    graph = graph_of(program)
    if not is_drawable(graph):
        return None
    nodes = [_node(program, row, progress.steps.get(row.name)) for row in node_rows(graph.nodes)]
    pairs = zip(edge_rows(graph.edges), graph.edges, strict=True)
    edges = [_edge(row, edge, ways) for row, edge in pairs]
    shown = GraphShown(tuple(nodes), (*edges, *_fallbacks(ways)))
    is_small = len(shown.nodes) + len(shown.edges) <= _SMALL
    return shown if is_small or _bytes(shown) <= PICTURE_GRAPH_BYTES_MAX else None


def _bytes(graph: GraphShown) -> int:
    return len(msgspec.json.encode(graph))


def _edge(row: EdgeShown, edge: GraphEdge, ways: WaysTaken) -> EdgeShown:
    taken = ways.along(edge)
    return replace(row, taken=taken.times, last=taken.last)


def _fallbacks(ways: WaysTaken) -> Iterator[EdgeShown]:
    """A fallback takes the failures of all steps: it has an edge where it took one."""
    for (source, target), taken in ways.fallbacks.items():
        yield EdgeShown(
            source,
            target,
            "fallback",
            is_failure=True,
            line=None,
            taken=taken.times,
            last=taken.last,
        )


def _node(program: Program, row: NodeShown, step: StepProgress | None) -> NodeShown:
    if step is None:
        return row
    first = first_of(list(step.open.values()))
    until = first.until if first else None
    return replace(
        row,
        status=step.shown_status.value,
        doing=None if first is None else first.doing.value,
        until=None if until is None else moment_text(until),
        visits=step.visits,
        attempts=step.attempts,
        retries=step.retries,
        attempt=None if first is None else first.attempt,
        attempts_max=None
        if first is None
        else first.attempts or attempts_allowed(program, step.name, first.task),
        loop=loop_of(step),
        trouble=_trouble(step),
    )


def attempts_allowed(program: Program, step: str, task: str | None) -> int | None:
    """How many executions the rules of a task allow; None where only a run can tell."""
    found = program.task_of(step, task)
    rules = found.policy.rules if found else ()
    said = [rule.then.attempts for rule in rules if isinstance(rule.then, Retry)]
    known = [count for count in said if isinstance(count, int)]
    return max(known) if known and len(known) == len(said) else None


def loop_of(step: StepProgress) -> LoopShown | None:
    """Of the visits that are live, else of the last one."""
    loops = list(step.loops.values()) or ([step.loop] if step.loop else [])
    if not loops:
        return None
    return LoopShown(
        total=sum(loop.total for loop in loops),
        done=sum(loop.done for loop in loops),
        failed=sum(loop.failed for loop in loops),
    )


def _trouble(step: StepProgress) -> str | None:
    """What last went wrong, while that still matters."""
    if step.passed_on is not None:
        return step.passed_on
    if step.is_live:
        return step.trouble or None
    has_failed = step.shown_status is StepStatus.FAILED
    return error_text(step.error) if has_failed and step.error else None
