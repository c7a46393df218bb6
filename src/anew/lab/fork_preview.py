"""Preview a fork: what it keeps and does again, and where its program would have decided otherwise.

Takes a plan and executes nothing. Where the past differs is told and no more: what is shared stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from anew.engine.events import Event
from anew.engine.shared_logs import share_at
from anew.lab.replay import Difference, posing_as, replay
from anew.program.program import Program
from anew.runtime.forks import ForkPlan
from anew.values import Object
from anew.views.forking import Cut, Preview, preview_of

# Deriving takes a little longer than folding did, and a person waits for a preview.
_DERIVED_EVENTS_MAX = 20_000


def fork_preview(plan: ForkPlan, workload: Object | None = None) -> Preview:
    """What a run that begins with this plan will do, as far as the log can tell."""
    return preview_of(
        Cut(
            log=plan.log,
            at=plan.at,
            asked=plan.asked,
            state=plan.state,
            own=plan.own.program,
            old=plan.old.program,
            old_until=share_at(plan.log, plan.at).until,
            new=plan.new.program,
            is_latest=plan.where.is_latest,
            misfits=plan.misfits,
            workload=workload or {},
            differs_at=differs_at(plan),
        )
    )


def differs_at(plan: ForkPlan) -> int | None:
    """The first shared event that the new program would have decided otherwise, if it is known.

    It is not where the log does not even follow from the program that decided it.
    """
    old, new, shared = plan.old.program, plan.new.program, plan.log[: plan.at]
    if old.digest == new.digest or len(shared) > _DERIVED_EVENTS_MAX:
        return None
    if _difference(posing_as(old, shared[0]), shared) is not None:
        return None
    found = _difference(posing_as(new, shared[0]), shared)
    return None if found is None else found.seq


def _difference(program: Program, log: Sequence[Event]) -> Difference | None:
    """The first difference; that a log ends in the middle of a decision is none."""
    found = replay(program, log)
    return None if found is None or found.recorded is None else found
