"""The one way a run's state changes: something happens outside, events follow.

`decide` takes what happened (a request, a worker's step, a due time, an outcome) and yields the
events of one transition, the step-runs to hand out, and what the worker should do next.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TypeAlias, assert_never

from msgspec import Struct

from anew.engine import events as e
from anew.engine import router
from anew.engine.admission import admits
from anew.engine.joins import merged_args, oldest_joining, ready_groups, tokens_by_step
from anew.engine.loops import close_loop, end_iteration, open_loop
from anew.engine.outcome import Outcome, error_of
from anew.engine.pipeline import Ask, Ended, Invoke, Pipeline, Wait
from anew.engine.record import Moment, Recorder
from anew.engine.scope import job_of
from anew.engine.state import (
    Key,
    LoopVisit,
    RunState,
    RunStatus,
    StepResult,
    StepRun,
    StepRunStatus,
    Token,
)
from anew.expressions import ExpressionError, MappingScope
from anew.program.program import Program
from anew.values import Object, merge_deep, put_in

_RUN_FAILED = "the run failed"


class Requested(Struct, frozen=True):
    """Someone wants a run."""

    run: str
    workload: Object
    file: str | None = None


class Taken(Struct, frozen=True):
    """A worker took a step-run that was handed out."""

    key: Key


class Due(Struct, frozen=True):
    """A step-run's wait is over."""

    key: Key


class Reported(Struct, frozen=True):
    """An execution gave its outcome; `started` is the sequence number of its `task.started`."""

    key: Key
    outcome: Outcome
    started: int


class Lost(Struct, frozen=True):
    """The worker that executed a step-run's task is gone, or gave it back unfinished."""

    key: Key
    was_handed_back: bool = False


class Cancelled(Struct, frozen=True):
    """Someone ends the run, whatever it is doing."""

    reason: str | None = None


class Paused(Struct, frozen=True):
    """Someone wants the run to start nothing for a while. For `shared_with` see `run.paused`."""

    reason: str | None = None
    shared_with: str | None = None


class Resumed(Struct, frozen=True):
    """Someone wants a paused run to go on."""


Boundary: TypeAlias = Requested | Taken | Due | Reported | Lost | Cancelled | Paused | Resumed


class Transition(Struct, frozen=True):
    """All or nothing: append `events`, hand out `jobs`, then do what `ask` says.

    Without an `ask`, a step-run that is still live is held: its run is paused.
    """

    events: list[e.Event]
    jobs: list[Key]
    ask: Invoke | Wait | None


def decide(program: Program, state: RunState, boundary: Boundary, moment: Moment) -> Transition:
    """What follows. `state` is given away: on return it has the events folded in."""
    recorder = Recorder(program, state, moment)
    if not _is_expected(state, boundary):
        return Transition([], [], None)
    ask: Ask | None = None
    match boundary:
        case Requested():
            _begin_run(recorder, boundary)
        case Taken():
            ask = _begin_step_run(recorder, boundary.key)
        case Due():
            ask = Pipeline(recorder, boundary.key).wake()
        case Reported():
            ask = Pipeline(recorder, boundary.key).report(boundary.outcome)
        case Lost():
            ask = _redeliver(recorder, boundary)
        case Cancelled():
            recorder.emit(e.RunCancelled(reason=boundary.reason))
        case Paused():
            recorder.emit(e.RunPaused(reason=boundary.reason, shared_with=boundary.shared_with))
        case Resumed():
            _resume(recorder)
        case _:
            assert_never(boundary)
    if isinstance(ask, Ended):
        _end_step_run(recorder, ask)
        ask = None
    _settle(recorder)
    return Transition(recorder.events, recorder.jobs, ask)


def _is_expected(state: RunState, boundary: Boundary) -> bool:
    """Whether it still matters: queues deliver twice, workers report late, runs end meanwhile."""
    match boundary:
        case Requested():
            return state.status is RunStatus.NEW
        case Cancelled():
            return not state.is_final
        case Paused():
            return state.status in (RunStatus.RUNNING, RunStatus.WAITING)
        case Resumed():
            return state.status is RunStatus.PAUSED
        case _:
            run = None if state.is_final else state.step_run(boundary.key)
            return run is not None and _is_awaited(state, run, boundary)


