"""Start what can start after something has happened; when nothing can move any more, end the run.

Asks joins, gates and limits which tokens begin a visit, and closes groups of branches. Knows
nothing of what it was that happened.
"""

from __future__ import annotations

from anew.engine import branches, compensating, gates
from anew.engine import events as e
from anew.engine.admission import admits
from anew.engine.joins import groups_of, merged_args, oldest_joining, ready_groups
from anew.engine.outcome import error_of
from anew.engine.record import Recorder
from anew.engine.state import RunState, RunStatus, StepRun, StepRunKey, StepRunStatus, Token
from anew.engine.tokens import is_join
from anew.program.kind import OutcomeSource
from anew.program.program import Program
from anew.values import Object

# Every transition asks for it, and Python 3.11 is slow to find a member in its enum.
_PAUSED = RunStatus.PAUSED
_RUN_FAILED = "the run failed"


def settle(recorder: Recorder) -> None:
    """Start what can start; when nothing can move any more, end the run."""
    state = recorder.state
    while not state.is_final and state.status is not _PAUSED:
        if state.compensation is not None:
            compensating.go_on(recorder)
            return
        if state.is_stopping:
            _withdraw(recorder)
            if not state.active:
                _end_run(recorder)
            return
        if state.branch_groups and _join_branches(recorder):
            continue
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


def _join_branches(recorder: Recorder) -> bool:
    """Begin the visit in which parallel branches meet, if they have done enough."""
    joined = branches.next_joined(recorder)
    if joined is None:
        return False
    step, args = joined.group.join, branches.args_of(joined)
    parent = joined.group.parent
    if parent is not None and is_join(recorder.state, recorder.state.branches[parent], step):
        recorder.stopped += branches.write(recorder, joined, None)
        return True
    visit = recorder.state.visits.get(step, 0) + 1
    problem = _past_limit(recorder, step)
    recorder.stopped += branches.write(recorder, joined, visit)
    tokens = [one.id for one in recorder.state.tokens.values() if _is_of_join(one, step, parent)]
    if problem is not None:
        recorder.emit(e.GateChecked(step=step, tokens=tokens, allow=False, error=problem))
        return True
    recorder.emit(e.StepScheduled(step=step, visit=visit, tokens=tokens, args=args, branch=parent))
    recorder.jobs.append(StepRunKey(step, visit))
    return True


def _is_of_join(token: Token, step: str, branch: int | None) -> bool:
    return token.step == step and token.branch == branch and token.origin.via == "join"


def _start_ready(recorder: Recorder) -> bool:
    """Start every visit that may start; True when the run has moved."""
    state, moved = recorder.state, False
    for waiting in groups_of(state):
        for group in ready_groups(recorder.program, state, waiting):
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
    problem = _past_limit(recorder, step.name)
    if problem is not None:
        recorder.emit(e.GateChecked(step=step.name, tokens=ids, allow=False, error=problem))
        return True
    visit = recorder.state.visits.get(step.name, 0) + 1
    key, branch = StepRunKey(step.name, visit), tokens[0].branch
    if len(ids) > 1:
        recorder.emit(e.BranchJoined(step=step.name, visit=visit, tokens=ids))
    recorder.emit(
        e.StepScheduled(step=step.name, visit=visit, tokens=ids, args=args, branch=branch)
    )
    recorder.jobs.append(key)
    return True


def _past_limit(recorder: Recorder, step: str) -> Object | None:
    """The error of a run that has gone in circles for as long as it may."""
    state, limits = recorder.state, recorder.program.limits
    if limits.steps_per_run is not None and state.steps_begun >= limits.steps_per_run:
        steps = limits.steps_per_run
        what = f"the run began {steps} steps, its limit (steps_per_run, max_steps)"
    else:
        visits = recorder.program.steps[step].visits_max or limits.visits_per_step
        if visits is None or state.visits.get(step, 0) < visits:
            return None
        what = f"step {step} was visited {visits} times, its limit (visits_per_step, max_visits)"
    most = max(state.visits.values())
    cycle = [name for name, visits in state.visits.items() if visits * 2 > most > 1]
    round_about = f"; these steps cycle: {', '.join(cycle)}" if cycle else ""
    return error_of("limit_exceeded", f"{what}{round_about}")


def _drop_refused(recorder: Recorder) -> bool:
    refused = [t for t in recorder.state.tokens.values() if t.refused_at is not None]
    for token in refused:
        recorder.emit(e.StepRefused(step=token.step, token=token.id))
    return bool(refused)


def _withdraw(recorder: Recorder) -> None:
    """No new step-run starts in a run that is failing, not even one already handed out.

    What this very transition handed out was let in before the failure, and goes on.
    """
    for visit in list(recorder.state.active.values()):
        is_waiting = isinstance(visit, StepRun) and visit.status is StepRunStatus.SCHEDULED
        if is_waiting and visit.key not in recorder.jobs:
            key = visit.key
            recorder.emit(e.StepSkipped(step=key.step, visit=key.visit, reason=_RUN_FAILED))


def _goes_on_elsewhere(program: Program, state: RunState) -> bool:
    """Whether another run has taken the place of this one: its gates are that run's business."""
    ended = (program.steps[name] for name in state.verdicts if name in program.steps)
    return any(task.outcome_from is OutcomeSource.RESTART for step in ended for task in step.tasks)


def _end_run(recorder: Recorder) -> None:
    state, program = recorder.state, recorder.program
    for token in list(state.tokens.values()):
        recorder.emit(e.StepSkipped(step=token.step, token=token.id, reason=_RUN_FAILED))
    unmet = gates.unsatisfied(program, state)
    if state.failure is not None:
        compensating.fail(recorder, state.failure, unmet)
        return
    if unmet and not _goes_on_elsewhere(program, state):
        error = gates.error_of_gates(unmet, gates.asked(program, state).goals)
        compensating.fail(recorder, error, unmet)
        return
    result = state.last_result
    if program.return_step is not None:
        named = state.results.get(program.return_step)
        result = named.result if named else None
    recorder.emit(e.RunDone(result=result))
