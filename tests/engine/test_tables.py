"""The tables of legal moves, walked over their whole product."""

import pytest

from anew.engine import events as e
from anew.engine.events import EVENTS
from anew.engine.fold import evolve
from anew.engine.outcome import outcome_of
from anew.engine.state import (
    FINAL,
    RUN_TRANSITIONS,
    STEP_RUN_TRANSITIONS,
    RunState,
    RunStatus,
    StepRun,
    StepRunKey,
    StepRunStatus,
)
from anew.errors import EngineBug
from anew.program.policy import DirectiveKind

PLACE = {"step": "a", "visit": 1, "task": "t", "attempt": 1}
PARTS = {
    e.StepFailed: {"error": {"kind": "failed", "message": "x"}, "handled": True},
    e.StepSkipped: {"reason": "the run failed"},
    e.StepRedelivered: {"delivery": 2},
    e.TaskStarted: {"task_visit": 1},
    e.TaskProcessed: {"outcome": outcome_of({}), "directive": "continue"},
    e.TaskRetryScheduled: {
        "rule": 1,
        "backoff": "none",
        "base_seconds": 0.0,
        "jitter": "none",
        "draw": None,
        "cap_seconds": None,
        "retry_after_seconds": None,
        "spread_seconds": 0.0,
        "delay_seconds": 0.0,
        "not_before": 0,
        "attempts": 3,
    },
    e.TaskRetryExhausted: {
        "rule": 1,
        "attempts": 3,
        "reason": "attempts",
        "directive": DirectiveKind.FAIL,
    },
    e.LoopStarted: {"items": [], "iterator": "i", "mode": "sequential", "max_in_flight": 1},
    e.HumanWaiting: {"question": "Go on?"},
    e.HumanAnswered: {"answer": "yes"},
    e.HumanTimedOut: {"action": "fail"},
    e.WaitSkipped: {"waited_for": "retry"},
}
STEP_EVENTS = (
    e.StepStarted,
    e.StepDone,
    e.StepFailed,
    e.StepSkipped,
    e.StepRedelivered,
    e.TaskStarted,
    e.TaskProcessed,
    e.TaskRetryScheduled,
    e.TaskRetryExhausted,
    e.LoopStarted,
    e.HumanWaiting,
    e.HumanAnswered,
    e.HumanTimedOut,
    e.WaitSkipped,
)


def running(status):
    state = RunState(status=RunStatus.RUNNING)
    state.active["a", 1] = StepRun(StepRunKey("a", 1), {}, {}, status=status)
    state.live["a"] = 1
    return state


@pytest.mark.parametrize("kind", STEP_EVENTS)
@pytest.mark.parametrize("status", StepRunStatus)
def test_a_step_run_moves_only_as_its_table_says(status, kind):
    state = running(status)
    event = kind(**PLACE, **PARTS.get(kind, {}), seq=1)
    if (status, kind) not in STEP_RUN_TRANSITIONS:
        with pytest.raises(EngineBug):
            evolve(state, event)
        return
    step_run = state.active["a", 1]
    evolve(state, event)
    assert step_run.status is STEP_RUN_TRANSITIONS[status, kind]


@pytest.mark.parametrize("kind", EVENTS.values())
@pytest.mark.parametrize("status", sorted(FINAL))
def test_nothing_happens_after_the_end_of_a_run(status, kind):
    assert (status, kind) not in RUN_TRANSITIONS


@pytest.mark.parametrize("kind", [e.RunPaused, e.RunResumed, e.RunCancelled, e.RunDone])
@pytest.mark.parametrize("status", list(RunStatus))
def test_a_run_moves_only_as_its_table_says(status, kind):
    state = RunState(status=status)
    event = kind(seq=1)
    if (status, kind) not in RUN_TRANSITIONS:
        with pytest.raises(EngineBug):
            evolve(state, event)
        return
    evolve(state, event)
    assert state.status is RUN_TRANSITIONS[status, kind]


def iterating(status):
    state = running(StepRunStatus.READY)
    looping = {"items": [1, 2], "iterator": "i", "mode": "sequential", "max_in_flight": 1}
    evolve(state, e.LoopStarted(step="a", visit=1, seq=1, **looping))
    state.active["a", 1].open[0].status = status
    return state


@pytest.mark.parametrize("kind", [e.LoopIterationDone, e.LoopIterationFailed])
@pytest.mark.parametrize("status", StepRunStatus)
def test_an_iteration_ends_only_as_its_table_says(status, kind):
    state = iterating(status)
    error = {"error": {"kind": "failed", "message": "x"}} if kind is e.LoopIterationFailed else {}
    event = kind(step="a", visit=1, iteration=0, seq=2, **error)
    if (status, kind) not in STEP_RUN_TRANSITIONS:
        with pytest.raises(EngineBug):
            evolve(state, event)
        return
    evolve(state, event)
    assert list(state.active["a", 1].open) == [1]


@pytest.mark.parametrize("kind", EVENTS.values())
def test_every_event_can_happen_in_some_state(kind):
    assert any(key[1] is kind for key in RUN_TRANSITIONS)


def test_an_event_out_of_sequence_is_refused():
    with pytest.raises(EngineBug):
        evolve(running(StepRunStatus.SCHEDULED), e.StepStarted(step="a", visit=1, seq=7))