def _is_awaited(state: RunState, run: StepRun, boundary: Taken | Due | Reported | Lost) -> bool:
    """Whether the step-run is where this can happen to it. A paused run starts nothing."""
    is_paused = state.status is RunStatus.PAUSED
    match boundary:
        case Taken():
            return not is_paused and run.status in (StepRunStatus.SCHEDULED, StepRunStatus.READY)
        case Due():
            return not is_paused and run.status in (StepRunStatus.DELAYED, StepRunStatus.DECIDED)
        case Reported():
            is_at_work = run.status is StepRunStatus.EXECUTING
            return is_at_work and boundary.started == run.started_seq
        case Lost():
            return run.status is StepRunStatus.EXECUTING
        case _:
            assert_never(boundary)


def _begin_run(recorder: Recorder, request: Requested) -> None:
    program, secrets = recorder.program, recorder.moment.secrets
    workload = merge_deep(_defaults(program, request.run), request.workload)
    recorder.emit(
        e.RunRequested(
            run=request.run,
            program=program.name,
            digest=program.digest,
            workload=workload if secrets is None else secrets.seal(workload),
            file=request.file,
        )
    )
    recorder.emit(e.RunStarted(entry=program.entry))


def _defaults(program: Program, run: str) -> Object:
    """The workload's defaults, with the run's own constants put in where they are named."""
    scope = MappingScope({"run_id": run, "execution_id": run, "job": job_of(run)})
    workload = program.workload
    for path, template in program.workload_templates.items():
        # A default that cannot be rendered stays the text it is.
        with suppress(ExpressionError):
            workload = put_in(workload, path, template.value(scope))
    return workload


def _settle(recorder: Recorder) -> None:
    """Start what can start; when nothing can move any more, end the run."""
    state = recorder.state
    while not state.is_final and state.status is not RunStatus.PAUSED:
        if state.is_stopping:
            _withdraw(recorder)
            if not state.active:
                _end_run(recorder)
            return
        if state.tokens and _start_ready(recorder):
            continue
        if state.active:
            return
        if _drop_refused(recorder):
            continue
        if not state.tokens:
            _end_run(recorder)
            return
        _enter(recorder, oldest_joining(recorder.program, state))


def _start_ready(recorder: Recorder) -> bool:
    """Start every visit that may start; True when the run has moved."""
    state, moved = recorder.state, False
    for step, waiting in tokens_by_step(state).items():
        for group in ready_groups(recorder.program, state, step, waiting):
            moved = _enter(recorder, group) or moved
            if state.is_stopping:
                return True
    return moved


def _enter(recorder: Recorder, tokens: list[Token]) -> bool:
    """Ask the gate; start one visit with these tokens if it lets them in."""
    step = recorder.program.steps[tokens[0].step]
    args = merged_args(tokens)
    if not admits(recorder, step, tokens, args):
        return False
    ids = [token.id for token in tokens]
    visit = recorder.state.visits.get(step.name, 0) + 1
    key = Key(step.name, visit)
    if len(ids) > 1:
        recorder.emit(e.BranchJoined(step=step.name, visit=visit, tokens=ids))
    recorder.emit(e.StepScheduled(step=step.name, visit=visit, tokens=ids, args=args))
    recorder.jobs.append(key)
    return True


def _begin_step_run(recorder: Recorder, key: Key) -> Ask | None:
    loop = recorder.program.steps[key.step].loop
    if loop is None or key.iteration is not None:
        return Pipeline(recorder, key).begin()
    run = recorder.state.step_run(key)
    assert run is not None
    recorder.emit(e.StepStarted(step=key.step, visit=key.visit))
    opened = open_loop(recorder, run, loop)
    if not isinstance(opened, LoopVisit):
        _fail_visit(recorder, key, opened, args=run.args)
    elif not opened.items:
        _end_loop(recorder, key)
    return None


def _redeliver(recorder: Recorder, lost: Lost) -> Ended | None:
    """Hand the step-run out again, unless it has cost too many workers already."""
    key = lost.key
    run = recorder.state.step_run(key)
    assert run is not None
    most = recorder.program.limits.deliveries
    if run.deliveries >= most and not lost.was_handed_back:
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


def _resume(recorder: Recorder) -> None:
    """Hand out everything that is not at work, whether it was handed out before or held."""
    recorder.emit(e.RunResumed())
    for run in recorder.state.live_step_runs():
        if run.status is not StepRunStatus.EXECUTING:
            recorder.jobs.append(run.key)


