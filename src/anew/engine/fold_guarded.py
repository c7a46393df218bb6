"""The fold of which calls are at work under guards, or held by them.

Part of `engine.fold`: changes the state in place, knows no program, decides nothing.
"""

from __future__ import annotations

from anew.engine import events as e
from anew.engine.state import GuardedCall, RunState, StepRunStatus, key_of

# What ends at most the call of its own step-run, and what may end others with it.
_OWN = frozenset({e.TaskProcessed, e.StepRedelivered, e.LoopIterationDone, e.LoopIterationFailed})
_MANY = frozenset(
    {
        *(e.StepDone, e.StepFailed, e.StepSkipped, e.NextEvaluated, e.BranchJoined),
        *(e.RunDone, e.RunFailed, e.RunCancelled, e.RunCompensating),
    }
)
_GUARDED = (StepRunStatus.HELD, StepRunStatus.EXECUTING)


def note_guarded(state: RunState, event: e.Event) -> None:
    """Keep `guarded` true after an event."""
    if isinstance(event, e.TaskHeld):
        _keep(state, event, (event.scope,))
    elif isinstance(event, e.TaskStarted):
        _keep(state, event, event.scopes)
    else:
        for call in calls_ended_by(state, event):
            if not _is_guarded(state, call):
                del state.guarded[call.key.text]


def calls_ended_by(state: RunState, event: e.Event) -> list[GuardedCall]:
    """The calls under guards that an event may end."""
    if type(event) in _MANY:
        return list(state.guarded.values())
    known = state.guarded.get(key_of(event).text) if type(event) in _OWN else None
    return [] if known is None else [known]


def _keep(state: RunState, event: e.TaskHeld | e.TaskStarted, scopes: tuple[str, ...]) -> None:
    key = key_of(event)
    if event.dependency is None:
        state.guarded.pop(key.text, None)
    else:
        state.guarded[key.text] = GuardedCall(key, event.dependency, scopes)


def _is_guarded(state: RunState, call: GuardedCall) -> bool:
    run = None if state.is_final else state.step_run(call.key)
    if run is None or run.status not in _GUARDED:
        return False
    return run.held is not None or bool(run.scopes)
