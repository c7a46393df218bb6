"""The one way a run's state changes: something happens outside, events follow.

`decide` takes what happened (a request, a worker's step, a due time, an outcome) and yields the
events of one transition, the step-runs to hand out, and what the worker should do next.
"""

from __future__ import annotations

from contextlib import suppress
from typing import assert_never

from msgspec import Struct

from anew.engine import branches, compensating, signals
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
from anew.engine.loops import open_loop
from anew.engine.next_actions import Ended, Invoke, NextAction, Wait
from anew.engine.outcome import error_of
from anew.engine.pipeline import Pipeline
from anew.engine.questions import chosen
from anew.engine.record import Moment, Recorder
from anew.engine.render import Rejected, value_of
from anew.engine.scope import RunScope, job_of
from anew.engine.settling import settle
from anew.engine.state import (
    LoopVisit,
    RunState,
    RunStatus,
    StepRun,
    StepRunKey,
    StepRunStatus,
    place_of,
)
from anew.engine.visits import end_loop, end_step_run, fail_visit
from anew.engine.waits import moment_wait
from anew.expressions import ExpressionError, MappingScope
from anew.program.program import Dialect, Program
from anew.values import Object, merge_deep, put_in

_WAITS = (
    StepRunStatus.DELAYED,
    StepRunStatus.DECIDED,
    StepRunStatus.ASKING,
    StepRunStatus.AWAITING,
    StepRunStatus.ANSWERED,
    StepRunStatus.HELD,
)
_BEGINS = (StepRunStatus.SCHEDULED, StepRunStatus.READY)
_GOES_ON = (RunStatus.RUNNING, RunStatus.WAITING)
_UNDER_WAY = (*_GOES_ON, RunStatus.PAUSED)
# Every transition asks for these, and Python 3.11 is slow to find a member in its enum.
_PAUSED = RunStatus.PAUSED
_EXECUTING = StepRunStatus.EXECUTING


class Transition(Struct, frozen=True):
    """All or nothing: append `events`, hand out `jobs`, then do what `ask` says.

    Without an `ask`, a step-run that is still live is held: its run is paused. `stopped` are
    step-runs whose branch is over: their calls are to be stopped, and their jobs are void.
    """

    events: list[e.Event]
    jobs: list[StepRunKey]
    ask: Invoke | Wait | None
    stopped: tuple[StepRunKey, ...] = ()


def decide(program: Program, state: RunState, boundary: Boundary, moment: Moment) -> Transition:
    """What follows. `state` is given away: on return it has the events folded in."""
    recorder = Recorder(program, state, moment)
    if not _is_expected(recorder, boundary):
        return Transition([], [], None)
    ask: NextAction | None = None
    match boundary:
        case Reported():
            ask = Pipeline(recorder, boundary.key).report(boundary.outcome)
        case Taken():
            ask = _begin_step_run(recorder, boundary.key)
        case Due():
            ask = Pipeline(recorder, boundary.key).wake()
        case Requested():
            _begin_run(recorder, boundary)
        case Lost():
            ask = _redeliver(recorder, boundary)
        case Answered():
            _take_answer(recorder, boundary)
        case Signalled():
            _take_signal(recorder, boundary)
        case Skipped():
            _skip(recorder, boundary)
        case Cancelled():
            compensating.cancel(recorder, boundary.reason)
        case Paused():
            _pause(recorder, boundary)
        case Resumed():
            _resume(recorder)
        case _:
            assert_never(boundary)
    if type(ask) is Ended:
        end_step_run(recorder, ask)
        ask = None
    if recorder.events:
        # What changes nothing, such as a wait that is not over yet, must not decide anything else:
        # the log could not tell that it came.
        settle(recorder)
    return Transition(recorder.events, recorder.jobs, ask, recorder.stopped)


