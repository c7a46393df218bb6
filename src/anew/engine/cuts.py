"""What becomes of a state where a run goes on from the beginning of another one's log.

Knows a state and how much later it is now. Does not know which events may be shared: that is
`engine.resting`.
"""

from __future__ import annotations

from msgspec.structs import replace

from anew.engine.state import FOR_OTHERS, RunState, StepRun


def go_on_later(state: RunState, later_by: int | None) -> None:
    """Someone wants to go on from here: what was spent before is not counted any more.

    With `later_by` limits of time have left what they had then, and what was at work is given
    inputs anew: they may read another program, another workload, and the id of another run.
    """
    state.retries, state.redirects, state.repeated = {}, {}, {}
    if later_by is None:
        return
    for visit in state.active.values():
        visit.began_at += later_by
    for run in state.live_step_runs():
        _move_limits(run, later_by)
        run.inputs = None


def _move_limits(run: StepRun, later_by: int) -> None:
    """A wait for a moment ends when it was to end; only a wait for others has a limit."""
    if run.key.iteration is not None:
        run.began_at += later_by
    run.first_at, run.asked_at = run.first_at + later_by, run.asked_at + later_by
    if run.status not in FOR_OTHERS or run.resume_at is None:
        return
    run.resume_at += later_by
    if run.asked is not None:
        run.asked = replace(run.asked, deadline=run.resume_at)
    if run.awaited is not None:
        run.awaited = replace(run.awaited, deadline=run.resume_at)
