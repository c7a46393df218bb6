"""Undo what a run has done, when it fails or is cancelled, before it ends.

What has ended well is undone in reverse order of its end, one visit at a time. How a compensation
goes changes nothing of how the run ends. Knows nothing of why there is something to undo.
"""

from __future__ import annotations

from anew.engine import events as e
from anew.engine.next_actions import Ended
from anew.engine.record import Recorder
from anew.engine.state import StepRunKey
from anew.values import Object


def fail(recorder: Recorder, error: Object, unsatisfied: list[str]) -> None:
    """End the run as failed, once everything is undone."""
    if not recorder.state.compensable:
        recorder.emit(e.RunFailed(error=error, unsatisfied=unsatisfied))
        return
    count = len(recorder.state.compensable)
    recorder.emit(e.RunCompensating(count=count, error=error, unsatisfied=unsatisfied))
    go_on(recorder)


def cancel(recorder: Recorder, reason: str | None) -> None:
    """End the run as cancelled, once everything is undone; asked again, at once."""
    state = recorder.state
    if state.compensation is not None or not state.compensable:
        recorder.emit(e.RunCancelled(reason=reason, compensation=_counts(recorder)))
        return
    recorder.stopped += tuple(run.key for run in state.live_step_runs())
    count = len(state.compensable)
    recorder.emit(e.RunCompensating(count=count, is_cancelled=True, reason=reason))


def go_on(recorder: Recorder) -> None:
    """Begin the next compensation, or end the run where none is left."""
    state = recorder.state
    compensation = state.compensation
    if compensation is None or state.active:
        return
    if state.compensable:
        _undo_last(recorder)
    elif compensation.is_cancelled:
        recorder.emit(e.RunCancelled(reason=compensation.reason, compensation=_counts(recorder)))
    else:
        recorder.emit(
            e.RunFailed(
                error=compensation.error or {},
                unsatisfied=compensation.unsatisfied,
                compensation=_counts(recorder),
            )
        )


def _undo_last(recorder: Recorder) -> None:
    last = recorder.state.compensable[-1]
    name = recorder.program.steps[last.step].compensation
    # Only a step that has one is noted, and a run goes on under a program that fits.
    assert name is not None
    visit = recorder.state.visits.get(name, 0) + 1
    recorder.emit(
        e.StepScheduled(step=name, visit=visit, tokens=[], args=last.args, compensates=last.seq)
    )
    recorder.jobs.append(StepRunKey(name, visit))


def end(recorder: Recorder, ended: Ended) -> None:
    """A compensation is over, well or not: no arc and no rescue is asked."""
    key = ended.key
    if ended.error is None:
        recorder.emit(e.StepDone(step=key.step, visit=key.visit))
    else:
        recorder.emit(e.StepFailed(step=key.step, visit=key.visit, error=ended.error, handled=True))


def _counts(recorder: Recorder) -> Object | None:
    """How many compensations went well and how many did not; None where there was nothing."""
    found = recorder.state.compensation
    return None if found is None else {"done": found.done, "failed": found.failed}