def _is_expected(recorder: Recorder, boundary: Boundary) -> bool:
    """Whether it still matters: queues deliver twice, workers report late, runs end meanwhile."""
    state, now = recorder.state, recorder.moment.now
    match boundary:
        case Reported() | Taken() | Due() | Lost() | Answered():
            run = None if state.is_final else state.step_run(boundary.key)
            return run is not None and _is_awaited(state, run, boundary, now)
        case Requested():
            return state.status is RunStatus.NEW
        case Cancelled():
            return not state.is_final
        case Paused():
            # Where a shared log is cut must be told, even if that run was paused there.
            is_cut = boundary.shared_with is not None
            return state.status in (_UNDER_WAY if is_cut else _GOES_ON)
        case Resumed():
            return state.status is RunStatus.PAUSED
        case Skipped():
            return state.status in _UNDER_WAY
        case Signalled():
            return _is_news(recorder, boundary)
        case _:
            assert_never(boundary)


def _is_news(recorder: Recorder, came: Signalled) -> bool:
    """Whether the run is under way, has not had this signal, and has room for it."""
    state = recorder.state
    if state.status not in _UNDER_WAY or signals.is_repeated(state, came.signal, id=came.id):
        return False
    served = signals.next_served(recorder.program, state, came.signal, recorder.moment.now)
    why = signals.overflow(
        state, came.signal, id=came.id, payload=came.payload, is_kept=served is None
    )
    return why is None


def _is_awaited(
    state: RunState, run: StepRun, boundary: Taken | Due | Reported | Lost | Answered, now: int
) -> bool:
    """Whether the step-run is where this can happen to it. A paused run starts nothing."""
    is_paused = state.status is _PAUSED
    match boundary:
        case Reported():
            is_at_work = run.status is _EXECUTING
            return is_at_work and boundary.started == run.started_seq
        case Taken():
            return not is_paused and run.status in _BEGINS
        case Due():
            return not is_paused and run.status in _WAITS
        case Lost():
            return run.status is StepRunStatus.EXECUTING
        case Answered():
            asked = run.question if run.status is StepRunStatus.ASKING else None
            if asked is None or (asked.deadline is not None and asked.deadline < now):
                return False
            return chosen(asked.choices, boundary.answer) is not None
        case _:
            assert_never(boundary)


def _begin_run(recorder: Recorder, request: Requested) -> None:
    program, secrets = recorder.program, recorder.moment.secrets
    workload = merge_deep(workload_defaults(program, request.run), request.workload)
    recorder.emit(
        e.RunRequested(
            run=request.run,
            program=program.name,
            digest=program.digest,
            workload=workload if secrets is None else secrets.seal(workload),
            file=request.file,
            dialect=program.dialect,
            entry=request.entry,
            continues=request.continues,
            generation=request.generation,
        )
    )
    started = e.RunStarted(
        entry=request.entry or program.entry, workload_is_ctx=program.workload_is_ctx
    )
    if program.ctx is not None:
        try:
            started.ctx = value_of(program.ctx, RunScope(recorder, Dialect.POLICY), "ctx")
        except Rejected as rejected:
            started.error = rejected.error
        started.draws = recorder.taken_draws()
    recorder.emit(started)


def workload_defaults(program: Program, run: str) -> Object:
    """The workload's defaults, with the run's own constants put in where they are named."""
    scope = MappingScope({"run_id": run, "execution_id": run, "job": job_of(run)})
    workload = program.workload
    for path, template in program.workload_templates.items():
        # A default that cannot be rendered stays the text it is.
        with suppress(ExpressionError):
            workload = put_in(workload, path, template.value(scope))
    return workload


def _take_answer(recorder: Recorder, answered: Answered) -> None:
    """The answer is kept; whoever takes the step-run next goes on with it."""
    run = recorder.state.step_run(answered.key)
    assert run is not None
    assert run.question is not None
    choices, secrets = run.question.choices, recorder.moment.secrets
    # What a person types may be a secret; the log does not learn it.
    said, by = answered.answer, answered.by
    if secrets is not None:
        said, by = secrets.texts.masked(said), secrets.texts.masked(by)
    recorder.emit(
        e.HumanAnswered(
            **place_of(run),
            answer=said,
            # A text of the person's own is no label that an arc could have.
            label=chosen(choices, answered.answer) if choices else None,
            by=by,
        )
    )
    if recorder.state.status is not RunStatus.PAUSED:
        recorder.jobs.append(run.key)


