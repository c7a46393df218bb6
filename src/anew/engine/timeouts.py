"""When a step-run's time is up, and what is said of a call that gave no answer in time.

The same in a run and in a simulation. Names the limit that was set, never the time that was
measured. Knows no clock.
"""

from __future__ import annotations

from anew.engine.moments import NANOSECONDS
from anew.engine.outcome import error_of
from anew.engine.state import StepRun
from anew.program.kind import OutcomeSource
from anew.program.kinds import kind_named
from anew.program.program import Step
from anew.values import Object


def deadline_of(step: Step, run: StepRun) -> int | None:
    """The moment at which a step-run's time is up, whatever it is doing."""
    if step.deadline_seconds is None:
        return None
    return run.began_at + int(step.deadline_seconds * NANOSECONDS)


def timed_out(kind: str, step: Step, *, own_seconds: float | None) -> Object:
    """The error of a call that its own limit ended; with None it was the step's deadline."""
    is_child = kind_named(kind).outcome_from is OutcomeSource.CHILD
    who = "the child run" if is_child else kind
    if own_seconds is not None:
        return error_of("timeout", f"{who} gave no answer within {own_seconds:g} s")
    deadline = f"the step's deadline of {step.deadline_seconds:g} s (lifecycle.timeout_s)"
    return error_of("timeout", f"{who} gave no answer before {deadline}")
