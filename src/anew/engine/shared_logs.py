"""Where a run goes on from the beginning of another one's log: whose that is, what becomes of it.

Knows logs, states and how much later it is now. Does not know which events may be shared: that is
`engine.fork_points`.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from anew.engine import events as e
from anew.engine.state import FOR_OTHERS, RunState, StepRun


class Share(Struct, frozen=True):
    """Whose an event of a log is, and the program that decided it; None is the log's own.

    The events up to `until` were decided by the same program.
    """

    owner: str | None
    decided_by: str | None
    until: int


def share_at(log: Sequence[e.Event], at: int) -> Share:
    """Whose the event `at` is: every cut tells of all that is before it."""
    later = (event for event in log[at:] if isinstance(event, e.RunPaused))
    cuts = [event for event in later if event.shared_with is not None]
    owner = cuts[0].shared_with if cuts else None
    foreign = next((cut for cut in cuts if cut.decided_by is not None), None)
    if foreign is None:
        return Share(owner, None, len(log))
    return Share(owner, foreign.decided_by, foreign.seq)


def sharers_of(log: Sequence[e.Event]) -> set[str]:
    """Every run whose events are in a log, its own run among them."""
    runs = {event.run for event in log[:1] if isinstance(event, e.RunRequested)}
    cuts = (event.shared_with for event in log if isinstance(event, e.RunPaused))
    return runs.union(run for run in cuts if run is not None)


def resume_later(state: RunState, later_by: int | None) -> None:
    """Someone wants to go on from here: what was spent before is not counted any more.

    With `later_by` limits of time have left what they had then, and what was at work is given
    inputs anew: they may read another program, another workload, and the id of another run.
    """
    state.retries, state.redirects, state.repeated = {}, {}, {}
    for branch in state.branches.values():
        branch.retries, branch.repeated = {}, {}
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
    if run.skipped_at is not None:
        run.skipped_at += later_by
    if run.status not in FOR_OTHERS or run.resume_at is None:
        return
    run.resume_at += later_by
    if run.question is not None:
        run.question = replace(run.question, deadline=run.resume_at)
    if run.awaited is not None:
        run.awaited = replace(run.awaited, deadline=run.resume_at)
