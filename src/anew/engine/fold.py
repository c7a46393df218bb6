"""Apply one event to a run's state.

The caller gives the state away: it is changed in place and returned, so that the cost of an event
does not grow with the run. Knows no program; everything it needs is in the event.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from anew.engine import events as e
from anew.engine.events.words import RouteReason
from anew.engine.fold_guarded import note_guarded
from anew.engine.fold_step_runs import (
    human_answered,
    human_waiting,
    moved,
    retry_exhausted,
    retry_scheduled,
    signal_received,
    signal_waiting,
    step_redelivered,
    task_held,
    task_processed,
    task_started,
    wait_skipped,
)
from anew.engine.fold_visits import (
    fail_run,
    iteration_ended,
    loop_done,
    loop_started,
    step_done,
    step_failed,
    step_scheduled,
    step_skipped,
)
from anew.engine.results import Compensation
from anew.engine.shared_logs import resume_later
from anew.engine.state import (
    FOR_OTHERS,
    RUN_TRANSITIONS,
    Origin,
    Rescued,
    RunState,
    RunStatus,
)
from anew.engine.tokens import (
    add_token,
    drop_token,
    end_if_stranded,
    join_branches,
    open_branches,
    write_ctx,
)
from anew.errors import EngineBug

ENTRY_TOKEN = 1

# By an arc, or as a fallback: a step that is tried again by way of another is not about a failure.
_DEALS_WITH_FAILURES = (None, RouteReason.FALLBACK)


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
    # Without a call of its own: nearly every event is of a call that no guard knows.
    is_guarded = type(event) is e.TaskStarted and event.dependency is not None
    if is_guarded or state.guarded or type(event) is e.TaskHeld:
        note_guarded(state, event)
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
            task_started(moved(state, event), event)
        case e.TaskHeld():
            task_held(moved(state, event), event)
        case e.TaskProcessed():
            task_processed(state, moved(state, event), event)
        case e.LoopIterationDone() | e.LoopIterationFailed():
            iteration_ended(state, moved(state, event), event)
        case e.NextEvaluated():
            _next_evaluated(state, event)
        case e.StepScheduled():
            step_scheduled(state, event)
        case e.StepStarted():
            moved(state, event).began_at = event.at
        case e.StepDone():
            step_done(state, event)
        case e.StepFailed():
            step_failed(state, event)
        case e.TaskRetryScheduled():
            retry_scheduled(state, moved(state, event), event)
        case e.TaskRetryExhausted():
            retry_exhausted(state, moved(state, event), event)
        case e.LoopStarted():
            loop_started(state, moved(state, event), event)
        case e.LoopDone():
            loop_done(state, event)
        case e.GateChecked():
            _gate_checked(state, event)
        case e.StepRefused():
            end_if_stranded(state, drop_token(state, event.token).branch)
        case e.StepSkipped():
            step_skipped(state, event)
        case e.StepRedelivered():
            step_redelivered(moved(state, event), event)
        case e.RunRequested():
            _run_requested(state, event)
        case e.RunStarted():
            _run_started(state, event)
        case e.RunCancelled():
            _stop_everything(state)
        case e.RunCompensating():
            _run_compensating(state, event)
        case e.RunFailed():
            state.failure, state.branch_groups, state.branches = event.error, {}, {}
        case e.RunPaused():
            _run_paused(state, event)
        case e.RunResumed() | e.RunDone():
            pass
        case e.BranchForked():
            if event.fork is not None:
                open_branches(state, event, event.fork)
        case e.BranchJoined():
            if event.fork is not None:
                join_branches(state, event, event.fork)
        case e.HumanWaiting():
            human_waiting(state, moved(state, event), event)
        case e.HumanAnswered():
            human_answered(moved(state, event), event)
        case e.SignalWaiting():
            signal_waiting(state, moved(state, event), event)
        case e.SignalReceived():
            signal_received(state, event)
        case e.HumanTimedOut() | e.SignalTimedOut():
            moved(state, event)
        case e.WaitSkipped():
            wait_skipped(moved(state, event), event)
        case _:
            assert_never(event)


def _run_paused(state: RunState, event: e.RunPaused) -> None:
    if event.shared_with is not None:
        state.shared_until = event.seq - 1
        resume_later(state, event.later_by)


def _run_requested(state: RunState, event: e.RunRequested) -> None:
    state.run, state.workload, state.file = event.run, event.workload, event.file
    state.entry, state.generation = event.entry, event.generation


def _run_started(state: RunState, event: e.RunStarted) -> None:
    state.began_at = event.at
    if event.workload_is_ctx:
        state.ctx = state.workload
    if event.ctx:
        state.ctx = {**state.ctx, **event.ctx}
    if event.error is not None:
        fail_run(state, event.error, is_stopping=True)
    add_token(state, event.entry, {}, event.seq)


def _run_compensating(state: RunState, event: e.RunCompensating) -> None:
    state.compensation = Compensation(
        event.is_cancelled, event.reason, event.error, event.unsatisfied
    )
    if event.is_cancelled:
        _stop_everything(state)


def _stop_everything(state: RunState) -> None:
    state.tokens, state.active, state.live = {}, {}, {}
    state.branch_groups, state.branches, state.asking = {}, {}, 0


def _next_evaluated(state: RunState, event: e.NextEvaluated) -> None:
    if event.patches:
        write_ctx(state, event.branch, event.patches["ctx"])
        state.epoch += 1
    for token in event.tokens:
        via = token.get("via")
        cause = state.passed_on if via in _DEALS_WITH_FAILURES else None
        origin = Origin(event.step, via, token.get("outcome"), cause)
        branch = token.get("branch")
        add_token(state, token["to"], token["args"], event.seq, origin=origin, branch=branch)
        if "arc" in token:
            arc = f"{event.step}:{token['arc']}"
            state.arcs_taken[arc] = state.arcs_taken.get(arc, 0) + 1
    if event.fails_run:
        fail_run(state, event.error or {}, is_stopping=True)
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
        fail_run(state, event.error, is_stopping=True)
    if event.gate is not None and event.redirects is not None:
        state.redirects[event.gate] = event.redirects
    if event.gate is not None and event.count is not None:
        state.retries[event.gate] = event.count
    if not event.allow:
        for token in event.tokens:
            state.tokens[token].refused_at = state.epoch
