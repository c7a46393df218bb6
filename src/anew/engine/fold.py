"""Apply one event to a run's state.

The caller gives the state away: it is changed in place and returned, so that the cost of an event
does not grow with the run. Knows no program; everything it needs is in the event.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from anew.engine import events as e
from anew.engine.events.words import FailureEffect, RouteReason
from anew.engine.shared_logs import resume_later
from anew.engine.state import (
    FOR_OTHERS,
    NO_ORIGIN,
    RUN_TRANSITIONS,
    STEP_RUN_TRANSITIONS,
    SUCCESS,
    AwaitedSignal,
    Branch,
    KeptSignal,
    LoopVisit,
    Origin,
    OutcomeSummary,
    Question,
    RepeatedFailure,
    Rescued,
    RunState,
    RunStatus,
    SignalBuffer,
    StepResult,
    StepRun,
    StepRunKey,
)
from anew.engine.tokens import (
    add_token,
    drop_token,
    end_branch,
    end_if_stranded,
    join_branches,
    keep_verdict,
    leave,
    open_branches,
    write_ctx,
)
from anew.errors import EngineBug
from anew.program.policy import DirectiveKind, TimeoutAction, Verdict
from anew.program.program import LoopMode
from anew.values import Object, json_text, patched

ENTRY_TOKEN = 1
# Every task that ends asks for these, and Python 3.11 is slow to find a member in its enum.
_GOES_ON = (DirectiveKind.CONTINUE, DirectiveKind.BREAK, DirectiveKind.JUMP)
_SUCCESS, _FAILURE = Verdict.SUCCESS, Verdict.FAILURE
# By an arc, or because branches met: not by a retry, a fallback or a gate.
_NORMAL_WAYS = (None, "join")


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
    if state.asking and status is RunStatus.RUNNING and _only_others_move_it(state):
        status = RunStatus.WAITING
    state.status = status
    state.version = event.seq
    return state


def _only_others_move_it(state: RunState) -> bool:
    """Whether every live step-run waits for a person or a signal."""
    live = state.live_step_runs()
    return bool(live) and all(run.status in FOR_OTHERS for run in live)


def _apply(state: RunState, event: e.Event) -> None:  # noqa: PLR0915 - one case per event
    match event:
        case e.TaskStarted():
            _task_started(_moved(state, event), event)
        case e.TaskProcessed():
            _task_processed(state, _moved(state, event), event)
        case e.LoopIterationDone() | e.LoopIterationFailed():
            _iteration_ended(state, _moved(state, event), event)
        case e.NextEvaluated():
            _next_evaluated(state, event)
        case e.StepScheduled():
            _step_scheduled(state, event)
        case e.StepStarted():
            _moved(state, event).began_at = event.at
        case e.StepDone():
            _step_done(state, event)
        case e.StepFailed():
            _step_failed(state, event)
        case e.TaskRetryScheduled():
            _retry_scheduled(state, _moved(state, event), event)
        case e.TaskRetryExhausted():
            _retry_exhausted(state, _moved(state, event), event)
        case e.LoopStarted():
            _loop_started(state, _moved(state, event), event)
        case e.LoopDone():
            _loop_done(state, event)
        case e.GateChecked():
            _gate_checked(state, event)
        case e.StepRefused():
            end_if_stranded(state, drop_token(state, event.token).branch)
        case e.StepSkipped():
            _step_skipped(state, event)
        case e.StepRedelivered():
            _step_redelivered(_moved(state, event), event)
        case e.RunRequested():
            _run_requested(state, event)
        case e.RunStarted():
            _run_started(state, event)
        case e.RunCancelled():
            state.tokens, state.active, state.live = {}, {}, {}
            state.branch_groups, state.branches, state.asking = {}, {}, 0
        case e.RunFailed():
            state.failure = event.error
            state.branch_groups, state.branches = {}, {}
        case e.RunPaused():
            if event.shared_with is not None:
                resume_later(state, event.later_by)
        case e.RunResumed() | e.RunDone():
            pass
        case e.BranchForked():
            if event.fork is not None:
                open_branches(state, event, event.fork)
        case e.BranchJoined():
            if event.fork is not None:
                join_branches(state, event, event.fork)
        case e.HumanWaiting():
            _human_waiting(state, _moved(state, event), event)
        case e.HumanAnswered():
            _human_answered(_moved(state, event), event)
        case e.SignalWaiting():
            _signal_waiting(state, _moved(state, event), event)
        case e.SignalReceived():
            _signal_received(state, event)
        case e.HumanTimedOut() | e.SignalTimedOut():
            _moved(state, event)
        case e.WaitSkipped():
            _wait_skipped(_moved(state, event), event)
        case _:
            assert_never(event)


def _moved(state: RunState, event: e.Event) -> StepRun:
    """The step-run the event speaks of, moved to its new status."""
    assert event.step is not None
    assert event.visit is not None
    found = state.active.get((event.step, event.visit))
    if type(found) is LoopVisit:
        found = found.open.get(event.iteration) if event.iteration is not None else None
    if found is None:
        raise EngineBug(f"{event.name} in {event.step} visit {event.visit}, which is not live")
    status = STEP_RUN_TRANSITIONS.get((found.status, type(event)))
    if status is None:
        raise EngineBug(f"{event.name} in {event.step} visit {event.visit}: it is {found.status}")
    state.asking -= found.status in FOR_OTHERS
    found.status = status
    return found


def _run_requested(state: RunState, event: e.RunRequested) -> None:
    state.run, state.workload, state.file = event.run, event.workload, event.file
    state.entry, state.generation = event.entry, event.generation


def _run_started(state: RunState, event: e.RunStarted) -> None:
    state.began_at = event.at
    if event.workload_is_ctx:
        state.ctx = state.workload
    add_token(state, event.entry, {}, event.seq)


def _next_evaluated(state: RunState, event: e.NextEvaluated) -> None:
    for token in event.tokens:
        origin = Origin(event.step, token.get("via"), token.get("outcome"))
        branch = token.get("branch")
        add_token(state, token["to"], token["args"], event.seq, origin=origin, branch=branch)
        if "arc" in token:
            arc = f"{event.step}:{token['arc']}"
            state.arcs_taken[arc] = state.arcs_taken.get(arc, 0) + 1
    if event.fails_run:
        _fail(state, event.error or {}, is_stopping=True)
    if not event.tokens:
        end_if_stranded(state, event.branch)
    elif event.reason is RouteReason.FALLBACK:
        error = (event.tokens[0].get("outcome") or {}).get("error")
        state.rescued = Rescued(event.tokens[0]["to"], error)
    elif state.rescued is not None and _goes_on(event, state.rescued):
        state.rescued = None


def _goes_on(event: e.NextEvaluated, rescued: Rescued) -> bool:
    """Whether the fallback has led on by an arc: then its failure is dealt with."""
    return event.step == rescued.step and all("via" not in token for token in event.tokens)


def _gate_checked(state: RunState, event: e.GateChecked) -> None:
    if event.error is not None:
        _fail(state, event.error, is_stopping=True)
    if event.gate is not None and event.redirects is not None:
        state.redirects[event.gate] = event.redirects
    if event.gate is not None and event.count is not None:
        state.retries[event.gate] = event.count
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
    tokens = [drop_token(state, token) for token in event.tokens]
    # A visit in which branches meet comes from all of them, and from none.
    origin = tokens[0].origin if tokens and tokens[0].branch == event.branch else NO_ORIGIN
    state.visits[event.step] = event.visit
    state.steps_begun += 1
    state.live[event.step] = state.live.get(event.step, 0) + 1
    key = StepRunKey(event.step, event.visit)
    run = StepRun(key, event.args, {}, origin=origin, branch=event.branch)
    state.active[event.step, event.visit] = run
    ground = state.ground(event.branch)
    if not isinstance(ground, RunState):
        ground.live += 1
        ground.has_begun = True
    if ground.retries and origin.via in _NORMAL_WAYS and _succeeded(ground, event.step):
        ground.retries.pop(event.step, None)


def _succeeded(ground: RunState | Branch, step: str) -> bool:
    return ground.verdicts.get(step) == Verdict.SUCCESS


def _step_redelivered(run: StepRun, event: e.StepRedelivered) -> None:
    run.deliveries, run.is_lost = event.delivery, True


def _task_started(run: StepRun, event: e.TaskStarted) -> None:
    assert event.task is not None
    run.started_at, run.started_seq = event.at, event.seq
    if run.is_lost:
        # The same attempt once more: a lost worker uses up nothing of the author's.
        run.is_lost, run.inputs, run.workbook = False, event.inputs, event.workbook
        return
    run.asked_at = event.at
    run.task_visit, run.inputs, run.workbook = event.task_visit, event.inputs, event.workbook
    if event.attempt == 1:
        run.prev = run.last
        run.first_at = event.at
        run.previous_seconds = None
    run.task = event.task
    run.attempt = event.attempt or 1
    run.resume_at = run.skipped_at = None
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
    verdict = event.verdict or outcome.amounts_to
    if verdict is _FAILURE and event.directive in _GOES_ON:
        verdict = _SUCCESS  # the author lets it count as one
    if verdict is not _SUCCESS or outcome.label or outcome.word or outcome.suggested:
        run.said = OutcomeSummary(verdict, outcome.word, outcome.label, outcome.suggested)
    else:
        run.said = SUCCESS
    run.asked = run.answer = run.answered_by = run.chosen = None
    run.awaited = run.payload = None


def _retry_scheduled(state: RunState, run: StepRun, event: e.TaskRetryScheduled) -> None:
    run.previous_seconds = event.spread_seconds
    run.resume_at = event.not_before
    run.redirect = event.to
    if event.count is not None:
        state.ground(run.branch).retries[run.key.step] = event.count


def _retry_exhausted(state: RunState, run: StepRun, event: e.TaskRetryExhausted) -> None:
    if event.patches:
        _patch(state, run, event.patches)
    run.directive, run.to, run.resume_at = event.directive, event.to, event.not_before
    run.error = event.error or run.error
    verdict = event.verdict
    if verdict is None and event.directive in _GOES_ON:
        verdict = _SUCCESS
    if verdict is not None:
        run.said = OutcomeSummary(verdict, None, run.said.label, run.said.suggested)


def _human_waiting(state: RunState, run: StepRun, event: e.HumanWaiting) -> None:
    run.asked = Question(
        event.question,
        event.choices,
        event.action or TimeoutAction.FAIL,
        event.default,
        event.deadline,
    )
    run.resume_at = event.deadline
    state.asking += 1


def _human_answered(run: StepRun, event: e.HumanAnswered) -> None:
    run.answer, run.answered_by, run.resume_at = event.answer, event.by, None
    run.chosen = event.label


def _signal_waiting(state: RunState, run: StepRun, event: e.SignalWaiting) -> None:
    run.awaited = AwaitedSignal(event.signal, event.deadline)
    run.resume_at = event.deadline
    state.asking += 1


def _signal_received(state: RunState, event: e.SignalReceived) -> None:
    if event.id is not None:
        _inbox(state, event.signal).ids[event.id] = event.seq
    if event.step is None:
        early = KeptSignal(event.seq, event.payload, len(json_text(event.payload)))
        inbox = _inbox(state, event.signal)
        inbox.kept.append(early)
        inbox.chars += early.chars
        return
    run = _moved(state, event)
    run.resume_at = None
    is_kept = event.kept is not None
    run.payload = _taken_up(state, event).payload if is_kept else event.payload


def _wait_skipped(run: StepRun, event: e.WaitSkipped) -> None:
    run.resume_at, run.skipped_at = None, event.at


def _taken_up(state: RunState, event: e.SignalReceived) -> KeptSignal:
    """The oldest of its name serves once."""
    inbox = state.inboxes[event.signal]
    first = inbox.kept.pop(0)
    if first.seq != event.kept:
        raise EngineBug(f"{event.name} (seq {event.seq}) takes up {event.kept}, not {first.seq}")
    inbox.chars -= first.chars
    if not inbox.kept and not inbox.ids:
        del state.inboxes[event.signal]
    return first


def _inbox(state: RunState, signal: str) -> SignalBuffer:
    return state.inboxes.setdefault(signal, SignalBuffer())


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
    write_ctx(state, run.branch, ctx)
    state.epoch += 1


def _step_done(state: RunState, event: e.StepDone) -> None:
    assert event.step is not None
    assert event.visit is not None
    visit = state.active[event.step, event.visit]
    if isinstance(visit, StepRun):
        run = _moved(state, event)
        if not event.relays:
            state.last_result = run.last
            _keep_result(state, event.step, StepResult(event.visit, run.last, run.labels))
    else:
        state.last_result = visit.result
    repeated = state.ground(visit.branch).repeated
    if repeated:
        repeated.pop(event.step, None)
    _keep_verdict(state, visit, event.verdict or _SUCCESS)
    _end_visit(state, event.step, event.visit)


def _keep_verdict(state: RunState, visit: StepRun | LoopVisit, verdict: Verdict) -> None:
    ground = state.ground(visit.branch)
    keep_verdict(ground, visit.key.step, verdict)
    if not isinstance(ground, RunState):
        said = visit.said if isinstance(visit, StepRun) else SUCCESS
        ground.said = said if said.verdict is verdict else OutcomeSummary(verdict)
        ground.error = None


def _keep_result(state: RunState, step: str, result: StepResult) -> None:
    """Visits may overlap (`join: each`); the latest one counts, whichever ends last."""
    known = state.results.get(step)
    if known is None or known.visit < result.visit:
        state.results[step] = result


def _step_failed(state: RunState, event: e.StepFailed) -> None:
    assert event.step is not None
    assert event.visit is not None
    visit = state.active[event.step, event.visit]
    if isinstance(visit, StepRun):
        state.last_result = _moved(state, event).last
    _keep_verdict(state, visit, event.verdict or _FAILURE)
    ground = state.ground(visit.branch)
    if event.error.get("retryable") is False:
        _count_repeats(ground, event.step, signature_of(event.error))
    if isinstance(ground, Branch):
        ground.error = event.error
    if event.failure_mode is FailureEffect.BRANCH:
        assert isinstance(ground, Branch)
        ground.said = OutcomeSummary(_FAILURE)
        end_branch(state, ground)
    elif not event.handled:
        _fail(state, event.error, is_stopping=event.failure_mode is FailureEffect.FAIL_FAST)
    _end_visit(state, event.step, event.visit)


def _count_repeats(ground: RunState | Branch, step: str, signature: str) -> None:
    known = ground.repeated.get(step)
    times = known.times + 1 if known is not None and known.signature == signature else 1
    ground.repeated[step] = RepeatedFailure(signature, times)


def signature_of(error: Object) -> str:
    """What two errors have in common when trying again has changed nothing."""
    return f"{error.get('kind')}: {error.get('type')}: {error.get('message')}"


def _step_skipped(state: RunState, event: e.StepSkipped) -> None:
    if event.token is not None:
        drop_token(state, event.token)
        return
    key = _moved(state, event).key
    _end_visit(state, key.step, key.visit)


def _end_visit(state: RunState, step: str, visit: int) -> None:
    ended = state.active.pop((step, visit))
    leave(state, step)
    if ended.branch is not None:
        state.branches[ended.branch].live -= 1
    state.epoch += 1


def _loop_started(state: RunState, run: StepRun, event: e.LoopStarted) -> None:
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
            write_ctx(state, loop.branch, loop.kept_ctx[index])
