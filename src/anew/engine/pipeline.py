"""Interpret one step-run: ask for tasks and waits, take outcomes, say how it ended.

Every next move is derived from the folded step-run, so that a step-run taken up after a crash goes
on exactly as it would have. Never sleeps and never calls a tool.
"""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from anew.engine.branches import failure_of
from anew.engine.events import (
    HumanTimedOut,
    HumanWaiting,
    SignalReceived,
    SignalTimedOut,
    SignalWaiting,
    StepStarted,
    TaskStarted,
)
from anew.engine.guarding import CallGuards
from anew.engine.held_calls import FREE, Admitted, LooksAgain, NextCall, admitted
from anew.engine.moments import LAST_MOMENT
from anew.engine.next_actions import Ended, Invoke, NextAction, Wait, asked_of, idempotency_key
from anew.engine.outcome import Outcome, error_of, outcome_of
from anew.engine.policy import apply_policy
from anew.engine.questions import asked_by, outcome_of_answer, outcome_of_silence
from anew.engine.record import Recorder
from anew.engine.relay import relayed
from anew.engine.render import Rejected, is_settled, value_of
from anew.engine.scope import RunScope, task_names
from anew.engine.signals import (
    awaited_by,
    oldest_kept,
    outcome_of_no_signal,
    outcome_of_signal,
)
from anew.engine.state import (
    FOR_OTHERS,
    AwaitedSignal,
    Question,
    RunStatus,
    StepRun,
    StepRunKey,
    StepRunStatus,
    place_of,
)
from anew.engine.timeouts import deadline_of
from anew.errors import EngineBug
from anew.expressions import MappingScope
from anew.program.kind import OutcomeSource
from anew.program.kinds import kind_named
from anew.program.policy import DirectiveKind
from anew.program.program import Step, Task
from anew.values import Object, Value

_NO_NAMES = MappingScope({})
# Every step-run asks for these, and Python 3.11 is slow to find a member in its enum.
_SCHEDULED = StepRunStatus.SCHEDULED
_ANSWERED = StepRunStatus.ANSWERED
_PAUSED = RunStatus.PAUSED


class _Start(Struct, frozen=True):
    label: str
    attempt: int


class _Leave(Struct, frozen=True):
    """The next execution comes by way of this step."""

    to: str


class _Rendered(Struct, frozen=True):
    """The inputs of one execution; `workbook` names the task of that book they are for."""

    inputs: Value
    workbook: str | None = None


