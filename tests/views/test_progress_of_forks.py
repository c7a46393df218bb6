"""Where a run stands that shares the log of another: its waits end when the engine ends them."""

from __future__ import annotations

import pytest

from anew.engine import events as e
from anew.engine.fold import fold
from anew.languages import load_text
from anew.views.progress import progress_of

SECOND = 10**9
SLEEPS = "metadata: {name: s}\nworkflow: [{step: a, tool: [{name: t, kind: sleep, seconds: 10}]}]"
PLACE = {"step": "a", "visit": 1, "task": "t", "attempt": 1}
QUESTION = e.HumanWaiting(
    **PLACE, at=2 * SECOND, question="Q", choices=[], deadline=60 * SECOND, action="fail"
)
SIGNAL = e.SignalWaiting(**PLACE, at=2 * SECOND, signal="go", deadline=60 * SECOND)


def begun(*more: e.Event) -> list[e.Event]:
    """A log whose only step is at work since its second 2, and what followed."""
    events: list[e.Event] = [
        e.RunRequested(run="1", program="s", digest="d", workload={}, at=1),
        e.RunStarted(entry="a", at=1),
        e.StepScheduled(step="a", visit=1, tokens=[1], args={}, at=1),
        e.StepStarted(step="a", visit=1, at=2 * SECOND),
        e.TaskStarted(**PLACE, task_visit=1, inputs={"seconds": 10}, at=2 * SECOND),
        *more,
    ]
    for seq, event in enumerate(events, 1):
        event.seq = seq
    return events


def cut(later_by: int | None) -> e.RunPaused:
    return e.RunPaused(shared_with="1", later_by=later_by, at=100 * SECOND)


@pytest.mark.parametrize("wait", [QUESTION, SIGNAL], ids=["question", "signal"])
@pytest.mark.parametrize("later_by", [98 * SECOND, 0, None])
def test_a_wait_for_others_ends_when_the_engine_ends_it(
    wait: e.Event, later_by: int | None
) -> None:
    log = begun(wait, cut(later_by), e.RunResumed(at=100 * SECOND))
    (activity,) = progress_of(log).activities()
    (run,) = fold(log).live_step_runs()
    assert activity.until == run.resume_at == 60 * SECOND + (later_by or 0)
    assert activity.since == run.asked_at == 2 * SECOND + (later_by or 0)


@pytest.mark.parametrize("later_by", [98 * SECOND, 0])
def test_a_sleep_counts_from_when_it_was_asked_for(later_by: int) -> None:
    again = e.TaskStarted(**PLACE, task_visit=1, inputs={"seconds": 10}, at=101 * SECOND)
    lost = e.StepRedelivered(step="a", visit=1, delivery=1, at=100 * SECOND)
    log = begun(cut(later_by), lost, e.RunResumed(at=100 * SECOND), again)
    program = load_text(SLEEPS, "s.yaml").program
    (activity,) = progress_of(log, program).activities()
    (run,) = fold(log).live_step_runs()
    assert activity.until == run.asked_at + 10 * SECOND == 12 * SECOND + later_by
