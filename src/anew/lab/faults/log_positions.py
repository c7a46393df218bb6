"""Where each step-run of a log stands, read off the log alone: which execution may begin next.

The auditor's own idea of a pipeline. Knows the order of a step's tasks, and what each directive
says about the next one; nothing of rules, delays or routes.
"""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from anew.engine import events as e
from anew.engine.state import StepRunKey, key_of
from anew.program.policy import DirectiveKind
from anew.program.program import Program, Step

_STEP_ENDS = (e.StepDone, e.StepFailed, e.StepSkipped, e.LoopDone)
_ITERATION_ENDS = (e.LoopIterationDone, e.LoopIterationFailed)


class _Next(Struct, frozen=True):
    """The execution that may begin: this task, attempt and visit of the task."""

    task: str
    attempt: int
    task_visit: int


class _Standing(Struct):
    """`at_work` is what executes, `may` what may begin next, if anything may."""

    may: _Next | None
    at_work: _Next | None = None
    last: _Next | None = None


class Passage:
    """Follows the step-runs of one log."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._standing: dict[StepRunKey, _Standing] = {}
        self._ended: set[StepRunKey] = set()

    def feed(self, event: e.Event) -> str | None:
        """Why this event must not come here; None when it may."""
        match event:
            case e.TaskStarted():
                return self._started(event)
            case e.TaskProcessed():
                return self._processed(event)
            case e.TaskRetryScheduled() | e.TaskRetryExhausted() | e.StepRedelivered():
                return self._moved(event)
            case _:
                if isinstance(event, (*_STEP_ENDS, *_ITERATION_ENDS)):
                    self._ended.add(key_of(event))
                return None

    def _started(self, event: e.TaskStarted) -> str | None:
        key = key_of(event)
        if key in self._ended:
            return "the step-run has ended"
        began = _Next(event.task or "", event.attempt or 0, event.task_visit)
        standing = self._standing.get(key)
        if standing is None:
            first = _Next(self._program.steps[key.step].tasks[0].label, 1, 1)
            standing = self._standing[key] = _Standing(may=first)
        may, standing.may, standing.at_work = standing.may, None, began
        if may is None:
            return "nothing may start here"
        return None if may == began else f"{may.task} attempt {may.attempt} had to come"

    def _processed(self, event: e.TaskProcessed) -> str | None:
        standing = self._standing.get(key_of(event))
        if standing is None or standing.at_work is None:
            return "no execution is running"
        if standing.at_work.task != event.task or standing.at_work.attempt != event.attempt:
            return f"{standing.at_work.task} attempt {standing.at_work.attempt} is running"
        standing.last, standing.at_work = standing.at_work, None
        self._follow(standing, key_of(event), event.directive, event.to)
        return None

    def _moved(
        self, event: e.TaskRetryScheduled | e.TaskRetryExhausted | e.StepRedelivered
    ) -> str | None:
        standing = self._standing.get(key_of(event))
        if standing is None:
            return "the step-run has not started"
        if isinstance(event, e.StepRedelivered):
            if standing.at_work is None:
                return "no execution is running"
            # The very same execution again: a lost worker is not the author's failure.
            standing.may, standing.at_work = standing.at_work, None
        elif isinstance(event, e.TaskRetryExhausted):
            self._follow(standing, key_of(event), event.directive, event.to)
        elif event.to is not None:
            standing.may = None  # the next execution comes by way of another step
        return None

    def _follow(
        self, standing: _Standing, key: StepRunKey, directive: DirectiveKind, to: str | None
    ) -> None:
        assert standing.last is not None
        last, step = standing.last, self._program.steps[key.step]
        match directive:
            case DirectiveKind.CONTINUE:
                standing.may = _in_line(step, last)
            case DirectiveKind.RETRY:
                standing.may = _Next(last.task, last.attempt + 1, last.task_visit)
            case DirectiveKind.JUMP:
                standing.may = _Next(to or "", 1, last.task_visit + 1)
            case DirectiveKind.BREAK | DirectiveKind.FAIL:
                standing.may = None
            case _:
                assert_never(directive)


def _in_line(step: Step, last: _Next) -> _Next | None:
    index = step.index_of[last.task] + 1
    return (
        _Next(step.tasks[index].label, 1, last.task_visit + 1) if index < len(step.tasks) else None
    )
