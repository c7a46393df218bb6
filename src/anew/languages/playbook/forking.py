"""Complete the forks of a playbook: where their branches meet, and how that step takes them up."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from anew.languages.playbook.compilation import Compilation
from anew.program.join_matching import match_joins
from anew.program.program import Gather, Join, RouteMode, Step

_JOIN_FORM = "Write `next: {spec: {mode: fork, join: <step>}, arcs: […]}`."


def with_joins(c: Compilation, steps: dict[str, Step]) -> dict[str, Step]:
    """The steps with every fork's `join` found, and a policy on each step that is one.

    A fork without such a step is reported.
    """
    forks = [step for step in steps.values() if step.router.mode is RouteMode.FORK]
    if not forks:
        return steps
    nearest = _nearest_joins(steps, forks)
    completed = dict(steps)
    for fork in forks:
        join = fork.router.join or nearest[fork.name]
        if join is None:
            _report(c, fork)
            continue
        router = replace(fork.router, join=join)
        completed[fork.name] = replace(completed[fork.name], router=router)
        completed[join] = _gathering(c, completed[join], fork)
    return completed


def _nearest_joins(steps: Mapping[str, Step], forks: list[Step]) -> Mapping[str, str | None]:
    """For each fork the nearest step with a join policy that all its branches lead to."""
    leads = {name: [arc.to for arc in step.router.arcs] for name, step in steps.items()}
    joins = [name for name, step in steps.items() if step.gather is not None]
    return match_joins(leads, [fork.name for fork in forks], joins)


def _report(c: Compilation, step: Step) -> None:
    if c.has_lost_routes or c.guessed_targets:
        return  # an arc or a join that was reported may be the reason
    message = f"the branches of step {step.name!r} do not meet at one step with a join policy"
    c.report("next.fork-join", step.router.span, message, _JOIN_FORM)


def _gathering(c: Compilation, join: Step, fork: Step) -> Step:
    """The step where branches meet; unless it says otherwise it waits for them all."""
    if join.gather is not None:
        return join
    if join.join is Join.EACH:
        message = f"`join: each` cannot take up the branches of step {fork.name!r}"
        c.report("step.join", join.span, message, "Write `spec: {join: wait_all}`, or remove it.")
    return replace(join, join=Join.EACH, gather=Gather(span=join.span))
