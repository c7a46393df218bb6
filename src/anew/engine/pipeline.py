"""Interpret one step-run: ask for tasks and waits, take outcomes, say how it ended.

Every next move is derived from the folded step-run, so that a step-run taken up after a crash goes
on exactly as it would have. Never sleeps and never calls a tool.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from anew.engine.events import StepStarted, TaskStarted
from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.engine.policy import judge
from anew.engine.record import Recorder
from anew.engine.render import Rejected, value_of
from anew.engine.scope import Scope, task_names
from anew.engine.state import Key, StepRun, StepRunStatus
from anew.errors import EngineBug
from anew.program.program import Step, Task
from anew.values import Object, Value


class Invoke(Struct, frozen=True):
    """Call the tool once, with these inputs."""

    key: Key
    task: Task
    inputs: Value
    attempt: int


class Wait(Struct, frozen=True):
    """Come back at `until`."""

    key: Key
    until: int


class Ended(Struct, frozen=True):
    """The step-run is over; `error` is None when it ended well."""

    key: Key
    error: Object | None


Ask: TypeAlias = Invoke | Wait | Ended


class _Start(Struct, frozen=True):
    label: str
    attempt: int


class Pipeline:
    """The interpreter of one step-run, for one transition."""

    def __init__(self, recorder: Recorder, key: Key) -> None:
        run = recorder.state.step_run(key)
        if run is None:
            raise EngineBug(f"{key} is not live")
        self._recorder = recorder
        self._run: StepRun = run
        self._step: Step = recorder.program.steps[key.step]

    def begin(self) -> Ask:
        """A worker took the step-run, for the first time or after another one was lost."""
        key = self._run.key
        if key.iteration is None and self._run.status is StepRunStatus.SCHEDULED:
            self._recorder.emit(StepStarted(step=key.step, visit=key.visit))
        return self._go_on()

    def wake(self) -> Ask:
        """The wait is over."""
        return self._go_on()

    def report(self, outcome: Outcome) -> Ask:
        """The task that was asked for gave this outcome."""
        self._judge(outcome)
        return self._go_on()

    def _judge(self, outcome: Outcome) -> None:
        assert self._run.task is not None
        task = self._step.tasks[self._step.index_of[self._run.task]]
        judge(self._recorder, self._run, task, outcome)

    def _go_on(self) -> Ask:
        """Move until something outside is needed. Inputs that do not render are outcomes too."""
        while True:
            move = self._next_move()
            if isinstance(move, Ended):
                return move
            due = self._run.resume_at
            if due is not None and due > self._recorder.moment.now:
                return Wait(self._run.key, due)
            asked = self._start(move)
            if isinstance(asked, Invoke):
                return asked
            self._judge(asked)

    def _next_move(self) -> _Start | Ended:
        run, tasks = self._run, self._step.tasks
        if run.is_lost:
            assert run.task is not None
            return _Start(run.task, run.attempt)
        match run.directive:
            case None:
                return self._bounded(_Start(tasks[0].label, 1))
            case "retry":
                assert run.task is not None
                return self._bounded(_Start(run.task, run.attempt + 1))
            case "jump":
                assert run.to is not None
                return self._bounded(_Start(run.to, 1))
            case "continue":
                assert run.task is not None
                following = self._step.index_of[run.task] + 1
                if following < len(tasks):
                    return self._bounded(_Start(tasks[following].label, 1))
                return Ended(run.key, None)
            case "break":
                return Ended(run.key, None)
            case _:
                return Ended(run.key, run.error)

    def _bounded(self, move: _Start) -> _Start | Ended:
        limit = self._recorder.program.limits.tasks_per_step_run
        if self._run.executions < limit:
            return move
        most = max(self._run.executions_of.values())
        cycle = [label for label, times in self._run.executions_of.items() if times * 2 > most]
        message = (
            f"the step-run executed {limit} tasks, its limit (tasks_per_step_run); "
            f"these labels cycle: {', '.join(cycle)}"
        )
        return Ended(self._run.key, error_of("limit_exceeded", message))

    def _start(self, move: _Start) -> Invoke | Outcome:
        task = self._step.tasks[self._step.index_of[move.label]]
        run, recorder = self._run, self._recorder
        prev = run.last if move.attempt == 1 else run.prev
        names = {**task_names(run, move.label, move.attempt), "_prev": prev}
        scope = Scope(recorder, task.dialect, run=run, extra=names)
        inputs, rejected = None, None
        try:
            inputs = value_of(task.inputs, scope, f"inputs of {task.label}")
        except Rejected as failed:
            rejected = outcome_of(error=failed.error)
        recorder.emit(
            TaskStarted(
                step=run.key.step,
                visit=run.key.visit,
                iteration=run.key.iteration,
                task=move.label,
                attempt=move.attempt,
                inputs=inputs,
                draws=recorder.taken_draws(),
            )
        )
        return rejected or Invoke(run.key, task, inputs, move.attempt)
