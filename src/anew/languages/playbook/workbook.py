"""Give the tasks that call the workbook what they leave to the task they call.

A call has its own inputs. Without rules of its own it follows those of the workbook's task, and
without a timeout it has that one's; what it sets comes after what that one sets. Where the name is
a template, none of that is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from msgspec.structs import replace

from anew.program.kind import OutcomeSource
from anew.program.policy import NO_POLICY, Exhausted, Jump, Policy, Retry, Rule
from anew.program.program import Step, Task

_Then = TypeVar("_Then")


def with_workbook(step: Step, workbook: Mapping[str, Task]) -> Step:
    """The step, its calls of the workbook completed."""
    if not workbook or not any(map(_calls_workbook, step.tasks)):
        return step
    return replace(step, tasks=tuple(_completed(task, workbook) for task in step.tasks))


def _calls_workbook(task: Task) -> bool:
    return task.outcome_from is OutcomeSource.WORKBOOK


def _completed(task: Task, workbook: Mapping[str, Task]) -> Task:
    said = task.inputs.source
    name = said.get("name") if isinstance(said, dict) else None
    called = workbook.get(name) if _calls_workbook(task) and isinstance(name, str) else None
    if called is None:
        return task
    timeout = called.timeout if task.timeout is None else task.timeout
    own = task.policy.patches
    if replace(task.policy, patches=()) != NO_POLICY or called.policy is NO_POLICY:
        return replace(task, timeout=timeout)
    policy = _renamed(called.policy, called.label, task.label)
    policy = replace(policy, patches=(*policy.patches, *own))
    return replace(task, policy=policy, dialect=called.dialect, timeout=timeout)


def _renamed(policy: Policy, old: str, new: str) -> Policy:
    """The policy of a task under another label: a jump to itself still is one."""
    return replace(policy, rules=tuple(_renamed_rule(rule, old, new) for rule in policy.rules))


def _renamed_rule(rule: Rule, old: str, new: str) -> Rule:
    then = rule.then
    if isinstance(then, Retry) and then.on_exhausted is not None:
        spent = then.on_exhausted
        kept = Exhausted(_led(spent.then, old, new), spent.patches)
        return replace(rule, then=replace(then, on_exhausted=kept))
    return replace(rule, then=_led(then, old, new))


def _led(then: _Then, old: str, new: str) -> _Then:
    return replace(then, to=new) if isinstance(then, Jump) and then.to == old else then
