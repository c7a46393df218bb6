"""What another program changes beside its policies, in words: each makes a log's answers less apt.

Compares two programs as they were compiled; places in files do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from anew.expressions import Condition, Template
from anew.lab.whatif.play import Named, NamedRule
from anew.program.policy import Rule
from anew.program.program import Program, Step, Task
from anew.program.span import Span

# What of a step is a matter of its own, in the words of documents.
_STEP_PARTS: Mapping[str, Callable[[Step], object]] = {
    "its arcs": lambda step: step.router,
    "what it sets": lambda step: step.patches,
    "its loop": lambda step: step.loop,
    "its admission rules": lambda step: step.admit,
    "its join": lambda step: (step.join, step.gather),
    "its gate": lambda step: (step.gate, step.is_exit),
    "its deadline": lambda step: step.deadline_seconds,
    "its limit of visits": lambda step: step.visits_max,
    "where its failures go": lambda step: (step.rescue, step.failure),
    "how it is undone": lambda step: (step.compensation, step.compensates),
    "the order of its tasks": lambda step: [task.label for task in step.tasks],
}
_TASK_PARTS: Mapping[str, Callable[[Task], object]] = {
    "another tool": lambda task: task.kind,
    "other inputs": lambda task: task.inputs,
    "another timeout": lambda task: task.timeout,
    "another `exactly_once`": lambda task: task.exactly_once,
    "another word for guards": lambda task: (task.dependency, task.priority, task.hold_timeout),
}
_PROGRAM_PARTS: Mapping[str, Callable[[Program], object]] = {
    "the entry step": lambda program: program.entry,
    "the defaults of the input": lambda program: program.workload,
    "how ctx starts": lambda program: (program.workload_is_ctx, program.ctx),
    "the limits": lambda program: program.limits,
    "the failure mode": lambda program: (program.failure, program.fallback),
    "the guards": lambda program: (program.dependencies, program.priority),
    "the workbook": lambda program: program.workbook,
}


def changed_policies(old: Program, new: Program) -> list[Named]:
    """The tasks that both programs have, with another policy."""
    pairs = _pairs(old, new)
    return [named for named, (was, now) in pairs.items() if differs(was.policy, now.policy)]


def other_changes(old: Program, new: Program) -> Iterator[str]:
    """A few words for each difference that is no matter of a task's policy."""
    if old.name != new.name:
        yield f"another program: the runs are of {old.name}, this is {new.name}"
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
    """The tasks that may have more time for a call than in the past run."""
    return frozenset(
        named
        for named, (was, now) in _pairs(old, new).items()
        if _is_longer(was.timeout, now.timeout)
        or _is_longer(old.steps[named[0]].deadline_seconds, new.steps[named[0]].deadline_seconds)
    )


def asking_otherwise(old: Program, new: Program) -> frozenset[Named]:
    """The tasks of both programs that ask something else of the world: another tool or inputs."""
    return frozenset(
        named
        for named, (was, now) in _pairs(old, new).items()
        if was.kind != now.kind or differs(was.inputs, now.inputs)
    )


def rule_pairs(old: Program, new: Program) -> dict[NamedRule, NamedRule]:
    """The old rules by number, with the new one of the same condition and directive.

    One that is gone keeps its number, as a negative one.
    """
    found: dict[NamedRule, NamedRule] = {}
    for name, step in old.steps.items():
        for task in step.tasks:
            now = new.task_of(name, task.label)
            left = {} if now is None else dict(enumerate(map(_gist, now.policy.rules), 1))
            for number, rule in enumerate(task.policy.rules, 1):
                same = next((one for one, gist in left.items() if gist == _gist(rule)), -number)
                left.pop(same, None)
                found[name, task.label, number] = (name, task.label, same)
    return found


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
    found = {}
    for name, step in new.steps.items():
        for task in step.tasks:
            was = old.task_of(name, task.label)
            if was is not None:
                found[name, task.label] = (was, task)
    return found


def _gist(rule: Rule) -> object:
    """What makes a rule the same one: when it matches, and what kind of thing it then does."""
    return _plain((rule.on, rule.when, type(rule.then).__name__))


def _is_longer(was: object, now: object) -> bool:
    """Whether a limit of time may be longer: one that is not given is the tool's own."""
    if isinstance(was, (int, float)) and isinstance(now, (int, float)):
        return now > was
    return differs(was, now)


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
