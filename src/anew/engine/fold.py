"""Apply one event to a run's state.

The caller gives the state away: it is changed in place and returned, so that the cost of an event
does not grow with the run. Knows no program; everything it needs is in the event.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from anew.engine import events as e
from anew.engine.state import (
    RUN_TRANSITIONS,
    STEP_RUN_TRANSITIONS,
    Key,
    LoopVisit,
    RunState,
    StepResult,
    StepRun,
    Token,
)
from anew.errors import EngineBug
from anew.values import Object, patched

ENTRY_TOKEN = 1


def fold(events: Iterable[e.Event]) -> RunState:
    """The state a whole log amounts to."""
    state = RunState()
    for event in events:
        evolve(state, event)
    return state


def evolve(state: RunState, event: e.Event) -> RunState:
    """`state` after `event`. An event the tables forbid is a bug and changes nothing."""
    status = RUN_TRANSITIONS.get((state.status, type(event)))
    if status is None or event.seq != state.version + 1:
        raise EngineBug(f"{event.name} (seq {event.seq}) after {state.version} in {state.status}")
    try:
        _apply(state, event)
    except KeyError as error:
        raise EngineBug(
            f"{event.name} (seq {event.seq}) names {error}, which is unknown"
        ) from error
    state.status = status
    state.version = event.seq
    return state


def _apply(state: RunState, event: e.Event) -> None:
    match event:
        case e.TaskStarted():
            _task_started(_moved(state, event), event)
        case e.TaskProcessed():
            _task_processed(state, _moved(state, event), event)
        case e.TaskRetryScheduled():
            _retry_scheduled(_moved(state, event), event)
        case e.TaskRetryExhausted():
            _retry_exhausted(state, _moved(state, event), event)
        case e.StepScheduled():
            _step_scheduled(state, event)
        case e.StepStarted():
            _moved(state, event).began_at = event.at
        case e.StepDone():
            _step_done(state, event)
        case e.StepFailed():
            _step_failed(state, event)
        case e.LoopStarted():
            _loop_started(state, _moved(state, event), event)
        case e.LoopIterationDone() | e.LoopIterationFailed():
            _iteration_ended(state, _moved(state, event), event)
        case e.LoopDone():
            _loop_done(state, event)
        case e.NextEvaluated():
            for token in event.tokens:
                _add_token(state, token["to"], token["args"], event.seq)
        case e.GateChecked():
            _gate_checked(state, event)
        case e.StepRefused():
            _drop_token(state, event.token)
        case e.StepSkipped():
            _step_skipped(state, event)
        case e.StepRedelivered():
            _step_redelivered(_moved(state, event), event)
        case e.RunRequested():
            state.run, state.workload, state.file = event.run, event.workload, event.file
        case e.RunStarted():
            _add_token(state, event.entry, {}, event.seq)
        case e.RunCancelled():
            state.tokens, state.active, state.live = {}, {}, {}
        case e.RunPaused() | e.RunResumed() | e.RunDone() | e.RunFailed():
            pass
        case e.BranchForked() | e.BranchJoined():
            pass
        case e.HumanWaiting() | e.HumanAnswered() | e.HumanTimedOut():
            pass  # told for the log's readers; the task's outcome is what moves the step-run
        case e.SignalWaiting() | e.SignalReceived() | e.SignalTimedOut():
            pass
        case _:
            assert_never(event)


def _moved(state: RunState, event: e.Event) -> StepRun:
    """The step-run the event speaks of, moved to its new status."""
    assert event.step is not None
    assert event.visit is not None
    found = state.active.get((event.step, event.visit))
    if isinstance(found, LoopVisit):
        found = found.open.get(event.iteration) if event.iteration is not None else None
    if found is None:
        raise EngineBug(f"{event.name} in {event.step} visit {event.visit}, which is not live")
    status = STEP_RUN_TRANSITIONS.get((found.status, type(event)))
    if status is None:
        raise EngineBug(f"{event.name} in {event.step} visit {event.visit}: it is {found.status}")
    found.status = status
    return found


def _add_token(state: RunState, step: str, args: Object, born: int) -> None:
    state.tokens_made += 1
    state.tokens[state.tokens_made] = Token(state.tokens_made, step, args, born)
    state.live[step] = state.live.get(step, 0) + 1


def _drop_token(state: RunState, token: int) -> None:
    _leave(state, state.tokens.pop(token).step)


def _leave(state: RunState, step: str) -> None:
    left = state.live[step] - 1
    if left:
        state.live[step] = left
    else:
        del state.live[step]


def _gate_checked(state: RunState, event: e.GateChecked) -> None:
    if event.error is not None:
        _fail(state, event.error, is_stopping=True)
    if not event.allow:
        for token in event.tokens:
            state.tokens[token].refused_at = state.epoch


def _fail(state: RunState, error: Object, *, is_stopping: bool) -> None:
    """The first unhandled failure is the run's; a later one may only make it stop sooner."""
    state.failure = state.failure or error
    state.is_stopping = state.is_stopping or is_stopping


def _step_scheduled(state: RunState, event: e.StepScheduled) -> None:
    assert event.step is not None
    assert event.visit is not None
    for token in event.tokens:
        _drop_token(state, token)
    state.visits[event.step] = event.visit
    state.live[event.step] = state.live.get(event.step, 0) + 1
    key = Key(event.step, event.visit)
    state.active[event.step, event.visit] = StepRun(key, event.args, {})


def _step_redelivered(run: StepRun, event: e.StepRedelivered) -> None:
    run.deliveries, run.is_lost = event.delivery, True


