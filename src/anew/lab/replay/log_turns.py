"""What must have happened outside for an event to begin a transition, and what chance then drew.

Reads the log alone: of whatever an engine decides from, this is the part nobody can derive.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from anew.engine import events as e
from anew.engine.boundaries import (
    Answered,
    Boundary,
    Cancelled,
    Due,
    Lost,
    Paused,
    Reported,
    Requested,
    Resumed,
    Signalled,
    Skipped,
    Taken,
)
from anew.engine.decide import Transition
from anew.engine.fold import evolve
from anew.engine.state import RunState, StepRunStatus, key_of

_TAKEN = (StepRunStatus.SCHEDULED, StepRunStatus.READY)
# Nothing of these can follow from anything else.
_FROM_OUTSIDE = (*(Requested, Reported, Answered, Signalled, Skipped, Paused, Resumed, Cancelled),)


class LogTurn(Struct, frozen=True):
    """One decision of a log: what happened, when, and what followed from it."""

    boundary: Boundary
    at: int
    transition: Transition


def happened(state: RunState, first: e.Event) -> Boundary | None:
    """What `first` answers to in this state; None when it can begin no transition."""
    match first:
        case e.RunRequested():
            return Requested(
                first.run,
                first.workload,
                first.file,
                entry=first.entry,
                continues=first.continues,
                generation=first.generation,
            )
        # Once everything is undone the run ends by itself; somebody may have lost patience before.
        case e.RunCancelled() if state.compensation is None or state.active:
            return Cancelled(first.reason)
        case e.RunCompensating() if first.is_cancelled:
            return Cancelled(first.reason)
        case e.RunPaused():
            return Paused(first.reason, first.shared_with, first.decided_by, first.later_by)
        case e.RunResumed():
            return Resumed()
        case e.SignalReceived() if first.kept is None:
            return Signalled(first.signal, first.payload, first.id, first.by)
        case _:
            return _happened_to_step_run(state, first)


def _happened_to_step_run(state: RunState, first: e.Event) -> Boundary | None:
    key = key_of(first)
    run = state.step_run(key)
    if run is None:
        return None
    if isinstance(first, e.HumanAnswered):
        return Answered(key, first.answer, first.by)
    if isinstance(first, e.WaitSkipped):
        # Waits that were ended together are ended one after the other: nothing else follows.
        return Skipped((key,), first.by)
    # What a person's answer gives is derived; only what was at work reports an outcome.
    if isinstance(first, e.TaskProcessed) and run.status is StepRunStatus.EXECUTING:
        return Reported(key, first.outcome, run.started_seq)
    if isinstance(first, e.StepRedelivered):
        return Lost(key, was_handed_back=first.delivery == run.deliveries)
    # Everything else follows from the step-run's own turn, or from the loss of its worker.
    if run.status is StepRunStatus.EXECUTING:
        return Lost(key)
    return Taken(key) if run.status in _TAKEN else Due(key)


def recorded_turns(log: Sequence[e.Event]) -> Iterator[LogTurn]:
    """The decisions of a log that nobody can derive, as far as the log alone tells them apart.

    Where two decisions of one moment follow each other, the second may be told with the first.
    """
    state = RunState()
    begin, boundary = 0, None
    for position, event in enumerate(log):
        found = _started_by(state, event, log[position - 1] if position else None)
        if found is not None:
            if boundary is not None:
                yield _turn(boundary, log[begin:position])
            begin, boundary = position, found
        evolve(state, event)
    if boundary is not None:
        yield _turn(boundary, log[begin:])


def _started_by(state: RunState, event: e.Event, before: e.Event | None) -> Boundary | None:
    """What happened when this event is the first of a decision, which has one moment."""
    found = happened(state, event)
    is_first = before is None or before.at != event.at
    is_told = isinstance(found, _FROM_OUTSIDE) or isinstance(event, e.StepRedelivered)
    return found if is_first or is_told else None


def _turn(boundary: Boundary, events: Sequence[e.Event]) -> LogTurn:
    return LogTurn(boundary, events[0].at, Transition(list(events), [], None))


def drawn_by(event: e.Event) -> Sequence[float]:
    """The random numbers an event was decided with, in the order they were drawn."""
    if isinstance(event, e.TaskRetryScheduled):
        return () if event.draw is None else (event.draw,)
    return getattr(event, "draws", ())


class Draws:
    """The random numbers of a log from one position on, in the order they were drawn."""

    def __init__(self, log: Sequence[e.Event], position: int) -> None:
        self._drawn = self._from(log, position)

    def __call__(self) -> float:
        # A log that has no number left differs anyway, and the comparison says where.
        return next(self._drawn, 0.0)

    @staticmethod
    def _from(log: Sequence[e.Event], position: int) -> Iterator[float]:
        for index in range(position, len(log)):
            yield from drawn_by(log[index])
