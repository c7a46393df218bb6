"""Where in a log a retry begins: before the step whose failure it was, or one that someone names.

Reads a log and its program, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from anew.engine import events as e
from anew.errors import ConfigError
from anew.program.program import Program
from anew.runtime.damage import folded
from anew.store import RunId


def step_to_retry(log: Sequence[e.Event], run: RunId, program: Program) -> str:
    """The step whose failure the run failed from, not one that only dealt with it."""
    cause = folded(run, log).cause
    return _failed_step(log, run, program) if cause is None else cause.step


def _failed_step(log: Sequence[e.Event], run: RunId, program: Program) -> str:
    """The step that failed the run, or where the gate that did would have sent it once more."""
    for event in log:
        if isinstance(event, e.StepFailed) and event.fails_run and event.step:
            return event.step
    for event in reversed(log):
        if isinstance(event, e.GateChecked) and event.gate is not None:
            step = program.steps.get(event.gate)
            gate = None if step is None else step.gate
            return (gate.to if gate else None) or event.gate
    raise ConfigError(f"no step of run {run} failed. Name the step to retry from.")


def events_before(
    log: Sequence[e.Event], run: RunId, program: Program, *, step: str, visit: int | None = None
) -> int:
    """How many events come before a visit of a step, the latest unless one is named."""
    for index in range(len(log) - 1, -1, -1):
        event = log[index]
        is_it = isinstance(event, e.StepScheduled) and event.step == step
        if is_it and visit in (None, event.visit):
            return index
    if step not in program.steps:
        known = ", ".join(program.steps)
        raise ConfigError(f"the program has no step {step!r}; it has {known}.")
    which = f"step {step!r}" if visit is None else f"visit {visit} of step {step!r}"
    raise ConfigError(f"run {run} has not reached {which}.")
