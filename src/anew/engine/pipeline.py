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
    """Call the tool once. Inputs belong to the log: a tool that changes them changes a copy.

    `started` goes back with the report. `idempotency_key` is the same for all attempts of one
    visit of the task, however many workers it takes.
    """

    key: Key
    task: Task
    inputs: Value
    attempt: int
    started: int
    idempotency_key: str


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
            case "fail":
                return Ended(run.key, run.error or error_of("failed", "the task failed"))
            case unknown:
                raise EngineBug(f"{run.key} has the directive {unknown!r}")

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
        run, recorder = self._run, self._recorder
        task = self._step.tasks[self._step.index_of[move.label]]
        # What a lost worker was given, the next one is given again: draws and moments included.
        inputs, rejected = (run.inputs, None) if run.is_lost else self._inputs(task, move)
        again = run.is_lost or move.attempt > 1
        event = TaskStarted(
            step=run.key.step,
            visit=run.key.visit,
            iteration=run.key.iteration,
            task=move.label,
            attempt=move.attempt,
            task_visit=run.task_visit if again else run.task_visit + 1,
            inputs=inputs,
            draws=recorder.taken_draws(),
        )
        recorder.emit(event)
        return rejected or Invoke(
            run.key, task, inputs, move.attempt, event.seq, self._idempotency_key()
        )

    def _inputs(self, task: Task, move: _Start) -> tuple[Value, Outcome | None]:
        """The rendered inputs, or the outcome of inputs that do not render."""
        run = self._run
        prev = run.last if move.attempt == 1 else run.prev
        names = {**task_names(run, move.label, move.attempt), "_prev": prev}
        scope = Scope(self._recorder, task.dialect, run=run, extra=names)
        try:
            return value_of(task.inputs, scope, f"inputs of {task.label}"), None
        except Rejected as failed:
            return None, outcome_of(error=failed.error)

    def _idempotency_key(self) -> str:
        key, parts = self._run.key, [self._recorder.state.run]
        parts += [key.step, str(key.visit), str(key.iteration or 0), str(self._run.task_visit)]
        return ":".join(parts)
