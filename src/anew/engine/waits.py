"""Tell which step-runs wait for a moment, and when that comes: what a person may bring forward.

The delay of a retry or of a jump is in the state; the end of a `sleep` follows from its inputs and
its logged start. Waits for people, signals and children are not for a moment, and not in here.
Knows programs and states. Knows no clock.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from anew.engine.events.words import SkippedWait
from anew.engine.moments import LAST_MOMENT, NANOSECONDS, moment_of
from anew.engine.outcome import wait_seconds
from anew.engine.state import RunState, StepRun, StepRunStatus
from anew.engine.timeouts import deadline_of
from anew.program.kind import OutcomeSource
from anew.program.program import Program
from anew.values import Value


class MomentWait(Struct, frozen=True):
    """A step-run waits until a moment (None: the log does not tell which) for one of three."""

    run: StepRun
    waited_for: SkippedWait
    until: int | None


def moment_waits(program: Program, state: RunState, now: int) -> list[MomentWait]:
    """Every wait of a run for a moment that has not come."""
    found = (moment_wait(program, run, now) for run in state.live_step_runs())
    return [wait for wait in found if wait is not None]


def moment_wait(program: Program, run: StepRun, now: int) -> MomentWait | None:
    """What a step-run waits for, if that is a moment and neither it nor its deadline has come."""
    wait = _wait_of(program, run)
    if wait is None:
        return None
    deadline = deadline_of(program.steps[run.key.step], run)
    is_over = any(end is not None and end <= now for end in (wait.until, deadline))
    return None if is_over else wait


def _wait_of(program: Program, run: StepRun) -> MomentWait | None:
    match run.status:
        case StepRunStatus.DELAYED if run.resume_at is not None:
            return MomentWait(run, SkippedWait.RETRY, run.resume_at)
        case StepRunStatus.DECIDED if run.resume_at is not None:
            return MomentWait(run, SkippedWait.JUMP, run.resume_at)
        case StepRunStatus.EXECUTING if run.skipped_at is None and _sleeps(program, run):
            inputs = run.inputs if isinstance(run.inputs, Mapping) else {}
            return MomentWait(run, SkippedWait.SLEEP, sleep_end(inputs, run.asked_at))
        case _:
            return None


def _sleeps(program: Program, run: StepRun) -> bool:
    step = program.steps[run.key.step]
    assert run.task is not None
    task = step.tasks[step.index_of[run.task]]
    tool = task if run.workbook is None else program.workbook[run.workbook]
    return tool.outcome_from is OutcomeSource.CLOCK


def sleep_end(inputs: Mapping[str, Value], asked_at: int) -> int | None:
    """When a `sleep` that was first started at `asked_at` ends; None when its inputs say none."""
    seconds, until = inputs.get("seconds"), inputs.get("until")
    if seconds is None:
        return moment_of(until) if isinstance(until, str) else None
    wait = wait_seconds(seconds, asked_at)
    if wait is None or wait < 0:
        return None
    return min(asked_at + int(wait * NANOSECONDS), LAST_MOMENT)
