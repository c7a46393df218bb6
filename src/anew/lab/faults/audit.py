"""Hold the log of a run against what the world saw: what must be true whatever goes wrong.

Reads the program, the log and the ledger, and has its own idea of what they must say. It uses
nothing by which the engine decides, but for the two checks that ask the engine itself: that folding
the log gives the state, and that replaying it gives the log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from msgspec import Struct

from anew.engine import events as e
from anew.engine.fold import fold
from anew.engine.state import FINAL, RunState, RunStatus, StepRunKey, key_of
from anew.errors import EngineBug
from anew.lab.faults.ledger import FaultLedger, StartedCall
from anew.lab.faults.log_positions import Passage
from anew.lab.replay import replay
from anew.program.policy import Budget, Retry
from anew.program.program import Program
from anew.runtime.turns import SKEW_SECONDS_MAX

_ENDS = (e.RunDone, e.RunFailed, e.RunCancelled)
_SKEW = SKEW_SECONDS_MAX * 1_000_000_000


class Evidence(Struct, frozen=True):
    """One run: what was played, what was written, what was seen, and how it stood at the end.

    `state` is None for a run that another has taken the place of. `is_endless`: the simulation was
    stopped because the run did not come to an end.
    """

    program: Program
    log: Sequence[e.Event]
    ledger: FaultLedger
    state: RunState | None
    is_endless: bool = False


class Violation(Struct, frozen=True):
    """What was found, and the name of the invariant it breaks."""

    invariant: str
    why: str


# A step-run, its task, which visit of that task, and which attempt of the visit.
_Attempt: TypeAlias = tuple[StepRunKey, str, int, int]
_Check: TypeAlias = Callable[[Evidence], Iterator[str]]
INVARIANTS: dict[str, _Check] = {}
MEANINGS: dict[str, str] = {}


def _invariant(name: str, meaning: str) -> Callable[[_Check], _Check]:
    """The decorator of a check: its name, and what must be true, for people."""

    def register(check: _Check) -> _Check:
        INVARIANTS[name], MEANINGS[name] = check, meaning
        return check

    return register


def audit(evidence: Evidence) -> list[Violation]:
    """The first thing that breaks each invariant."""
    broken = []
    for name, check in INVARIANTS.items():
        why = next(check(evidence), None)
        if why is not None:
            broken.append(Violation(name, why))
    return broken


@_invariant("gap-free", "the events of the log are numbered from 1 without a gap")
def _no_gaps(found: Evidence) -> Iterator[str]:
    for number, event in enumerate(found.log, 1):
        if event.seq != number:
            yield f"event {number} has the sequence number {event.seq}"


@_invariant(
    "in-time", "every event has the moment the clock showed, and goes back only with the clock"
)
def _in_time(found: Evidence) -> Iterator[str]:
    """An event has the moment the clock showed; that goes back only where the clock was set."""
    shown = _shown(found)
    for event, clock in zip(found.log, shown, strict=True):
        if event.at != clock:
            yield f"{_named(event)} is not of the moment at which it was decided"
    for earlier, later in pairwise(found.ledger.turns):
        if 0 < earlier.shown - later.shown <= _SKEW:
            yield f"the log went back in time after event {later.before}"


@_invariant("done-once", "no task is called again once its outcome is in the log")
def _once(found: Evidence) -> Iterator[str]:
    """Every execution is one that the log has begun, and its outcome was not in the log yet."""
    known = _processed(found)
    seen: set[int] = set()
    for execution in found.ledger.executions:
        place = f"{_name(execution.key)}.{execution.label} attempt {execution.attempt}"
        if execution.started in seen:
            yield f"{place} was called twice for event {execution.started}"
        seen.add(execution.started)
        began = found.log[execution.started - 1] if execution.started <= len(found.log) else None
        if not isinstance(began, e.TaskStarted) or began.task != execution.label:
            yield f"{place} was called, and event {execution.started} does not start it"
            continue
        outcome = known.get(_attempt(began))
        if outcome is not None and outcome <= execution.seen:
            yield f"{place} was called again after its outcome, event {outcome}"


@_invariant("in-order", "what is called next follows from the directive before it")
def _in_order(found: Evidence) -> Iterator[str]:
    """What is executed next follows from the last directive of the step-run."""
    passage = Passage(found.program)
    for event in found.log:
        why = passage.feed(event)
        if why is not None:
            yield f"{_named(event)}: {why}"


@_invariant(
    "attempts", "no visit of a task has more attempts than its rule allows, lost workers apart"
)
def _attempts(found: Evidence) -> Iterator[str]:
    """No retry is scheduled once the rule's attempts are spent.

    Lost workers do not count, nor attempts that end in a wait of all calls to a dependency.
    """
    outcomes: dict[StepRunKey, int] = {}
    cooled: Counter[StepRunKey] = Counter()
    for event in found.log:
        if isinstance(event, e.TaskStarted) and event.attempt == 1:
            outcomes[key_of(event)] = cooled[key_of(event)] = 0
        elif isinstance(event, e.TaskProcessed):
            outcomes[key_of(event)] = outcomes.get(key_of(event), 0) + 1
        elif isinstance(event, e.TaskRetryScheduled) and event.cools:
            cooled[key_of(event)] += 1
            if event.retry_after_seconds is None:
                yield f"{_named(event)} counts no attempt, and nobody asked to wait"
        elif isinstance(event, e.TaskRetryScheduled):
            limit, is_shared = _limit(found.program, event)
            free = cooled[key_of(event)]
            spent = event.count if is_shared else outcomes.get(key_of(event), 0) - free
            if spent is None or spent >= limit:
                yield f"{_named(event)} retries after {spent} executions of {limit}"
            if event.attempt is not None and not is_shared and event.attempt - free > limit:
                yield f"{_named(event)} is attempt {event.attempt} of {limit}"


def _limit(program: Program, event: e.TaskRetryScheduled) -> tuple[int, bool]:
    """The attempts of the rule that matched, and whether visits of the step share them."""
    step = program.steps[event.step or ""]
    task = step.tasks[step.index_of[event.task or ""]]
    then = task.policy.rules[event.rule - 1].then
    if not isinstance(then, Retry):
        return 0, False
    attempts = then.attempts if isinstance(then.attempts, int) else event.attempts
    return attempts, then.budget is Budget.STEP


@_invariant("not-early", "no attempt starts before its not_before, by the clock")
def _not_early(found: Evidence) -> Iterator[str]:
    """Nothing starts before its moment, by the clock of whoever starts it."""
    due: dict[StepRunKey, int] = {}
    for event, clock in zip(found.log, _shown(found), strict=True):
        key = key_of(event)
        if isinstance(event, (e.TaskProcessed, e.TaskRetryScheduled, e.TaskRetryExhausted)):
            if event.not_before is not None:
                due[key] = event.not_before
        elif isinstance(event, e.WaitSkipped):
            due.pop(key, None)
        elif isinstance(event, e.TaskStarted) and clock < due.pop(key, clock):
            yield f"{_named(event)} came before its not_before"


@_invariant("one-key", "all calls of one visit of a task carry one key, other visits other keys")
def _one_key(found: Evidence) -> Iterator[str]:
    """One key for all executions of one visit of a task, and another for every other visit."""
    visits: dict[str, tuple[StepRunKey, str, int]] = {}
    keys: dict[tuple[StepRunKey, str, int], str] = {}
    given: dict[_Attempt, StartedCall] = {}
    for execution in found.ledger.executions:
        began = found.log[min(execution.started, len(found.log)) - 1]
        number = began.task_visit if isinstance(began, e.TaskStarted) else 0
        visit = (execution.key, execution.label, number)
        key, place = execution.idempotency_key, f"{_name(execution.key)}.{execution.label}"
        if keys.setdefault(visit, key) != key:
            yield f"{place} was called with the keys {keys[visit]} and {key} in one visit"
        if visits.setdefault(key, visit) != visit:
            yield f"{place} was called with the key {key} of another visit"
        first = given.setdefault((*visit, execution.attempt), execution)
        if first.inputs != execution.inputs:
            yield f"{place} was called again with other inputs after its worker was lost"


@_invariant("true-outcomes", "an outcome in the log is what the execution running reported, once")
def _true_outcomes(found: Evidence) -> Iterator[str]:
    """An outcome in the log is what that very execution reported."""
    told = {
        turn.before + 1: turn.started for turn in found.ledger.turns if turn.after > turn.before
    }
    reported = {execution.started: execution.outcome for execution in found.ledger.executions}
    for started, seq in _outcomes(found).items():
        event = found.log[seq - 1]
        if started not in reported or not isinstance(event, e.TaskProcessed):
            continue  # answered by a person or a signal, or not called for its inputs
        if told.get(seq) != started:
            yield f"{_named(event)} is not the outcome of the execution that was running"
        elif event.outcome != reported[started]:
            yield f"{_named(event)} has another outcome than was reported"


@_invariant(
    "end-is-last", "nothing starts or is written after the end of the run, and its result stays"
)
def _end_is_last(found: Evidence) -> Iterator[str]:
    """Nothing is written, and nothing begins, once the run has ended; its result stays."""
    ends = [event for event in found.log if isinstance(event, _ENDS)]
    if not ends:
        return
    if ends[0] is not found.log[-1]:
        yield f"{_named(found.log[-1])} came after the end of the run"
    for execution in found.ledger.executions:
        if execution.seen >= ends[0].seq:
            yield f"{_name(execution.key)}.{execution.label} was called after the end of the run"
    if found.state is None:
        return
    error = ends[0].error if isinstance(ends[0], e.RunFailed) else None
    if found.state.status not in FINAL or (error is not None and found.state.failure != error):
        yield "the run ended otherwise afterwards"


@_invariant("comes-to-an-end", "once faults stop, the run ends, or waits for someone outside")
def _comes_to_an_end(found: Evidence) -> Iterator[str]:
    """Once faults stop, the run ends, or waits for someone outside and for nothing else."""
    if found.is_endless:
        yield f"the run passed {len(found.log)} events and is still running"
        return
    if found.state is None or isinstance(found.log[-1], _ENDS):
        return
    waiting: dict[StepRunKey, bool] = {}
    for event in found.log:
        if isinstance(event, (e.HumanWaiting, e.SignalWaiting)):
            waiting[key_of(event)] = event.deadline is None
        elif key_of(event) in waiting:
            del waiting[key_of(event)]
    if found.state.status is not RunStatus.WAITING or not any(waiting.values()):
        yield f"the run is {found.state.status.value} and nothing will ever happen to it"


@_invariant("folds", "folding the log gives the state")
def _folds(found: Evidence) -> Iterator[str]:
    if found.state is None:
        return
    try:
        is_same = fold(found.log) == found.state
    except EngineBug as bug:
        yield f"the log cannot be folded: {bug}"
        return
    if not is_same:
        yield "the state that was played is not what the log folds to"


@_invariant("replays", "replaying the log gives the same log")
def _replays(found: Evidence) -> Iterator[str]:
    try:
        difference = replay(found.program, found.log)
    except EngineBug as bug:
        yield f"the log cannot be derived again: {bug}"
        return
    if difference is not None:
        yield f"derived again, the log differs at event {difference.seq}"


def _shown(found: Evidence) -> list[int]:
    """What the clock showed at each event."""
    shown: list[int] = []
    for turn in found.ledger.turns:
        shown.extend([turn.shown] * (turn.after - turn.before))
    return shown


def _outcomes(found: Evidence) -> dict[int, int]:
    """The event that processed each execution, both by their numbers."""
    started: dict[StepRunKey, int] = {}
    outcomes: dict[int, int] = {}
    for number, event in enumerate(found.log, 1):
        if isinstance(event, e.TaskStarted):
            started[key_of(event)] = number
        elif isinstance(event, e.TaskProcessed):
            outcomes[started.pop(key_of(event), 0)] = number
    return outcomes


def _processed(found: Evidence) -> dict[_Attempt, int]:
    """The event that processed each attempt, however many executions it took."""
    outcomes: dict[_Attempt, int] = {}
    for started, seq in _outcomes(found).items():
        began = found.log[started - 1]
        if isinstance(began, e.TaskStarted):
            outcomes.setdefault(_attempt(began), seq)
    return outcomes


def _attempt(began: e.TaskStarted) -> _Attempt:
    return key_of(began), began.task or "", began.task_visit, began.attempt or 0


def _name(key: StepRunKey) -> str:
    return key.step if key.iteration is None else f"{key.step}[{key.iteration}]"


def _named(event: e.Event) -> str:
    place = "" if event.step is None else f" of {_name(key_of(event))}"
    return f"event {event.seq} ({event.name}{place})"
