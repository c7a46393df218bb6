"""Derive every decision of a log again from what came from outside, and compare.

From outside come the request, the outcomes, the moments and the random numbers. Everything else
must follow from them and the program, event for event.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from anew.engine import events as e
from anew.engine.decide import (
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
    Taken,
    decide,
)
from anew.engine.fold import fold
from anew.engine.record import Moment
from anew.engine.state import Key, RunState, StepRunStatus
from anew.errors import EngineBug
from anew.program.program import Program

_TAKEN = (StepRunStatus.SCHEDULED, StepRunStatus.READY)


class Difference(Struct, frozen=True):
    """The first place where the log and the engine disagree."""

    seq: int
    recorded: e.Event | None
    derived: e.Event | None


def replay(program: Program, log: Sequence[e.Event]) -> Difference | None:
    """None when the engine derives exactly this log."""
    state = RunState()
    position = 0
    while position < len(log):
        first = log[position]
        moment = Moment(first.at, _Draws(log, position))
        transition = decide(program, state, _boundary(state, first), moment)
        if not transition.events:
            return Difference(first.seq, first, None)
        for derived in transition.events:
            recorded = log[position] if position < len(log) else None
            if recorded != derived and _is_cut(recorded):
                # The beginning of another log may end in the middle of a transition.
                state = fold(log[:position])
                break
            if recorded != derived:
                return Difference(derived.seq, recorded, derived)
            position += 1
    return None


def _is_cut(event: e.Event | None) -> bool:
    """Whether this is where a log that shares another's beginning goes its own way."""
    return isinstance(event, e.RunPaused) and event.shared_with is not None


def _boundary(state: RunState, first: e.Event) -> Boundary:
    """What must have happened outside for `first` to open a transition."""
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
        case e.RunCancelled():
            return Cancelled(first.reason)
        case e.RunPaused():
            return Paused(first.reason, first.shared_with)
        case e.RunResumed():
            return Resumed()
        case e.SignalReceived() if first.kept is None:
            return Signalled(first.signal, first.payload, first.id, first.by)
        case _:
            return _boundary_of_step_run(state, first)


def _boundary_of_step_run(state: RunState, first: e.Event) -> Boundary:
    key = Key(first.step or "", first.visit or 0, first.iteration)
    run = state.step_run(key)
    if run is None:
        raise EngineBug(f"{first.name} (seq {first.seq}) does not begin a transition")
    if isinstance(first, e.HumanAnswered):
        return Answered(key, first.answer, first.by)
    # What a person's answer gives is derived; only what was at work reports an outcome.
    if isinstance(first, e.TaskProcessed) and run.status is StepRunStatus.EXECUTING:
        return Reported(key, first.outcome, run.started_seq)
    if isinstance(first, e.StepRedelivered):
        return Lost(key, was_handed_back=first.delivery == run.deliveries)
    # Everything else follows from the step-run's own turn, or from the loss of its worker.
    if run.status is StepRunStatus.EXECUTING:
        return Lost(key)
    return Taken(key) if run.status in _TAKEN else Due(key)


class _Draws:
    """The random numbers of a log from one position on, in the order they were drawn."""

    def __init__(self, log: Sequence[e.Event], position: int) -> None:
        self._drawn = self._from(log, position)

    def __call__(self) -> float:
        # A log that has no number left differs anyway, and the comparison says where.
        return next(self._drawn, 0.0)

    @staticmethod
    def _from(log: Sequence[e.Event], position: int) -> Iterator[float]:
        for index in range(position, len(log)):
            event = log[index]
            if isinstance(event, e.TaskRetryScheduled):
                yield from () if event.draw is None else (event.draw,)
            else:
                yield from getattr(event, "draws", ())
