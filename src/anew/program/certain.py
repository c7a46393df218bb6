"""Which tasks every run executes, as long as nothing fails: what they lack is lacking for sure.

Only ways without a condition count, so that a task may be missing here and never one too many.
Knows no values and no state of a run.
"""

from __future__ import annotations

from collections.abc import Iterator

from anew.program.graph_walks import reached
from anew.program.policy import Break, Jump
from anew.program.program import Arc, Program, RouteMode, Step, Task


def certain_tasks(program: Program) -> list[Task]:
    """In the order of the document."""
    steps = program.steps
    if program.entry not in steps or _is_admitted(steps[program.entry]):
        return []
    leads = {
        name: [arc.to for arc in _certain_arcs(step) if not _is_admitted(steps.get(arc.to))]
        for name, step in steps.items()
    }
    passed = reached(leads, [program.entry])
    return [task for name, step in steps.items() if name in passed for task in _tasks_of(step)]


def _is_admitted(step: Step | None) -> bool:
    """Whether something is asked before the step is visited."""
    return step is None or bool(step.admit)


def _certain_arcs(step: Step) -> Iterator[Arc]:
    """Those that a visit takes that ends well, whatever came of it."""
    arcs = [arc for arc in step.router.arcs if not arc.answers_failure]
    match step.router.mode:
        case RouteMode.INCLUSIVE | RouteMode.FORK:
            yield from (arc for arc in arcs if arc.when is None)
        case RouteMode.EXCLUSIVE:
            yield from (arc for arc in arcs[:1] if arc.when is None)
        case RouteMode.PREFERRED:
            yield from (arc for arc in arcs if len(arcs) == 1 and arc.when is None)


def _tasks_of(step: Step) -> Iterator[Task]:
    """Up to one whose rules may leave out the others. A loop may have no items."""
    if step.loop is not None:
        return
    for task in step.tasks:
        yield task
        if any(isinstance(rule.then, (Break, Jump)) for rule in task.policy.rules):
            return
