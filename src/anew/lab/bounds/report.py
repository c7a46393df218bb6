"""What `anew bounds` tells of a program, as data: numbers, the longest path, what is open."""

from __future__ import annotations

from math import isinf

from msgspec import Struct

from anew.lab.bounds.amounts import ZERO, Bound, BoundReason
from anew.program.findings import Finding
from anew.program.span import NOWHERE, Span
from anew.values import Object


class Factor(Struct, frozen=True):
    """One thing that multiplies the executions of a task: `visits`, `items` or `attempts`."""

    by: str
    what: str
    times: Bound
    place: Span

    @property
    def is_retry(self) -> bool:
        return self.by != "items"


class TaskBounds(Struct, frozen=True):
    """The most executions of one task: in a visit of it, a step-run, a visit of its step, a run.

    `program` names the child whose task it is, and is empty for the program's own. `timeout` is
    that of one attempt, the tool's own where `timeout_is_default`; `call_waits` what one of them
    waits, `wanted_waits` what all of them would if no deadline ended them. `sends_anew` is the
    method of a request that a new run sends as a new one.
    """

    step: str
    task: str
    kind: str
    place: Span
    per_visit: Bound
    per_step_run: Bound
    per_step_visit: Bound
    in_run: Bound
    waits: Bound
    time: Bound
    timeout: float | None = None
    timeout_is_default: bool = False
    program: str = ""
    factors: tuple[Factor, ...] = ()
    call_waits: Bound = ZERO
    wanted_waits: Bound = ZERO
    sends_anew: str = ""


class StepBounds(Struct, frozen=True):
    """`waits` and `time` are those of one visit; `items` the iterations of its loop.

    `wanted_waits` is what a visit would wait if no deadline ended it.
    """

    step: str
    place: Span
    visits: Bound
    items: Bound
    executions: Bound
    waits: Bound
    time: Bound
    deadline: float | None = None
    wanted_waits: Bound = ZERO
    is_loop: bool = False


class Dependency(Struct, frozen=True):
    """Something outside that tasks call; `tasks` are those that do."""

    kind: str
    name: str
    executions: Bound
    tasks: tuple[str, ...]


class PathStep(Struct, frozen=True):
    """One visit of the longest path, with the tasks of its worst step-run and their attempts.

    `again` is empty, or what repeats it: a `cycle` of steps, a `restart` of the run.
    """

    step: str
    ends: str
    tasks: tuple[tuple[str, Bound], ...]
    items: Bound
    waits: Bound
    time: Bound
    again: str = ""


class Bounds(Struct, frozen=True):
    """The worst a run of the program can come to."""

    name: str
    executions: Bound
    waits: Bound
    time: Bound
    tasks: tuple[TaskBounds, ...]
    nested: tuple[TaskBounds, ...]
    steps: tuple[StepBounds, ...]
    dependencies: tuple[Dependency, ...]
    path: tuple[PathStep, ...]
    unbounded: tuple[BoundReason, ...]
    assumed: tuple[BoundReason, ...]
    warnings: tuple[Finding, ...]

    @property
    def is_bounded(self) -> bool:
        return not self.unbounded

    def report(self) -> Object:
        """The JSON object of `anew bounds --json`."""
        return {
            "program": self.name,
            "executions": bound_row(self.executions),
            "waits_seconds": bound_row(self.waits),
            "total_seconds": bound_row(self.time),
            "tasks": [_task_row(task) for task in (*self.tasks, *self.nested)],
            "steps": [_step_row(step) for step in self.steps],
            "dependencies": [_dependency_row(one) for one in self.dependencies],
            "path": [_path_row(one) for one in self.path],
            "unbounded": [_reason_row(reason) for reason in self.unbounded],
            "assumed": [_reason_row(reason) for reason in self.assumed],
            "warnings": [_warning_row(found) for found in self.warnings],
        }


def bound_row(bound: Bound) -> Object:
    """`at_most` is null where nothing at all ends it."""
    number = None if isinf(bound.at_most) else _plain(bound.at_most)
    return {"bounded": bound.is_bounded, "at_most": number}


def _plain(number: float) -> float | int:
    rounded = round(number, 9)
    return int(rounded) if rounded.is_integer() else rounded


def _task_row(task: TaskBounds) -> Object:
    return {
        "program": task.program or None,
        "step": task.step,
        "task": task.task,
        "kind": task.kind,
        **_place_row(task.place),
        "per_visit": bound_row(task.per_visit),
        "per_step_run": bound_row(task.per_step_run),
        "per_step_visit": bound_row(task.per_step_visit),
        "in_run": bound_row(task.in_run),
        "waits_seconds": bound_row(task.waits),
        "total_seconds": bound_row(task.time),
        "timeout_seconds": task.timeout,
        "timeout_is_default": task.timeout_is_default,
    }


def _step_row(step: StepBounds) -> Object:
    return {
        "step": step.step,
        **_place_row(step.place),
        "visits": bound_row(step.visits),
        "items": bound_row(step.items) if step.is_loop else None,
        "executions": bound_row(step.executions),
        "waits_seconds": bound_row(step.waits),
        "total_seconds": bound_row(step.time),
        "deadline_seconds": step.deadline,
    }


def _dependency_row(one: Dependency) -> Object:
    row = {"kind": one.kind, "name": one.name, "executions": bound_row(one.executions)}
    return {**row, "tasks": list(one.tasks)}


def _path_row(one: PathStep) -> Object:
    return {
        "step": one.step,
        "ends": one.ends,
        "tasks": [{"task": task, "executions": bound_row(count)} for task, count in one.tasks],
        "items": bound_row(one.items),
        "waits_seconds": bound_row(one.waits),
        "total_seconds": bound_row(one.time),
        "again": one.again or None,
    }


def _reason_row(reason: BoundReason) -> Object:
    row = {"rule": reason.rule, **_place_row(reason.place), "what": reason.what}
    return {**row, "ends": reason.ends}


def _warning_row(found: Finding) -> Object:
    row = {"rule": found.rule, **_place_row(found.place), "message": found.message}
    return {**row, "suggestion": found.suggestion}


def _place_row(place: Span) -> Object:
    if place == NOWHERE:
        return {"file": None, "line": None, "column": None}
    return {"file": place.file, "line": place.line, "column": place.column}
