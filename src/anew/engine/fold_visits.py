"""The fold of visits: how they begin and end, with the iterations of loops.

Part of `engine.fold`: changes the state in place, knows no program, decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from anew.engine import events as e
from anew.engine.causes import Cause, after_success, cause_behind, handled_cause
from anew.engine.events.words import FailureEffect
from anew.engine.fold_step_runs import moved
from anew.engine.results import Compensable, StepResult
from anew.engine.state import (
    NO_ORIGIN,
    SUCCESS,
    Branch,
    LoopVisit,
    Origin,
    OutcomeSummary,
    RepeatedFailure,
    RunState,
    StepRun,
    StepRunKey,
    Token,
)
from anew.engine.tokens import (
    drop_token,
    end_branch,
    keep_verdict,
    leave,
    write_ctx,
)
from anew.program.policy import Verdict
from anew.program.program import LoopMode
from anew.values import Object

# Asked for all the time, and Python 3.11 is slow to find a member in its enum.
_SUCCESS, _FAILURE = Verdict.SUCCESS, Verdict.FAILURE
# By an arc, or because branches met: not by a retry, a fallback or a gate.
_NORMAL_WAYS = (None, "join")


def step_scheduled(state: RunState, event: e.StepScheduled) -> None:
    assert event.step is not None
    assert event.visit is not None
    tokens = [drop_token(state, token) for token in event.tokens]
    # A visit in which branches meet comes from all of them, and from none.
    origin = tokens[0].origin if tokens and tokens[0].branch == event.branch else NO_ORIGIN
    if len(tokens) > 1 and origin.cause is None:
        origin = _with_cause(origin, tokens)
    state.visits[event.step] = event.visit
    state.steps_begun += 1
    state.live[event.step] = state.live.get(event.step, 0) + 1
    key = StepRunKey(event.step, event.visit)
    run = StepRun(key, event.args, {}, origin=origin, branch=event.branch)
    if event.compensates is not None:
        undone = state.compensable.pop()
        assert undone.seq == event.compensates
        run.compensates, run.scratch = undone, undone.scratch
    state.active[event.step, event.visit] = run
    owner = state.ctx_owner(event.branch)
    if not isinstance(owner, RunState):
        owner.live += 1
        owner.has_begun = True
    if owner.retries and origin.via in _NORMAL_WAYS and _succeeded(owner, event.step):
        owner.retries.pop(event.step, None)


def _with_cause(origin: Origin, tokens: Sequence[Token]) -> Origin:
    cause = next((one.origin.cause for one in tokens if one.origin.cause is not None), None)
    return origin if cause is None else replace(origin, cause=cause)


def _succeeded(owner: RunState | Branch, step: str) -> bool:
    return owner.verdicts.get(step) == Verdict.SUCCESS and step not in owner.unmet_gates


def step_done(state: RunState, event: e.StepDone) -> None:
    assert event.step is not None
    assert event.visit is not None
    visit = state.active[event.step, event.visit]
    if _is_compensation(state, visit, event):
        return
    if isinstance(visit, StepRun):
        run = moved(state, event)
        if event.compensable:
            state.compensable.append(_compensable(state, run, event.seq))
        if not event.relays:
            state.last_result = run.last
            _keep_result(state, event.step, StepResult(event.visit, run.last, run.labels))
    else:
        state.last_result = visit.result
    state.passed_on = _passed_on(visit, event)
    repeated = state.ctx_owner(visit.branch).repeated
    if repeated:
        repeated.pop(event.step, None)
    _keep_verdict(state, visit, event.verdict or _SUCCESS, is_met=event.gate is not False)
    _end_visit(state, event.step, event.visit)


def _is_compensation(
    state: RunState, visit: StepRun | LoopVisit, event: e.StepDone | e.StepFailed
) -> bool:
    """Whether a visit that ends has only undone another: then nothing else comes of it."""
    if not isinstance(visit, StepRun) or visit.compensates is None:
        return False
    moved(state, event)
    if state.compensation is not None:
        is_done = isinstance(event, e.StepDone)
        state.compensation.done += is_done
        state.compensation.failed += not is_done
    _end_visit(state, visit.key.step, visit.key.visit)
    return True


def _compensable(state: RunState, run: StepRun, seq: int) -> Compensable:
    loop = state.active[run.key.step, run.key.visit]
    names: Object = {}
    if isinstance(loop, LoopVisit):
        index = run.key.iteration
        names = {"_index": index, "loop_index": index, "_total": len(loop.items)}
        names[loop.iterator] = run.scratch.get(loop.iterator)
    result = StepResult(run.key.visit, run.last, run.labels)
    return Compensable(seq, run.key.step, run.args, run.scratch, result, names)


def _passed_on(visit: StepRun | LoopVisit, event: e.StepDone) -> Cause | None:
    """The failure that what comes next deals with: an arc handled those of a loop."""
    before = visit.origin.cause
    if isinstance(visit, LoopVisit) and visit.first_error is not None:
        return handled_cause(before, visit.key.step, visit.first_error, visit.first_failed)
    return after_success(before, is_relay=event.relays)


def _keep_verdict(
    state: RunState, visit: StepRun | LoopVisit, verdict: Verdict, *, is_met: bool
) -> None:
    owner = state.ctx_owner(visit.branch)
    keep_verdict(owner, visit.key.step, verdict, is_met=is_met)
    if not isinstance(owner, RunState):
        said = visit.summary if isinstance(visit, StepRun) else SUCCESS
        owner.summary = said if said.verdict is verdict else OutcomeSummary(verdict)
        owner.error = None


def _keep_result(state: RunState, step: str, result: StepResult) -> None:
    """Visits may overlap (`join: each`); the latest one counts, whichever ends last."""
    known = state.results.get(step)
    if known is None or known.visit < result.visit:
        state.results[step] = result


def step_failed(state: RunState, event: e.StepFailed) -> None:
    assert event.step is not None
    assert event.visit is not None
    visit = state.active[event.step, event.visit]
    if _is_compensation(state, visit, event):
        return
    if isinstance(visit, StepRun):
        state.last_result = moved(state, event).last
    _keep_verdict(state, visit, event.verdict or _FAILURE, is_met=event.gate is not False)
    owner = state.ctx_owner(visit.branch)
    if event.error.get("retryable") is False:
        _count_repeats(owner, event.step, signature_of(event.error))
    if isinstance(owner, Branch):
        owner.error = event.error
    if event.failure_mode is FailureEffect.BRANCH:
        assert isinstance(owner, Branch)
        owner.summary = OutcomeSummary(_FAILURE)
        end_branch(state, owner)
    elif not event.handled:
        cause = cause_behind(visit.origin.cause, event.step, event.error)
        is_stopping = event.failure_mode is FailureEffect.FAIL_FAST
        fail_run(state, event.error, is_stopping=is_stopping, cause=cause)
    iteration = visit.first_failed if isinstance(visit, LoopVisit) else None
    before = visit.origin.cause
    state.passed_on = handled_cause(before, event.step, event.error, iteration)
    _end_visit(state, event.step, event.visit)


def _count_repeats(owner: RunState | Branch, step: str, signature: str) -> None:
    known = owner.repeated.get(step)
    times = known.times + 1 if known is not None and known.signature == signature else 1
    owner.repeated[step] = RepeatedFailure(signature, times)


def signature_of(error: Object) -> str:
    """What two errors have in common when trying again has changed nothing."""
    return f"{error.get('kind')}: {error.get('type')}: {error.get('message')}"


def step_skipped(state: RunState, event: e.StepSkipped) -> None:
    if event.token is not None:
        drop_token(state, event.token)
        return
    key = moved(state, event).key
    _end_visit(state, key.step, key.visit)


def _end_visit(state: RunState, step: str, visit: int) -> None:
    ended = state.active.pop((step, visit))
    leave(state, step)
    if ended.branch is not None:
        state.branches[ended.branch].live -= 1
    state.epoch += 1


def loop_started(state: RunState, run: StepRun, event: e.LoopStarted) -> None:
    loop = LoopVisit(
        key=run.key,
        args=run.args,
        items=event.items,
        iterator=event.iterator,
        is_parallel=event.mode is LoopMode.PARALLEL,
        max_in_flight=event.max_in_flight,
        results=[None] * len(event.items),
        began_at=run.began_at,
        origin=run.origin,
        branch=run.branch,
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
    key = StepRunKey(loop.key.step, loop.key.visit, index)
    scratch = {loop.iterator: loop.items[index], "index": index}
    loop.open[index] = StepRun(
        key,
        loop.args,
        scratch,
        began_at=loop.began_at,
        keeps_ctx=loop.is_parallel,
        origin=loop.origin,
        branch=loop.branch,
    )


def iteration_ended(
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
        if event.compensable:
            state.compensable.append(_compensable(state, run, event.seq))
        loop.done += 1
        loop.results[index] = run.last
    else:
        loop.failed += 1
        if loop.first_failed is None or index < loop.first_failed:
            loop.first_failed, loop.first_error = index, event.error
    _open_next(loop)


def loop_done(state: RunState, event: e.LoopDone) -> None:
    assert event.step is not None
    assert event.visit is not None
    loop = state.active[event.step, event.visit]
    assert isinstance(loop, LoopVisit)
    counts = {"total": event.total, "done": event.done, "failed": event.failed}
    loop.result = {"results": loop.results, **counts}
    _keep_result(state, event.step, StepResult(event.visit, loop.result, {}))
    if loop.kept_ctx:
        for index in sorted(loop.kept_ctx):
            write_ctx(state, loop.branch, loop.kept_ctx[index])


def fail_run(
    state: RunState, error: Object, *, is_stopping: bool, cause: Cause | None = None
) -> None:
    """The first unhandled failure is the run's; a later one may only make it stop sooner."""
    if not state.failure:
        state.failure, state.cause = error, cause
    state.is_stopping = state.is_stopping or is_stopping
