"""One visit of a task: how often it can be executed, how long that takes, how it can be left.

Conditions may be anything, except where the outcome's status decides them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from math import inf
from typing import Literal, assert_never

from msgspec import Struct
from msgspec.structs import replace

from anew.engine.relay import relayed
from anew.engine.retry import DELAY_SECONDS_MAX
from anew.expressions import MappingScope, Template
from anew.lab.bounds.amounts import ZERO, Bound, BoundReason, endless, largest, smaller
from anew.lab.bounds.analysis_inputs import AnalysisInput
from anew.lab.bounds.calls import CallBounds
from anew.lab.bounds.delays import (
    attempts_known,
    jump_delay,
    retry_range,
    seconds_known,
)
from anew.lab.bounds.static_values import Facts, may_raise, truth_of
from anew.program.kind import OutcomeSource
from anew.program.policy import (
    Break,
    Budget,
    Continue,
    Directive,
    Fail,
    Jump,
    OutcomeStatus,
    Retry,
    Rule,
    Verdict,
)
from anew.program.program import Dialect, Task

# Past this the delays of attempts are no longer added up one by one.
EXACT_ATTEMPTS_MAX = 1_000
# Past this, visits that share attempts count as if each of them had them all.
SHARED_ATTEMPTS_MAX = 50
# A moment is rounded to whole nanoseconds.
_ROUNDING = 1e-9


class TaskExit(Struct, frozen=True):
    """How a visit of a task ends. `to` is a label for a jump, a step for a retry elsewhere."""

    how: Literal["next", "done", "jump", "elsewhere", "fail"]
    to: str | None = None
    verdict: Verdict | None = None


class TaskVisit(Struct, frozen=True):
    """The worst of all visits that end in one of these ways; `waits` of a way come on top.

    `spent` is what has been used of a budget that visits share, `delay` the longest wait between
    two executions.
    """

    executions: Bound
    waits: Bound
    seconds: Bound
    leaves: tuple[tuple[TaskExit, Bound], ...]
    delay: Bound
    spent: int = 0


def statuses(task: Task) -> tuple[OutcomeStatus, ...]:
    """What an execution may come to."""
    if task.outcome_from is OutcomeSource.RELAY and task.inputs.is_constant:
        return (relayed(task.inputs.value(MappingScope())).status,)
    return (OutcomeStatus.OK, OutcomeStatus.ERROR)


class DirectiveMatch(Struct, frozen=True):
    """A directive that an outcome of this status can meet, with the rule that has it."""

    then: Directive
    status: OutcomeStatus
    rule: Rule | None = None


def met(task: Task, allowed: tuple[OutcomeStatus, ...] | None = None) -> list[DirectiveMatch]:
    """Every directive some outcome can meet."""
    return [one for status in allowed or statuses(task) for one in _met_by(task, status)]


def _met_by(task: Task, status: OutcomeStatus) -> Iterator[DirectiveMatch]:
    facts = _facts(task, status)
    may_fail = any(may_raise(patch.value) for patch in task.policy.patches)
    for rule in task.policy.rules:
        if rule.on is not None and rule.on is not status:
            continue
        holds = truth_of(rule.when, facts)
        may_fail = may_fail or may_raise(rule.when)
        if holds is False:
            continue
        yield DirectiveMatch(rule.then, status, rule)
        may_fail = may_fail or any(may_raise(patch.value) for patch in rule.patches)
        # One that has jumped often enough lets the rules after it have their turn.
        if holds and not (isinstance(rule.then, Jump) and rule.then.is_limited):
            break
    else:
        fails = status is OutcomeStatus.ERROR and task.policy.fail_unmatched_errors
        yield DirectiveMatch(Fail() if fails else Continue(), status)
    if may_fail:
        yield DirectiveMatch(Fail(), status)


def _facts(task: Task, status: OutcomeStatus) -> Facts:
    is_ok = status is OutcomeStatus.OK
    word = "success" if is_ok and task.dialect is Dialect.EVAL else status.value
    facts: dict[tuple[str, ...], object] = {
        ("outcome", "status"): word,
        ("output", "status"): status.value,
    }
    if is_ok:
        facts["outcome", "error"] = facts["output", "error"] = None
    if task.dialect is Dialect.RETRY:
        facts["success",] = is_ok
        if is_ok:
            facts["error",] = None
    return facts


def task_visits(
    given: AnalysisInput,
    task: Task,
    call: CallBounds,
    *,
    spent: int = 0,
    allowed: tuple[OutcomeStatus, ...] | None = None,
) -> list[TaskVisit]:
    """The visits a task can have, the worst for each amount of a shared budget that is used."""
    found = met(task, allowed)
    retries = _retries(given, found)
    delay = largest(_longest_ever(given, one) for one in retries if one.retry.to is None)
    if any(one.retry.budget is Budget.STEP for one in retries):
        shared = _sharing(given, task, call, found, retries, spent=spent)
        return [replace(visit, delay=delay) for visit in shared]
    most = max((one.attempts for one in retries if one.retry.to is None), default=1.0)
    run = _run_of(given, call, retries, most, spent=0)
    leaves = tuple(_leaves(given, task, found, retries, None))
    return [TaskVisit(run.executions, run.waits, run.seconds, leaves, delay)]


class _Retries(Struct, frozen=True):
    """A retry some outcome can meet; endless `attempts` are told by an expression."""

    retry: Retry
    attempts: float
    elapsed: float | None


def _retries(given: AnalysisInput, found: list[DirectiveMatch]) -> list[_Retries]:
    seen = dict.fromkeys(one.then for one in found if isinstance(one.then, Retry))
    return [
        _Retries(
            retry,
            _attempts_of(given, retry),
            seconds_known(retry.max_elapsed, given.workload),
        )
        for retry in seen
    ]


def _attempts_of(given: AnalysisInput, retry: Retry) -> float:
    """Endless where a run has to tell, or where a wait of all calls may cost no attempt."""
    cools = any(rule.cooldown for rule in given.program.dependencies)
    if cools and any(backoff.honor_retry_after for backoff in retry.backoffs):
        return inf
    known = attempts_known(retry.attempts, given.workload)
    return inf if known is None else known


class _Executed(Struct, frozen=True):
    executions: Bound
    waits: Bound
    seconds: Bound


def _run_of(
    given: AnalysisInput, call: CallBounds, retries: list[_Retries], most: float, *, spent: int
) -> _Executed:
    """So many executions one after the other, and the waits between them."""
    here = [one for one in retries if one.retry.to is None]
    elapsed = [one.elapsed for one in here]
    limit = None if None in elapsed or not here else max(one for one in elapsed if one is not None)
    ends = _Ends(inf if limit is None else limit, inf if call.deadline is None else call.deadline)
    executions, between = _between(given, here, most, ends, spent=spent)
    waits = between + call.waits * executions
    seconds = between + call.seconds * executions
    if limit is not None:
        # The last attempt starts no later than that after the first.
        waits = smaller(waits, Bound(limit) + call.waits)
        seconds = smaller(seconds, Bound(limit) + call.seconds)
    return _Executed(executions, waits, seconds)


class _Ends(Struct, frozen=True):
    """How long after the first execution another may start: by max_elapsed, by the deadline."""

    elapsed: float
    deadline: float


def _between(
    given: AnalysisInput, retries: list[_Retries], most: float, ends: _Ends, *, spent: int
) -> tuple[Bound, Bound]:
    """How many executions there can be, and how long the waits between them at most."""
    waits, shortest, drawn = ZERO, 0.0, None
    for number in range(1, int(min(most, EXACT_ATTEMPTS_MAX))):
        ranges = [
            retry_range(one.retry, given.workload, after=number + spent, previous=drawn)
            for one in retries
            if one.attempts > number + spent
        ]
        shortest += min(one.least for one in ranges) - _ROUNDING
        if shortest > ends.elapsed:
            return Bound(float(number)), waits
        waits = waits + largest(one.most for one in ranges)
        if shortest > ends.deadline:
            # The wait is begun, and the deadline ends it.
            return Bound(float(number)), waits
        drawn = max(one.drawn for one in ranges)
    if most <= EXACT_ATTEMPTS_MAX:
        return Bound(float(most)), waits
    executions = _many(given, retries, most)
    return executions, waits + executions * largest(_longest_ever(given, one) for one in retries)


def _many(given: AnalysisInput, retries: list[_Retries], most: float) -> Bound:
    if most != inf:
        return Bound(most)
    retry = next(one.retry for one in retries if one.attempts == inf)
    what = "the attempts of this retry are an expression whose value is known only at run time"
    ends, is_authors = given.tasks_most
    if is_authors:
        return Bound(float(ends))
    reason = BoundReason("attempts", retry.span, what, f"limits.tasks_per_step_run, {ends:,}")
    return endless(reason, float(ends))


def _longest_ever(given: AnalysisInput, one: _Retries) -> Bound:
    """The longest delay of a retry, whatever the attempt: they grow or shrink all the way."""
    last = int(one.attempts) - 1 if one.attempts != inf else EXACT_ATTEMPTS_MAX**2
    numbers = (1, EXACT_ATTEMPTS_MAX, max(1, last))
    return largest(
        retry_range(one.retry, given.workload, after=number, previous=DELAY_SECONDS_MAX).most
        for number in numbers
    )


# --- ways out ----------------------------------------------------------------------------------


def _sharing(
    given: AnalysisInput,
    task: Task,
    call: CallBounds,
    found: list[DirectiveMatch],
    retries: list[_Retries],
    *,
    spent: int,
) -> Iterator[TaskVisit]:
    """Where visits share a budget, each number of executions leaves another rest of it."""
    here = [one.attempts for one in retries if one.retry.to is None]
    most = max(1.0, max(here, default=1) - spent)
    if most > SHARED_ATTEMPTS_MAX:
        run = _run_of(given, call, retries, most, spent=spent)
        leaves = tuple(dict.fromkeys(_leaves(given, task, found, retries, None)))
        yield TaskVisit(run.executions, run.waits, run.seconds, leaves, ZERO, spent)
        return
    for number in range(1, int(most) + 1):
        run = _run_of(given, call, retries, number, spent=spent)
        leaves = tuple(_leaves(given, task, found, retries, spent + number))
        yield TaskVisit(run.executions, run.waits, run.seconds, leaves, ZERO, spent + number - 1)


def _leaves(
    given: AnalysisInput,
    task: Task,
    found: list[DirectiveMatch],
    retries: list[_Retries],
    number: int | None,
) -> Iterator[tuple[TaskExit, Bound]]:
    """Every way to leave the task; with a number, after the execution that counts so much."""
    attempts = {one.retry: one.attempts for one in retries}
    for one in found:
        then = one.then
        if not isinstance(then, Retry):
            yield from _settled(given, task, then, one.status)
            continue
        if number is None or number >= attempts[then]:
            exhausted = then.on_exhausted
            # Attempts that are spent count as a success where the author goes on.
            after = Fail() if exhausted is None else exhausted.then
            yield from _settled(given, task, after, OutcomeStatus.ERROR)
            if exhausted is not None and any(may_raise(patch.value) for patch in exhausted.patches):
                yield TaskExit("fail"), ZERO
        elif then.to is not None:
            wait = retry_range(then, given.workload, after=number, previous=None).most
            yield TaskExit("elsewhere", then.to), wait
        if _may_be_refused(given, then):
            yield TaskExit("fail"), ZERO


def _may_be_refused(given: AnalysisInput, retry: Retry) -> bool:
    """Whether a number of the retry can turn out to be none."""
    said = ((*backoff.delays, backoff.cap) for backoff in retry.backoffs)
    delays = (*chain.from_iterable(said), retry.max_elapsed)
    unknown = [one for one in delays if isinstance(one, Template)]
    if isinstance(retry.attempts, Template):
        return attempts_known(retry.attempts, given.workload) is None or bool(unknown)
    return any(seconds_known(one, given.workload) is None for one in unknown)


def _settled(
    given: AnalysisInput, task: Task, then: Directive, status: OutcomeStatus
) -> Iterator[tuple[TaskExit, Bound]]:
    match then:
        case Continue():
            for verdict in _verdicts(given, task, then.verdict, status):
                yield TaskExit("next", verdict=verdict), ZERO
        case Break():
            for verdict in _verdicts(given, task, None, status):
                yield TaskExit("done", verdict=verdict), ZERO
        case Jump():
            yield TaskExit("jump", then.to), jump_delay(then, given.workload)
            if any(isinstance(one, Template) for one in (then.delay, then.max_elapsed)):
                yield TaskExit("fail"), ZERO
        case Fail() | Retry():
            yield TaskExit("fail"), ZERO
        case _:
            assert_never(then)


def _verdicts(
    given: AnalysisInput, task: Task, said: Verdict | None, status: OutcomeStatus
) -> tuple[Verdict, ...]:
    """How a step may have gone that ends here, where the difference leads anywhere."""
    if said is not None:
        return (said,)
    is_plain = task.outcome_from is OutcomeSource.RELAY and task.inputs.is_constant
    if status is OutcomeStatus.ERROR or is_plain or not given.verdicts_matter:
        return (Verdict.SUCCESS,)
    return (Verdict.SKIPPED, Verdict.PARTIAL, Verdict.SUCCESS)
