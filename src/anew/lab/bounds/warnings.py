"""What is doubtful about the failure handling of a program, judged by its bounds.

Retries that multiply, retries of calls that are not safe to repeat, waits that a deadline ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING

from anew.lab.bounds.analysis_inputs import AnalysisInput, child_of, tools_of
from anew.lab.bounds.attempts import EXACT_ATTEMPTS_MAX
from anew.lab.bounds.delays import attempts_known, retry_range, seconds_known
from anew.lab.bounds.formatting import amount_text, seconds_text
from anew.lab.bounds.static_values import inputs_known
from anew.lab.cancellation import until_cancelled
from anew.program.findings import Finding, Severity
from anew.program.kinds import kind_named
from anew.program.policy import Retry
from anew.program.program import Step, Task
from anew.program.span import Span

if TYPE_CHECKING:
    from anew.lab.bounds.report import Bounds, StepBounds, TaskBounds

_WRITES = re.compile(r"\b(?:INSERT|UPDATE|DELETE|MERGE)\b", re.IGNORECASE)


def warnings_of(
    given: AnalysisInput,
    steps: Iterable[StepBounds],
    tasks: Iterable[TaskBounds],
    children: Mapping[str, Bounds | str],
) -> tuple[Finding, ...]:
    """All warnings of a program, in the order of the file; `tasks` has those of children too."""
    listed = list(tasks)
    rows = {(row.step, row.task): row for row in listed if not row.program}
    found = [one for row in listed for one in _amplified(row)]
    for bounds in until_cancelled(steps, given.cancel_check):
        step = given.program.steps[bounds.step]
        own = [(task, rows[step.name, task.label]) for task in step.tasks]
        for task, row in own:
            found += _unsafe(given, task, row, children)
        outliving = [one for task, row in own for one in _too_long(given, step, task, row)]
        found += outliving or _waits_too_long(bounds)
    for inner in children.values():
        found += () if isinstance(inner, str) else inner.warnings
    unique = dict.fromkeys(found)
    return tuple(sorted(unique, key=lambda one: (one.place.file, one.place.line, one.place.column)))


def _warning(rule: str, place: Span, message: str, suggestion: str) -> Finding:
    return Finding(Severity.WARNING, f"bounds.{rule}", message, place, suggestion)


def _amplified(row: TaskBounds) -> Iterator[Finding]:
    """Two retries or more that multiply."""
    repeats = [factor for factor in row.factors if factor.is_retry]
    if len(repeats) < 2:
        return
    factors = " × ".join(amount_text(factor.times) for factor in row.factors)
    product = prod(factor.times.at_most for factor in row.factors)
    why = ", ".join(factor.what for factor in row.factors)
    name = f"{row.program}: {row.step}.{row.task}" if row.program else f"{row.step}.{row.task}"
    most = amount_text(row.in_run)
    shown = f"{factors} = {most}" if product == row.in_run.at_most else f"{factors}, at most {most}"
    yield _warning(
        "retry-amplification",
        repeats[0].place,
        f"retries multiply: {name} can be executed {shown} times ({why})",
        "Retry in one place: at the call that fails, or around the whole, not both.",
    )


def _unsafe(
    given: AnalysisInput, task: Task, row: TaskBounds, children: Mapping[str, Bounds | str]
) -> Iterator[Finding]:
    yield from _sent_by_visits(task, row)
    if row.per_visit.at_most <= 1:
        return
    times = amount_text(row.per_visit)
    for tool in tools_of(given, task):
        kind, inputs = kind_named(tool.kind), inputs_known(tool.inputs, given.workload)
        method = kind.unsafe_method_of(inputs)
        if method is not None and not inputs.get("idempotency_key"):
            yield _warning(
                "retried-write",
                task.span,
                f"{row.step}.{row.task} sends {method} up to {times} times, without a key by "
                "which the server could know it again",
                "Add `idempotency_key: true`, if the server honours it.",
            )
        is_piecemeal = bool(kind.sql) and inputs.get("transaction") is False
        if is_piecemeal and _WRITES.search(str(inputs.get("command"))):
            yield _warning(
                "retried-write",
                task.span,
                f"{row.step}.{row.task} writes outside a transaction and is executed up to "
                f"{times} times: what was written before a failure is written again",
                "Leave out `transaction: false`, or make the statements safe to repeat.",
            )
        yield from _unsafe_inside(tool, row, children)


def _sent_by_visits(task: Task, row: TaskBounds) -> Iterator[Finding]:
    """A failure that leads back begins another visit, in which a key of ours is another one."""
    visits = [factor for factor in row.factors if factor.by == "visits"]
    if visits and row.sends_anew:
        yield _warning(
            "retried-write",
            task.span,
            f"each of up to {amount_text(visits[0].times)} visits of {row.step} sends "
            f"{row.sends_anew} as a new request, which the server cannot know again",
            "Retry the call itself, or give `idempotency_key` a value that visits share.",
        )


def _unsafe_inside(
    tool: Task, row: TaskBounds, children: Mapping[str, Bounds | str]
) -> Iterator[Finding]:
    """Each attempt is a child run of its own, in which `idempotency_key: true` is another key."""
    found = child_of(children, tool)
    if found is None:
        return
    sending = [inner for inner in (*found.tasks, *found.nested) if inner.sends_anew]
    for inner in sending:
        yield _warning(
            "retried-write",
            tool.span,
            f"each attempt of {row.step}.{row.task} is a child run of its own, in which "
            f"{inner.step}.{inner.task} sends {inner.sends_anew} again with another key",
            "Retry inside the child, or give `idempotency_key` a value that the child gets.",
        )


def sends_anew(given: AnalysisInput, task: Task) -> str:
    """The method that a task sends as something new in each run; empty when it does not."""
    for tool in tools_of(given, task):
        inputs = inputs_known(tool.inputs, given.workload)
        method = kind_named(tool.kind).unsafe_method_of(inputs)
        has_own_key = inputs.get("idempotency_key") not in (None, False, True)
        if method is not None and not has_own_key:
            return method
    return ""


def _too_long(given: AnalysisInput, step: Step, task: Task, row: TaskBounds) -> Iterator[Finding]:
    """Waits and timeouts that the step's deadline, or the retry's own limit, ends first."""
    deadline = step.deadline_seconds
    shown = "" if deadline is None else f"the step's deadline of {seconds_text(deadline)}"
    if deadline is not None and not row.timeout_is_default and (row.timeout or 0.0) > deadline:
        yield _warning(
            "outlives-deadline",
            task.span,
            f"the timeout of {row.task}, {seconds_text(row.timeout or 0)}, is longer than {shown}",
            "Shorten the timeout, or allow the step more time.",
        )
    if deadline is not None and row.call_waits.at_most > deadline and row.call_waits.is_bounded:
        waiting = seconds_text(row.call_waits.at_most)
        yield _warning(
            "outlives-deadline",
            task.span,
            f"{row.task} waits up to {waiting}, longer than {shown}",
            "Shorten the wait, or allow the step more time.",
        )
    retries = [rule.then for rule in task.policy.rules if isinstance(rule.then, Retry)]
    found = [one for retry in retries for one in _delays_too_long(given, retry, row, deadline)]
    yield from found
    waits = row.wanted_waits
    is_summed = bool(retries) and waits.is_bounded and not found
    is_summed = is_summed and waits.at_most > row.call_waits.at_most
    if deadline is not None and is_summed and waits.at_most > deadline:
        yield _warning(
            "outlives-deadline",
            retries[0].span,
            f"the waits of {row.task} add up to {seconds_text(waits.at_most)}, longer than "
            f"{shown}: its last attempts are never made",
            "Allow fewer attempts or shorter waits, or allow the step more time.",
        )


def _waits_too_long(step: StepBounds) -> Iterator[Finding]:
    """Waits of several tasks, or of the items of a loop, that only together are too long."""
    waits, deadline = step.wanted_waits, step.deadline
    if deadline is None or not waits.is_bounded or waits.at_most <= deadline:
        return
    yield _warning(
        "outlives-deadline",
        step.place,
        f"the waits of step {step.step} add up to {seconds_text(waits.at_most)}, longer than its "
        f"deadline of {seconds_text(deadline)}",
        "Shorten the waits, or allow the step more time.",
    )


def _delays_too_long(
    given: AnalysisInput, retry: Retry, row: TaskBounds, deadline: float | None
) -> Iterator[Finding]:
    attempts = attempts_known(retry.attempts, given.workload)
    if attempts == 1:
        return
    last = EXACT_ATTEMPTS_MAX if attempts is None else min(attempts - 1, EXACT_ATTEMPTS_MAX)
    elapsed = seconds_known(retry.max_elapsed, given.workload)
    first = retry_range(retry, given.workload, after=1, previous=None)
    longest = retry_range(retry, given.workload, after=last, previous=first.drawn).most
    if deadline is not None and longest.is_bounded and longest.at_most > deadline:
        yield _warning(
            "outlives-deadline",
            retry.span,
            f"a wait of up to {seconds_text(longest.at_most)} between attempts of {row.task} is "
            f"longer than the step's deadline of {seconds_text(deadline)}",
            "Cap it with max_delay, or allow the step more time.",
        )
    if elapsed is not None and first.least > elapsed:
        yield _warning(
            "outlives-deadline",
            retry.span,
            f"the first wait, {seconds_text(first.least)}, is longer than max_elapsed, "
            f"{seconds_text(elapsed)}: {row.task} is never retried",
            "Shorten the delay, or lengthen max_elapsed.",
        )