def _drop_refused(recorder: Recorder) -> bool:
    refused = [t for t in recorder.state.tokens.values() if t.refused_at is not None]
    for token in refused:
        recorder.emit(e.StepRefused(step=token.step, token=token.id))
    return bool(refused)


def _end_step_run(recorder: Recorder, ended: Ended) -> None:
    key = ended.key
    if key.iteration is not None:
        visit = end_iteration(recorder, ended)
        if not visit.open:
            _end_loop(recorder, Key(key.step, key.visit))
        return
    run = recorder.state.step_run(key)
    assert run is not None
    if ended.error is None:
        _finish_visit(recorder, run)
    else:
        _fail_visit(recorder, key, ended.error, args=run.args)


def _finish_visit(recorder: Recorder, run: StepRun) -> None:
    fresh = {run.key.step: StepResult(run.key.visit, run.last, run.labels)}
    about = {"result": run.last}
    routing = router.route(recorder, run.key, "step.done", about, args=run.args, fresh=fresh)
    if routing.error is not None:
        _refuse_routing(recorder, run.key, routing)
        return
    recorder.emit(e.StepDone(step=run.key.step, visit=run.key.visit))
    router.write(recorder, run.key, routing)


def _fail_visit(recorder: Recorder, key: Key, error: Object, *, args: Object, **about: int) -> None:
    """End the visit failed. An arc whose `when` holds handles it; else the run will fail."""
    seen = {"error": error, **about}
    routing = router.route(recorder, key, "step.failed", seen, args=args, fresh={})
    if routing.error is not None:
        _refuse_routing(recorder, key, routing)
        return
    is_handled = bool(routing.tokens)
    _emit_failed(recorder, key, error, is_handled=is_handled)
    router.write(recorder, key, routing, handled=is_handled)


def _refuse_routing(recorder: Recorder, key: Key, routing: router.Routing) -> None:
    """An arc that cannot be evaluated fails the step, and no arc can handle that."""
    assert routing.error is not None
    router.write(recorder, key, routing)
    _emit_failed(recorder, key, routing.error, is_handled=False)


def _emit_failed(recorder: Recorder, key: Key, error: Object, *, is_handled: bool) -> None:
    mode = recorder.program.steps[key.step].failure or recorder.program.failure
    recorder.emit(
        e.StepFailed(
            step=key.step,
            visit=key.visit,
            error=error,
            handled=is_handled,
            failure_mode=None if is_handled else mode.value,
        )
    )


def _end_loop(recorder: Recorder, key: Key) -> None:
    """Arcs are asked on `loop.done`; failures nobody counts make the step fail (SEMANTICS 2.8)."""
    visit = recorder.state.active[key.step, key.visit]
    assert isinstance(visit, LoopVisit)
    counts = close_loop(recorder, visit)
    about = {**counts, "result": visit.result}
    has_failures = visit.failed > 0
    routing = router.route(
        recorder,
        key,
        "loop.done",
        about,
        args=visit.args,
        fresh={},
        must_count_failures=has_failures,
    )
    if routing.error is not None:
        _refuse_routing(recorder, key, routing)
        return
    is_handled = has_failures and bool(routing.tokens)
    if not has_failures or is_handled:
        recorder.emit(e.StepDone(step=key.step, visit=key.visit))
        router.write(recorder, key, routing, handled=is_handled)
        return
    router.write(recorder, key, routing)
    error = {**(visit.first_error or {}), "loop": counts}
    _fail_visit(recorder, key, error, args=visit.args, **counts)


def _withdraw(recorder: Recorder) -> None:
    """No new step-run starts in a run that is failing, not even one already handed out.

    What this very transition handed out was let in before the failure, and goes on.
    """
    for visit in list(recorder.state.active.values()):
        is_waiting = isinstance(visit, StepRun) and visit.status is StepRunStatus.SCHEDULED
        if is_waiting and visit.key not in recorder.jobs:
            key = visit.key
            recorder.emit(e.StepSkipped(step=key.step, visit=key.visit, reason=_RUN_FAILED))


def _end_run(recorder: Recorder) -> None:
    state, program = recorder.state, recorder.program
    for token in list(state.tokens.values()):
        recorder.emit(e.StepSkipped(step=token.step, token=token.id, reason=_RUN_FAILED))
    if state.failure is not None:
        recorder.emit(e.RunFailed(error=state.failure))
        return
    result = state.last_result
    if program.return_step is not None:
        named = state.results.get(program.return_step)
        result = named.result if named else None
    recorder.emit(e.RunDone(result=result))