def _task_started(run: StepRun, event: e.TaskStarted) -> None:
    assert event.task is not None
    run.started_at, run.started_seq = event.at, event.seq
    if run.is_lost:
        # The same attempt once more: a lost worker uses up nothing of the author's.
        run.is_lost = False
        return
    run.asked_at = event.at
    run.task_visit, run.inputs, run.workbook = event.task_visit, event.inputs, event.workbook
    if event.attempt == 1:
        run.prev = run.last
        run.first_at = event.at
        run.previous_seconds = None
    run.task = event.task
    run.attempt = event.attempt or 1
    run.resume_at = None
    run.executions += 1
    run.executions_of[event.task] = run.executions_of.get(event.task, 0) + 1


def _task_processed(state: RunState, run: StepRun, event: e.TaskProcessed) -> None:
    assert event.task is not None
    outcome = event.outcome
    run.last, run.inputs = outcome.result, None
    run.deliveries = 1  # it got somewhere, so it is not what kills its workers
    if outcome.result is not None or not outcome.is_error:
        run.labels = {**run.labels, event.task: outcome.result}
    if event.patches:
        _patch(state, run, event.patches)
    run.directive, run.to, run.resume_at = event.directive, event.to, event.not_before
    run.error = event.error or outcome.error


def _retry_scheduled(run: StepRun, event: e.TaskRetryScheduled) -> None:
    run.previous_seconds = event.spread_seconds
    run.resume_at = event.not_before


def _retry_exhausted(state: RunState, run: StepRun, event: e.TaskRetryExhausted) -> None:
    if event.patches:
        _patch(state, run, event.patches)
    run.directive, run.to, run.resume_at = event.directive, event.to, event.not_before
    run.error = event.error or run.error


def _patch(state: RunState, run: StepRun, patches: Object) -> None:
    scratch = patches.get("iter")
    if scratch:
        run.scratch = patched(run.scratch, scratch)
    ctx = patches.get("ctx")
    if not ctx:
        return
    if run.keeps_ctx:
        # Written again means written last, so that a whole and its parts stay in order.
        rest = {path: value for path, value in run.own_ctx.items() if path not in ctx}
        run.own_ctx = {**rest, **ctx}
        return
    state.ctx = patched(state.ctx, ctx)
    state.epoch += 1


def _step_done(state: RunState, event: e.StepDone) -> None:
    assert event.step is not None
    assert event.visit is not None
    visit = state.active[event.step, event.visit]
    if isinstance(visit, StepRun):
        run = _moved(state, event)
        state.last_result = run.last
        _keep_result(state, event.step, StepResult(event.visit, run.last, run.labels))
    else:
        state.last_result = visit.result
    _end_visit(state, event.step, event.visit)


def _keep_result(state: RunState, step: str, result: StepResult) -> None:
    """Visits may overlap (`join: each`); the latest one counts, whichever ends last."""
    known = state.results.get(step)
    if known is None or known.visit < result.visit:
        state.results[step] = result


def _step_failed(state: RunState, event: e.StepFailed) -> None:
    assert event.step is not None
    assert event.visit is not None
    if isinstance(state.active[event.step, event.visit], StepRun):
        state.last_result = _moved(state, event).last
    if not event.handled:
        _fail(state, event.error, is_stopping=event.failure_mode == "fail_fast")
    _end_visit(state, event.step, event.visit)


def _step_skipped(state: RunState, event: e.StepSkipped) -> None:
    if event.token is not None:
        _drop_token(state, event.token)
        return
    key = _moved(state, event).key
    _end_visit(state, key.step, key.visit)


def _end_visit(state: RunState, step: str, visit: int) -> None:
    del state.active[step, visit]
    _leave(state, step)
    state.epoch += 1


def _loop_started(state: RunState, run: StepRun, event: e.LoopStarted) -> None:
    loop = LoopVisit(
        key=run.key,
        args=run.args,
        items=event.items,
        iterator=event.iterator,
        is_parallel=event.mode == "parallel",
        max_in_flight=event.max_in_flight,
        results=[None] * len(event.items),
        began_at=run.began_at,
    )
    state.active[run.key.step, run.key.visit] = loop
    for _ in range(min(loop.max_in_flight, len(loop.items))):
        _open_next(loop)


def _open_next(loop: LoopVisit) -> None:
    """Open one more iteration, if any is left: as one ends, the next one begins."""
    index = loop.next_index
    if index >= len(loop.items):
        return
    loop.next_index = index + 1
    key = Key(loop.key.step, loop.key.visit, index)
    scratch = {loop.iterator: loop.items[index], "index": index}
    loop.open[index] = StepRun(
        key, loop.args, scratch, began_at=loop.began_at, keeps_ctx=loop.is_parallel
    )


def _iteration_ended(
    state: RunState, run: StepRun, event: e.LoopIterationDone | e.LoopIterationFailed
) -> None:
    loop = state.active[run.key.step, run.key.visit]
    assert isinstance(loop, LoopVisit)
    index = run.key.iteration
    assert index is not None
    del loop.open[index]
    if run.own_ctx:
        loop.kept_ctx[index] = run.own_ctx
    if isinstance(event, e.LoopIterationDone):
        loop.done += 1
        loop.results[index] = run.last
    else:
        loop.failed += 1
        if loop.first_failed is None or index < loop.first_failed:
            loop.first_failed, loop.first_error = index, event.error
    _open_next(loop)


def _loop_done(state: RunState, event: e.LoopDone) -> None:
    assert event.step is not None
    assert event.visit is not None
    loop = state.active[event.step, event.visit]
    assert isinstance(loop, LoopVisit)
    counts = {"total": event.total, "done": event.done, "failed": event.failed}
    loop.result = {"results": loop.results, **counts}
    _keep_result(state, event.step, StepResult(event.visit, loop.result, {}))
    if loop.kept_ctx:
        for index in sorted(loop.kept_ctx):
            state.ctx = patched(state.ctx, loop.kept_ctx[index])