def _take_signal(recorder: Recorder, came: Signalled) -> None:
    """Whoever has waited for it longest goes on with it; without anyone it is kept."""
    state, secrets = recorder.state, recorder.moment.secrets
    run = signals.next_served(recorder.program, state, came.signal, recorder.moment.now)
    payload, by = came.payload, came.by
    if secrets is not None:
        payload, by = secrets.seal(payload), secrets.texts.masked(by)
    place = {} if run is None else place_of(run)
    recorder.emit(e.SignalReceived(**place, signal=came.signal, payload=payload, id=came.id, by=by))
    if run is not None and state.status is not RunStatus.PAUSED:
        recorder.jobs.append(run.key)


def _skip(recorder: Recorder, skipped: Skipped) -> None:
    """What waits for a moment that is still to come waits no longer; the rest stays as it is."""
    state, secrets = recorder.state, recorder.moment.secrets
    by = skipped.by if secrets is None else secrets.texts.masked(skipped.by)
    for key in skipped.keys:
        run = state.step_run(key)
        wait = None if run is None else moment_wait(recorder.program, run, recorder.moment.now)
        if run is None or wait is None:
            continue
        recorder.emit(
            e.WaitSkipped(
                **place_of(run),
                waited_for=wait.waited_for,
                not_before=wait.until,
                by=by,
            )
        )
        # A task at work goes on to its outcome in a pause too, and a sleep is one.
        if run.status is _EXECUTING or state.status is not _PAUSED:
            recorder.jobs.append(run.key)


def _begin_step_run(recorder: Recorder, key: StepRunKey) -> NextAction | None:
    step, run = recorder.program.steps[key.step], recorder.state.step_run(key)
    assert run is not None
    if step.loop is None or key.iteration is not None:
        return Pipeline(recorder, key).begin()
    recorder.emit(e.StepStarted(step=key.step, visit=key.visit))
    problem = branches.failure_of(step, run)
    if problem is not None:
        return Ended(key, problem)
    opened = open_loop(recorder, run, step.loop)
    if not isinstance(opened, LoopVisit):
        fail_visit(recorder, key, opened, args=run.args)
    elif not opened.items:
        end_loop(recorder, key)
    return None


def _redeliver(recorder: Recorder, lost: Lost) -> Ended | None:
    """Hand the step-run out again, unless it has cost too many workers already."""
    run = recorder.state.step_run(lost.key)
    assert run is not None
    key = run.key
    most = recorder.program.limits.deliveries
    if run.deliveries >= most and not lost.was_handed_back:
        # Logs that are written hold this text, and are to be derived again: it does not change.
        message = f"the step-run lost {most} workers, its limit (deliveries), in task {run.task}"
        return Ended(key, error_of("worker_lost", message))
    delivery = run.deliveries if lost.was_handed_back else run.deliveries + 1
    recorder.emit(
        e.StepRedelivered(
            step=key.step, visit=key.visit, iteration=key.iteration, delivery=delivery
        )
    )
    recorder.jobs.append(key)
    return None


def _pause(recorder: Recorder, paused: Paused) -> None:
    recorder.emit(
        e.RunPaused(
            reason=paused.reason,
            shared_with=paused.shared_with,
            decided_by=paused.decided_by,
            later_by=paused.later_by,
        )
    )


def _resume(recorder: Recorder) -> None:
    """Hand out everything that is not at work, whether it was handed out before or held."""
    recorder.emit(e.RunResumed())
    for run in recorder.state.live_step_runs():
        if run.status is not StepRunStatus.EXECUTING:
            recorder.jobs.append(run.key)
