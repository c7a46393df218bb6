"""What another program changes beside its policies, in words: each makes a log's answers less apt.

Compares two programs as they were compiled; places in files do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from anew.expressions import Condition, Template
from anew.lab.whatif.play import Named
from anew.program.program import Program, Step, Task
from anew.program.span import Span

# What of a step is a matter of its own, in the words of documents.
_STEP_PARTS: Mapping[str, Callable[[Step], object]] = {
    "its arcs": lambda step: step.router,
    "its loop": lambda step: step.loop,
    "its admission rules": lambda step: step.admit,
    "its join": lambda step: (step.join, step.gather),
    "its gate": lambda step: (step.gate, step.is_exit),
    "its deadline": lambda step: step.deadline_seconds,
    "where its failures go": lambda step: (step.rescue, step.failure),
    "the order of its tasks": lambda step: [task.label for task in step.tasks],
}
_TASK_PARTS: Mapping[str, Callable[[Task], object]] = {
    "another tool": lambda task: task.kind,
    "other inputs": lambda task: task.inputs,
    "another timeout": lambda task: task.timeout,
}
_PROGRAM_PARTS: Mapping[str, Callable[[Program], object]] = {
    "the entry step": lambda program: program.entry,
    "the defaults of the workload": lambda program: program.workload,
    "the limits": lambda program: program.limits,
    "the failure mode": lambda program: (program.failure, program.fallback),
    "the workbook": lambda program: program.workbook,
}


def changed_policies(old: Program, new: Program) -> list[Named]:
    """The tasks that both programs have, with another policy."""
    pairs = _pairs(old, new)
    return [named for named, (was, now) in pairs.items() if differs(was.policy, now.policy)]


def other_changes(old: Program, new: Program) -> Iterator[str]:
    """A few words for each difference that is no matter of a task's policy."""
    for words, part in _PROGRAM_PARTS.items():
        if differs(part(old), part(new)):
            yield f"{words} changed"
    for name in old.steps:
        if name not in new.steps:
            yield f"step {name} is gone"
    for name, step in new.steps.items():
        if name not in old.steps:
            yield f"step {name} is new"
        else:
            yield from _step_changes(old.steps[name], step)
    for (step_name, task), (was, now) in _pairs(old, new).items():
        for words, task_part in _TASK_PARTS.items():
            if differs(task_part(was), task_part(now)):
                yield f"task {task} of {step_name} has {words}"


def longer_timeouts(old: Program, new: Program) -> frozenset[Named]:
    """The tasks that have more time than a call of theirs had in the past run."""
    return frozenset(
        named
        for named, (was, now) in _pairs(old, new).items()
        if _seconds(now, new.steps[named[0]]) > _seconds(was, old.steps[named[0]])
    )


def differs(one: object, other: object) -> bool:
    """Whether two parts of programs mean something else, wherever they stand."""
    return bool(_plain(one) != _plain(other))


def _step_changes(old: Step, new: Step) -> Iterator[str]:
    for label in old.index_of:
        if label not in new.index_of:
            yield f"task {label} of {new.name} is gone"
    for label in new.index_of:
        if label not in old.index_of:
            yield f"task {label} of {new.name} is new"
    for words, part in _STEP_PARTS.items():
        is_order = words == "the order of its tasks"
        if is_order and set(old.index_of) != set(new.index_of):
            continue
        if differs(part(old), part(new)):
            yield f"step {new.name}: {words} changed"


def _pairs(old: Program, new: Program) -> dict[Named, tuple[Task, Task]]:
    return {
        (name, task.label): (old.steps[name].tasks[old.steps[name].index_of[task.label]], task)
        for name, step in new.steps.items()
        if name in old.steps
        for task in step.tasks
        if task.label in old.steps[name].index_of
    }


def _seconds(task: Task, step: Step) -> float:
    limits = [step.deadline_seconds, task.timeout]
    return min((one for one in limits if isinstance(one, (int, float))), default=float("inf"))


def _plain(part: object) -> Any:
    """A part as values that can be compared: spans left out, expressions as they were written."""
    match part:
        case Span():
            return None
        case Template() | Condition():
            return part.source
        case Struct():
            return type(part).__name__, {key: _plain(one) for key, one in asdict(part).items()}
        case Mapping():
            return {key: _plain(one) for key, one in part.items()}
        case tuple() | list():
            return [_plain(one) for one in part]
        case _:
            return part
