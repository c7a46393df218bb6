"""The fold of what happens in a step-run: executions, decisions, waits and what ends them.

Part of `engine.fold`: changes the state in place, knows no program, decides nothing.
"""

from __future__ import annotations

from anew.engine import events as e
from anew.engine.state import (
    FOR_OTHERS,
    STEP_RUN_TRANSITIONS,
    SUCCESS,
    AwaitedSignal,
    KeptSignal,
    LoopVisit,
    OutcomeSummary,
    Question,
    RunState,
    SignalBuffer,
    StepRun,
)
from anew.engine.tokens import (
    write_ctx,
)
from anew.errors import EngineBug
from anew.guards.state import HeldCall
from anew.program.policy import DirectiveKind, TimeoutAction, Verdict
from anew.values import Object, json_text, patched

# Asked for all the time, and Python 3.11 is slow to find a member in its enum.
_SUCCESS, _FAILURE = Verdict.SUCCESS, Verdict.FAILURE
_JUMP = DirectiveKind.JUMP


def moved(state: RunState, event: e.Event) -> StepRun:
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


def step_redelivered(run: StepRun, event: e.StepRedelivered) -> None:
    run.deliveries, run.is_lost = event.delivery, True


def task_started(run: StepRun, event: e.TaskStarted) -> None:
    assert event.task is not None
    run.started_at, run.started_seq = event.at, event.seq
    run.held, run.scopes, run.dependency = None, event.scopes, event.dependency
    if event.paid:
        run.took, run.owes = event.paid, 0.0
    if run.is_lost:
        # The same attempt once more: a lost worker uses up nothing of the author's.
        run.is_lost, run.inputs, run.workbook = False, event.inputs, event.workbook
        return
    run.asked_at, run.asked_seq = event.at, event.seq
    run.task_visit, run.inputs, run.workbook = event.task_visit, event.inputs, event.workbook
    if event.attempt == 1:
        run.prev = run.last
        run.first_at = event.at
        run.previous_seconds = None
        run.took, run.owes, run.cooled = 0.0, 0.0, 0
    run.task = event.task
    run.attempt = event.attempt or 1
    run.resume_at = run.skipped_at = None
    run.executions += 1
    run.executions_of[event.task] = run.executions_of.get(event.task, 0) + 1


def task_held(run: StepRun, event: e.TaskHeld) -> None:
    since = event.at if run.held is None else run.held.at
    run.held = HeldCall(event.guard, event.dependency, since, event.until)


def task_processed(state: RunState, run: StepRun, event: e.TaskProcessed) -> None:
    assert event.task is not None
    outcome = event.outcome
    run.last, run.helpers, run.inputs = outcome.result, outcome.helpers, None
    run.scopes = ()
    run.deliveries = 1  # it got somewhere, so it is not what kills its workers
    if outcome.result is not None or not outcome.is_error:
        run.labels = {**run.labels, event.task: outcome.result}
    if event.patches:
        _patch(state, run, event.patches)
    run.directive, run.to, run.resume_at = event.directive, event.to, event.not_before
    if event.directive is _JUMP and event.rule is not None:
        rule = (event.task, event.rule)
        count, first_at = run.jumps.get(rule, (0, event.at))
        run.jumps = {**run.jumps, rule: (count + 1, first_at)}
    run.error = event.error or outcome.error
    verdict = event.verdict or outcome.amounts_to
    if verdict is _FAILURE and event.directive.accepts:
        verdict = _SUCCESS  # the author lets it count as one
    if verdict is not _SUCCESS or outcome.label or outcome.word or outcome.suggested:
        run.summary = OutcomeSummary(verdict, outcome.word, outcome.label, outcome.suggested)
    else:
        run.summary = SUCCESS
    run.question = run.answer = run.answered_by = run.chosen = None
    run.awaited = run.payload = None


def retry_scheduled(state: RunState, run: StepRun, event: e.TaskRetryScheduled) -> None:
    run.previous_seconds = event.spread_seconds
    run.resume_at = event.not_before
    run.redirect = event.to
    run.took, run.owes = event.took or 0.0, event.owes or 0.0
    run.cooled += event.cools
    if event.count is not None:
        state.ctx_owner(run.branch).retries[run.key.step] = event.count


def retry_exhausted(state: RunState, run: StepRun, event: e.TaskRetryExhausted) -> None:
    if event.patches:
        _patch(state, run, event.patches)
    run.directive, run.to, run.resume_at = event.directive, event.to, event.not_before
    run.error = event.error or run.error
    verdict = event.verdict
    if verdict is None and event.directive.accepts:
        verdict = _SUCCESS
    if verdict is not None:
        run.summary = OutcomeSummary(verdict, None, run.summary.label, run.summary.suggested)


def human_waiting(state: RunState, run: StepRun, event: e.HumanWaiting) -> None:
    run.question = Question(
        event.question,
        event.choices,
        event.action or TimeoutAction.FAIL,
        event.default,
        event.deadline,
    )
    run.resume_at = event.deadline
    state.asking += 1


def human_answered(run: StepRun, event: e.HumanAnswered) -> None:
    run.answer, run.answered_by, run.resume_at = event.answer, event.by, None
    run.chosen = event.label


def signal_waiting(state: RunState, run: StepRun, event: e.SignalWaiting) -> None:
    run.awaited = AwaitedSignal(event.signal, event.deadline)
    run.resume_at = event.deadline
    state.asking += 1


def signal_received(state: RunState, event: e.SignalReceived) -> None:
    if event.id is not None:
        _buffer(state, event.signal).ids[event.id] = event.seq
    if event.step is None:
        early = KeptSignal(event.seq, event.payload, len(json_text(event.payload)))
        buffer = _buffer(state, event.signal)
        buffer.kept.append(early)
        buffer.chars += early.chars
        return
    run = moved(state, event)
    run.resume_at = None
    is_kept = event.kept is not None
    run.payload = _taken_up(state, event).payload if is_kept else event.payload


def wait_skipped(run: StepRun, event: e.WaitSkipped) -> None:
    run.resume_at, run.skipped_at = None, event.at


def _taken_up(state: RunState, event: e.SignalReceived) -> KeptSignal:
    """The oldest of its name serves once."""
    buffer = state.signal_buffers[event.signal]
    first = buffer.kept.pop(0)
    if first.seq != event.kept:
        raise EngineBug(f"{event.name} (seq {event.seq}) takes up {event.kept}, not {first.seq}")
    buffer.chars -= first.chars
    if not buffer.kept and not buffer.ids:
        del state.signal_buffers[event.signal]
    return first


def _buffer(state: RunState, signal: str) -> SignalBuffer:
    return state.signal_buffers.setdefault(signal, SignalBuffer())


def _patch(state: RunState, run: StepRun, patches: Object) -> None:
    scratch = patches.get("iter")
    if scratch:
        run.scratch = patched(run.scratch, scratch)
    local = patches.get("local")
    if local:
        run.local = patched(run.local or {}, local)
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
