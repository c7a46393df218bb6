"""Decide whether a run can go on under another program: what is live in it must exist there.

A state fits when its tokens, visits, tasks and branches are found in the new program in the shape
they have. What has ended may be gone: its results are in the state. Knows no log, time or store.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct

from anew.engine.state import LoopVisit, RunState, StepRun, StepRunStatus
from anew.program.policy import DirectiveKind
from anew.program.program import Program, RouteMode, Step
from anew.program.span import Span

_AT_ITS_TASK = frozenset(
    {
        StepRunStatus.EXECUTING,
        StepRunStatus.READY,
        StepRunStatus.ASKING,
        StepRunStatus.AWAITING,
        StepRunStatus.ANSWERED,
        StepRunStatus.HELD,
    }
)
_DOING = {
    StepRunStatus.ASKING: "asks a person in",
    StepRunStatus.AWAITING: "waits for a signal in",
    StepRunStatus.DELAYED: "waits to retry",
    StepRunStatus.HELD: "is held by a guard in",
    StepRunStatus.DECIDED: "has just ended",
}


class Misfit(Struct, frozen=True):
    """Something live that the new program does not have as it is; `span` is where it would be."""

    message: str
    span: Span
    step: str | None = None
    task: str | None = None


def misfits_of(state: RunState, old: Program, new: Program) -> list[Misfit]:
    """Why a run that `old` brought here cannot go on as a run of `new`; none when it can."""
    found = [*_of_program(old, new), *_of_tokens(state, new)]
    for visit in state.active.values():
        found += _of_visit(visit, old, new)
    for one in state.compensable:
        step = new.steps.get(one.step)
        if step is None or step.compensation is None:
            doing = f"step {one.step!r} would be undone, should it fail"
            found.append(Misfit(f"{doing}, and has no `compensate` there", new.span, one.step))
    for group in state.branch_groups.values():
        found += _of_group(group.step, group.join, old, new)
    return list(dict.fromkeys(found))


def _of_program(old: Program, new: Program) -> Iterator[Misfit]:
    if old.workload_is_ctx != new.workload_is_ctx:
        began = "as the input" if old.workload_is_ctx else "empty"
        message = f"its ctx started {began}, and starts otherwise in a {new.language} document"
        yield Misfit(message, new.span)


def _of_tokens(state: RunState, new: Program) -> Iterator[Misfit]:
    for token in state.tokens.values():
        if token.step not in new.steps:
            yield _gone(f"step {token.step!r} is next", token.step, new.span)


def _of_visit(visit: StepRun | LoopVisit, old: Program, new: Program) -> Iterator[Misfit]:
    name = visit.key.step
    step, was = new.steps.get(name), old.steps.get(name)
    if step is None or was is None:
        yield _gone(f"it is in step {name!r}", name, new.span)
        return
    if isinstance(visit, LoopVisit):
        yield from _of_loop(visit, step)
        for run in visit.open.values():
            yield from _of_step_run(run, was, step, new)
        return
    has_begun = visit.status is not StepRunStatus.SCHEDULED
    if has_begun and step.loop is not None:
        message = f"it has started step {name!r} without a loop, and there it is one"
        yield Misfit(message, step.loop.span, name)
        return
    yield from _of_step_run(visit, was, step, new)


def _of_loop(visit: LoopVisit, step: Step) -> Iterator[Misfit]:
    name = step.name
    if step.loop is None:
        message = f"it is in the loop of step {name!r}, which is not a loop there"
        yield Misfit(message, step.span, name)
    elif step.loop.iterator != visit.iterator:
        message = (
            f"the items of the loop of step {name!r} are called {visit.iterator!r}, "
            f"and there {step.loop.iterator!r}"
        )
        yield Misfit(message, step.loop.span, name)


def _of_step_run(run: StepRun, was: Step, step: Step, new: Program) -> Iterator[Misfit]:
    """What the next move of the step-run needs: see `Pipeline._next_move`."""
    if run.status in _AT_ITS_TASK or run.status is StepRunStatus.DELAYED:
        if run.task is not None:
            yield from _of_task(run, run.task, was, step)
        if run.redirect is not None and run.redirect not in new.steps:
            yield _gone(f"it retries by way of step {run.redirect!r}", run.redirect, new.span)
    elif run.status is StepRunStatus.DECIDED:
        yield from _of_decision(run, was, step)


def _of_decision(run: StepRun, was: Step, step: Step) -> Iterator[Misfit]:
    match run.directive:
        case DirectiveKind.CONTINUE:
            if run.task is not None:
                yield from _of_task(run, run.task, was, step)
        case DirectiveKind.JUMP:
            if run.to not in step.index_of:
                message = (
                    f"it continues with task {run.to!r} of step {step.name!r}, which is not there"
                )
                yield Misfit(message, step.span, step.name, run.to)
        case DirectiveKind.RETRY | DirectiveKind.BREAK | DirectiveKind.FAIL | None:
            pass
        case _:
            assert_never(run.directive)


def _of_task(run: StepRun, label: str, was: Step, step: Step) -> Iterator[Misfit]:
    doing = f"it {_DOING.get(run.status, 'is at')} task {label!r} of step {step.name!r}"
    if label not in step.index_of:
        yield Misfit(f"{doing}, which is not there", step.span, step.name, label)
        return
    there = step.tasks[step.index_of[label]]
    kinds = [task.kind for task in was.tasks if task.label == label]
    if there.kind not in kinds:
        message = f"{doing}, which is {_listed(kinds)} here and {there.kind} there"
        yield Misfit(message, there.span, step.name, label)
    elif _labels_before(was, label) != _labels_before(step, label):
        told = _listed(_labels_before(step, label))
        message = f"{doing}, and there other tasks come before it: {told}"
        yield Misfit(message, there.span, step.name, label)


def _labels_before(step: Step, label: str) -> list[str]:
    return [task.label for task in step.tasks[: step.index_of[label]]]


def _of_group(name: str, join: str, old: Program, new: Program) -> Iterator[Misfit]:
    """Open branches meet where they were to meet, and there are as many."""
    step, was = new.steps.get(name), old.steps.get(name)
    if step is None or step.router.mode is not RouteMode.FORK:
        span = new.span if step is None else step.span
        yield _gone(f"branches of the split {name!r} are open", name, span)
        return
    if step.router.join != join:
        message = f"branches of the split {name!r} meet at {join!r}, and there at "
        yield Misfit(f"{message}{step.router.join!r}", step.span, name)
    branches = [] if was is None else sorted(arc.to for arc in was.router.arcs)
    there = sorted(arc.to for arc in step.router.arcs)
    if branches != there:
        message = f"the split {name!r} has the branches {_listed(branches)}, and there "
        yield Misfit(f"{message}{_listed(there)}", step.span, name)


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _gone(doing: str, step: str, span: Span) -> Misfit:
    return Misfit(f"{doing}, which is not there", span, step)
