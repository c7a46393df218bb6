"""What two programs that should be one do otherwise: routing, retries, goals and limits.

Compares what is data. What expressions and code compute is not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anew.program.policy import Budget, Retry
from anew.program.program import Program, RouteMode, Step
from anew.program.span import Span

_ONE_STATUS = re.compile(r"status == '[A-Z]+'")
_BOUNDS = {
    "steps_per_run": "steps of a run",
    "visits_per_step": "visits of a step",
    "same_failures": "times a step may fail in the same way",
}


def differences(before: Program, after: Program) -> Iterator[tuple[Span, str]]:
    """Where `after` differs from `before`, by the steps they share."""
    cyclic = {name for name in before.steps if _comes_back(before, name)}
    for name, bound in _BOUNDS.items():
        least, most = getattr(before.limits, name), getattr(after.limits, name)
        if least != most and cyclic:
            yield before.span, f"the graph bounds the {bound}: {most}"
    for step in before.steps.values():
        other = after.steps.get(step.name)
        if other is not None:
            for what in _of_step(step, other, comes_back=step.name in cyclic):
                yield step.span, f"step {step.name!r}: {what}"


def _comes_back(program: Program, name: str) -> bool:
    return any(name in program.sources(target) for target in program.sources(name)) or (
        name in program.ways[name]
    )


def _of_step(step: Step, other: Step, *, comes_back: bool) -> Iterator[str]:
    if step.gate is not None and other.gate is not None and _gate(step) != _gate(other):
        yield "its gate accepts or does something else in a graph"
    if step.gather is not None and other.gather is not None and _gather(step) != _gather(other):
        yield "its branches join in another way in a graph"
    if step.router.mode is RouteMode.FORK and step.router.width != other.router.width:
        yield "another number of its branches is running at a time in a graph"
    if step.rescue != other.rescue:
        yield "a failure that no edge takes goes elsewhere in a graph"
    if _conditional(step) != _conditional(other, of=step) and not _exclude_each_other(other):
        yield "a graph asks the most specific condition first, and so another one than here"
    if step.router.must_choose and step.router.gives_up and not other.router.gives_up:
        yield "where no edge fits, a graph still tries the ways for failures"
    retry, again = _retry(step), _retry(other)
    if retry is None or again is None:
        return
    if retry.to != again.to:
        yield "its retries go by way of another step in a graph"
    if retry.budget is Budget.VISIT and comes_back:
        yield "its retries are counted over all visits in a graph"
    if retry.backoff.honor_retry_after is not again.backoff.honor_retry_after:
        does = "waits" if again.backoff.honor_retry_after else "does not wait"
        yield f"a graph {does} as long as the other side asks (Retry-After)"


def _conditional(step: Step, *, of: Step | None = None) -> list[str]:
    """Where the arcs with conditions lead, in the order they are asked; those `of` has as well."""
    known = {arc.to for arc in (of or step).router.arcs if arc.when is not None}
    ranked = [arc.to for _, arc in step.router.ranked if arc.when is not None and arc.to in known]
    return list(dict.fromkeys(ranked))


def _exclude_each_other(step: Step) -> bool:
    """Whether every condition asks for another status, so that their order does not matter."""
    asked = [str(arc.when.source) for arc in step.router.arcs if arc.when is not None]
    return len(set(asked)) == len(asked) and all(_ONE_STATUS.fullmatch(text) for text in asked)


def _gate(step: Step) -> object:
    gate = step.gate
    if gate is None:
        return None
    target = gate.to if gate.most else None
    asked = None if gate.when is None else str(gate.when.source)
    shares_budget = gate.shares_budget and bool(gate.most)
    return gate.accepts, asked, gate.is_owed, target, gate.most, shares_budget


def _gather(step: Step) -> object:
    gather = step.gather
    return gather and (gather.policy, gather.k, gather.merges, gather.lenient)


def _retry(step: Step) -> Retry | None:
    rules = (rule.then for task in step.tasks for rule in task.policy.rules)
    return next((then for then in rules if isinstance(then, Retry)), None)
