"""Derive every decision of a log again from what came from outside, and compare.

From outside come the request, the outcomes, the moments and the random numbers. Everything else
must follow from them and the program, event for event.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from anew.engine import events as e
from anew.engine.decide import Boundary, Due, Lost, Reported, Requested, Taken, decide
from anew.engine.record import Moment
from anew.engine.state import Key, RunState, StepRunStatus
from anew.errors import EngineBug
from anew.program.program import Program


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
        draws = _draws(log[position:])
        moment = Moment(first.at, lambda draws=draws: next(draws))  # type: ignore[misc]
        transition = decide(program, state, _boundary(state, first), moment)
        for derived in transition.events:
            recorded = log[position] if position < len(log) else None
            if recorded != derived:
                return Difference(derived.seq, recorded, derived)
            position += 1
    return None


def _boundary(state: RunState, first: e.Event) -> Boundary:
    """What must have happened outside for `first` to open a transition."""
    if isinstance(first, e.RunRequested):
        return Requested(first.run, first.workload)
    key = Key(first.step or "", first.visit or 0, first.iteration)
    match first:
        case e.StepStarted():
            return Taken(key)
        case e.TaskStarted():
            run = state.step_run(key)
            is_new = run is not None and run.status is StepRunStatus.SCHEDULED
            return Taken(key) if is_new else Due(key)
        case e.TaskProcessed():
            return Reported(key, first.outcome)
        case e.StepRedelivered() | e.StepFailed() | e.LoopIterationFailed():
            return Lost(key)
        case _:
            raise EngineBug(f"{first.name} (seq {first.seq}) does not begin a transition")


def _draws(log: Sequence[e.Event]) -> Iterator[float]:
    for event in log:
        match event:
            case e.TaskRetryScheduled():
                if event.draw is not None:
                    yield event.draw
            case (
                e.TaskStarted()
                | e.TaskProcessed()
                | e.TaskRetryExhausted()
                | e.LoopStarted()
                | e.NextEvaluated()
                | e.GateChecked()
            ):
                yield from event.draws
            case _:
                continue
