"""Find where a run may be forked: where a log may be cut so that the run resumes from there.

A decision writes several events; between two of them the state does not tell what was to follow.
Such a cut is moved to where nothing is half said: no outcome is lost by that, since what follows
from an outcome can be decided again. Knows logs and states. Knows no program.
"""

from __future__ import annotations

from collections.abc import Sequence

from anew.engine import events as e
from anew.engine.events.words import RouteReason
from anew.engine.fold import evolve
from anew.engine.state import LoopVisit, RunState, StepRun, StepRunStatus
from anew.program.policy import DirectiveKind

# What follows these is written in the same breath, and reads what the state does not hold.
_HALVES = (e.RunRequested, e.StepStarted, e.StepDone, e.LoopDone, e.HumanTimedOut, e.SignalTimedOut)


def fork_point(log: Sequence[e.Event], at: int) -> int:
    """How many events to share so that a run goes on from event `at`, or from just before it.

    0 where nothing has begun by then.
    """
    state, found, before = RunState(), 0, None
    for event in log[: _with_its_retry(log, at)]:
        evolve(state, event)
        if is_fork_point(state, event, before):
            found = event.seq
        before = event
    return found


def is_fork_point(state: RunState, event: e.Event, before: e.Event | None = None) -> bool:
    """Whether the state after `event`, which followed `before`, tells all that is to follow."""
    match event:
        case e.StepFailed():
            # An arc that could not be evaluated is told before the failure it is.
            return isinstance(before, e.NextEvaluated) and _is_refused(before)
        case e.NextEvaluated():
            is_over = (event.step, event.visit) not in state.active
            is_whole = event.reason != RouteReason.FORK and len(event.tokens) <= 1
            withdraws = event.event == "step.failed" and not event.tokens
            return is_over and is_whole and not (withdraws and _has_unbegun(state))
        case e.StepSkipped():
            return event.visit is None or not _has_unbegun(state)
        case e.BranchJoined():
            return event.fork is not None and event.visit is None
        case e.GateChecked():
            return not event.allow and event.visit is None
        case e.LoopStarted() | e.LoopIterationDone() | e.LoopIterationFailed():
            visit = state.active.get((event.step or "", event.visit or 0))
            return isinstance(visit, LoopVisit) and bool(visit.open)
        case e.TaskProcessed():
            return event.directive != DirectiveKind.RETRY
        case _:
            return not isinstance(event, _HALVES)


def _has_unbegun(state: RunState) -> bool:
    """Whether there is what a failure that nothing takes would take back in the same breath."""
    visits = state.active.values()
    return any(isinstance(v, StepRun) and v.status is StepRunStatus.SCHEDULED for v in visits)


def _is_refused(event: e.NextEvaluated) -> bool:
    return event.error is not None and not event.fails_run


def _with_its_retry(log: Sequence[e.Event], at: int) -> int:
    """When to execute again is decided with the outcome: both are shared, or it is not known."""
    is_half = 0 < at < len(log) and not _is_settled(log[at - 1])
    return at + 1 if is_half else at


def _is_settled(event: e.Event) -> bool:
    return not isinstance(event, e.TaskProcessed) or event.directive != DirectiveKind.RETRY