class Pipeline:
    """The interpreter of one step-run, for one transition."""

    def __init__(self, recorder: Recorder, key: StepRunKey) -> None:
        run = recorder.state.step_run(key)
        if run is None:
            raise EngineBug(f"{key} is not live")
        self._recorder = recorder
        self._run: StepRun = run
        self._step: Step = recorder.program.steps[key.step]

    def begin(self) -> NextAction | None:
        """A worker took the step-run, for the first time or after another one was lost."""
        key = self._run.key
        if key.iteration is None and self._run.status is _SCHEDULED:
            self._recorder.emit(StepStarted(step=key.step, visit=key.visit))
        return self._go_on()

    def wake(self) -> NextAction | None:
        """The wait is over."""
        return self._go_on()

    def report(self, outcome: Outcome) -> NextAction | None:
        """The task that was asked for gave this outcome."""
        self._judge(outcome)
        return self._go_on()

    def _judge(self, outcome: Outcome) -> None:
        assert self._run.task is not None
        task = self._step.tasks[self._step.index_of[self._run.task]]
        apply_policy(self._recorder, self._run, task, outcome)

    def _go_on(self) -> NextAction | None:
        """Move until something outside is needed. Inputs that do not render are outcomes too."""
        deadline = self._deadline()
        if self._run.status in FOR_OTHERS or self._run.status is _ANSWERED:
            waits = self._hear(deadline)
            if waits is not None:
                return waits
        while True:
            move = self._next_move()
            if type(move) is Ended:
                return move
            if deadline is not None and deadline <= self._recorder.moment.now:
                return self._too_late()
            due = self._run.resume_at
            if due is not None and due > self._recorder.moment.now:
                return Wait(self._run.key, due if deadline is None else min(due, deadline))
            if self._recorder.state.status is _PAUSED:
                return None
            if not isinstance(move, _Start):
                error = self._run.error or error_of("failed", "the task is retried elsewhere")
                return Ended(self._run.key, error, move.to)
            asked = self._start(move)
            if isinstance(asked, (Invoke, Wait)):
                return asked
            self._judge(asked)

    def _hear(self, deadline: int | None) -> Wait | Ended | None:
        """Take what others said, or their silence; what to do while neither is there."""
        run, now = self._run, self._recorder.moment.now
        if run.status is StepRunStatus.ANSWERED:
            self._judge(self._said())
            return None
        if deadline is not None and deadline <= now:
            return self._too_late()
        if run.resume_at is None or run.resume_at > now:
            return self._waits_for_others()
        self._judge(self._silence())
        return None

    def _said(self) -> Outcome:
        run = self._run
        if run.awaited is not None:
            return outcome_of_signal(run.payload)
        return outcome_of_answer(run.answer or "", run.chosen, run.answered_by)

    def _silence(self) -> Outcome:
        """What it amounts to that nobody answered, or that the signal did not come."""
        run = self._run
        if run.awaited is not None:
            awaited = run.awaited
            self._recorder.emit(SignalTimedOut(**place_of(self._run), signal=awaited.signal))
            return outcome_of_no_signal(awaited, run.asked_at)
        asked = run.question
        assert asked is not None
        outcome, label = outcome_of_silence(asked, run.asked_at)
        self._recorder.emit(HumanTimedOut(**place_of(self._run), action=asked.action, label=label))
        return outcome

    def _waits_for_others(self) -> Wait:
        run = self._run
        ends = [at for at in (run.resume_at, self._deadline()) if at is not None]
        return Wait(
            run.key,
            min(ends, default=LAST_MOMENT),
            for_person=run.status is StepRunStatus.ASKING,
            for_signal=run.status is StepRunStatus.AWAITING,
        )

    def _deadline(self) -> int | None:
        return deadline_of(self._step, self._run)

    def _too_late(self) -> Ended:
        seconds = self._step.deadline_seconds
        message = f"the step passed its deadline of {seconds:g} s (lifecycle.timeout_s)"
        return Ended(self._run.key, error_of("timeout", message))

    def _next_move(self) -> _Start | _Leave | Ended:
        run, tasks = self._run, self._step.tasks
        if run.is_lost:
            assert run.task is not None
            return _Start(run.task, run.attempt)
        match run.directive:
            case None:
                return self._bounded(_Start(tasks[0].label, 1))
            case DirectiveKind.RETRY if run.redirect is not None:
                return _Leave(run.redirect)
            case DirectiveKind.RETRY:
                assert run.task is not None
                return self._bounded(_Start(run.task, run.attempt + 1))
            case DirectiveKind.JUMP:
                assert run.to is not None
                return self._bounded(_Start(run.to, 1))
            case DirectiveKind.CONTINUE:
                assert run.task is not None
                following = self._step.index_of[run.task] + 1
                if following < len(tasks):
                    return self._bounded(_Start(tasks[following].label, 1))
                return Ended(run.key, None)
            case DirectiveKind.BREAK:
                return Ended(run.key, None)
            case DirectiveKind.FAIL:
                return Ended(run.key, run.error or error_of("failed", "the task failed"))
            case _:
                assert_never(run.directive)

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

    def _start(self, move: _Start) -> Invoke | Wait | Outcome:
        run, recorder = self._run, self._recorder
        task = self._step.tasks[self._step.index_of[move.label]]
        again = run.is_lost or move.attempt > 1
        visit = run.task_visit if again else run.task_visit + 1
        rendered: _Rendered | Outcome
        if run.is_lost and run.inputs is not None:
            # What a lost worker was given, the next one is given again: draws and moments included.
            rendered = _Rendered(run.inputs, run.workbook)
        else:
            rendered = self._refused(move) or self._inputs(task, move, visit)
        admission = FREE
        if recorder.moment.guards is not None and isinstance(rendered, _Rendered):
            answer = self._admitted(recorder.moment.guards, task, move, visit, rendered)
            if isinstance(answer, LooksAgain):
                return self._held_until(answer.at)
            if isinstance(answer, Admitted):
                admission = answer
            else:
                rendered = answer
        is_rendered = isinstance(rendered, _Rendered)
        recorder.emit(
            TaskStarted(
                step=run.key.step,
                visit=run.key.visit,
                iteration=run.key.iteration,
                task=move.label,
                attempt=move.attempt,
                task_visit=visit,
                inputs=rendered.inputs if is_rendered else None,  # type: ignore[union-attr]
                workbook=rendered.workbook if is_rendered else None,  # type: ignore[union-attr]
                warnings=recorder.taken_warnings(),
                draws=recorder.taken_draws(),
                dependency=admission.dependency,
                scopes=admission.scopes,
                reason=admission.reason,
                paid=admission.paid or None,
            )
        )
        if not isinstance(rendered, _Rendered):
            return rendered
        match task.outcome_from:
            case OutcomeSource.RELAY:
                return relayed(rendered.inputs)
            case OutcomeSource.PERSON:
                return self._ask_person(rendered.inputs)
            case OutcomeSource.SIGNAL:
                return self._await_signal(rendered.inputs)
            case _:
                return asked_of(recorder.program, recorder.state, run)

    def _admitted(
        self, guards: CallGuards, task: Task, move: _Start, visit: int, rendered: _Rendered
    ) -> Admitted | LooksAgain | Outcome:
        run, recorder = self._run, self._recorder
        book = recorder.program.workbook
        tool = task if rendered.workbook is None else book[rendered.workbook]
        names = self._names(move, visit)
        scope = RunScope(recorder, task.dialect, run=run, extra=names)
        call = NextCall(task, tool, move.attempt, rendered.inputs, scope)
        return admitted(recorder, guards, run, call)

    def _held_until(self, look_at: int) -> Wait:
        deadline = self._deadline()
        until = look_at if deadline is None else min(look_at, deadline)
        self._recorder.taken_draws()  # of inputs that are rendered again
        self._recorder.taken_warnings()
        return Wait(self._run.key, until, for_guard=True)

    def _ask_person(self, inputs: Value) -> Wait | Outcome:
        asked = asked_by(inputs, self._recorder.moment.now)
        if not isinstance(asked, Question):
            return outcome_of(error=asked)
        self._recorder.emit(
            HumanWaiting(
                **place_of(self._run),
                question=asked.text,
                choices=asked.choices,
                deadline=asked.deadline,
                action=asked.action,
                default=asked.default,
            )
        )
        return self._waits_for_others()

    def _await_signal(self, inputs: Value) -> Wait | Outcome:
        """A signal that came before is taken up at once."""
        awaited, recorder = awaited_by(inputs, self._recorder.moment.now), self._recorder
        if not isinstance(awaited, AwaitedSignal):
            return outcome_of(error=awaited)
        signal, place = awaited.signal, place_of(self._run)
        recorder.emit(SignalWaiting(**place, signal=signal, deadline=awaited.deadline))
        kept = oldest_kept(recorder.state, signal)
        if kept is None:
            return self._waits_for_others()
        recorder.emit(SignalReceived(**place, signal=signal, kept=kept.seq))
        return outcome_of_signal(kept.payload)

    def _refused(self, move: _Start) -> Outcome | None:
        """The outcome of a first task whose step's branches did not do well enough."""
        if self._step.gather is None or move.label != self._step.tasks[0].label:
            return None
        problem = failure_of(self._step, self._run)
        return None if problem is None else outcome_of(error=problem, is_sealed=True)

    def _inputs(self, task: Task, move: _Start, visit: int) -> _Rendered | Outcome:
        """The rendered inputs, or the outcome of inputs that do not render."""
        run = self._run
        is_own = task.outcome_from is not OutcomeSource.WORKBOOK
        if is_own and is_settled(task.inputs, self._recorder.moment.secrets):
            return _Rendered(task.inputs.value(_NO_NAMES))
        names = self._names(move, visit)
        scope = RunScope(self._recorder, task.dialect, run=run, extra=names)
        try:
            inputs = value_of(task.inputs, scope, f"inputs of {task.label}")
            if is_own:
                return _Rendered(inputs)
            return self._from_workbook(inputs, names)
        except Rejected as failed:
            return outcome_of(error=failed.error)

    def _names(self, move: _Start, visit: int) -> Object:
        """What inputs read of the execution that is to begin."""
        run = self._run
        names = task_names(run, move.label, move.attempt)
        names["_prev"] = run.last if move.attempt == 1 else run.prev
        names["_key"] = idempotency_key(self._recorder.state.run, run.key, visit)
        return names

    def _from_workbook(self, inputs: Object, names: Object) -> _Rendered | Outcome:
        """The inputs of the workbook's task, which reads the caller's `args` and may take them."""
        name, args = inputs.get("name"), inputs.get("args") or {}
        task = self._recorder.program.workbook.get(name) if isinstance(name, str) else None
        if task is None or not isinstance(args, dict):
            what = "args must be a mapping" if task else f"the workbook has no task {name!r}"
            return outcome_of(error=error_of("reference" if task is None else "config", what))
        names = {**names, "args": args, "input": args}
        scope = RunScope(self._recorder, task.dialect, run=self._run, extra=names)
        own = value_of(task.inputs, scope, f"inputs of the workbook's {name}")
        if args and kind_named(task.kind).knows("args"):
            own = {**own, "args": {**(own.get("args") or {}), **args}}
        return _Rendered(own, name)
