"""Preview a fork: what it keeps and does again, and where its program would have decided otherwise.

Takes a plan and executes nothing. Where the past differs is told and no more: what is shared stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from anew.engine.events import Event
from anew.lab.replay import Difference, posing_as, replay
from anew.program.program import Program
from anew.runtime.forking import Plan
from anew.values import Object
from anew.views.forking import Cut, Preview, preview_of

# Deriving takes a little longer than folding did, and a person waits for a preview.
_DERIVED_EVENTS_MAX = 20_000


def fork_preview(plan: Plan, workload: Object | None = None) -> Preview:
    """What a run that begins with this plan will do, as far as the log can tell."""
    return preview_of(
        Cut(
            log=plan.log,
            at=plan.at,
            asked=plan.asked,
            state=plan.state,
            old=plan.old.program,
            new=plan.new.program,
            misfits=plan.misfits,
            workload=workload or {},
            differs_at=differs_at(plan) if plan.is_moved else None,
        )
    )


def differs_at(plan: Plan) -> int | None:
    """The first shared event that the new program would have decided otherwise, if it is known.

    It is not where the log does not even follow from its own program.
    """
    shared = plan.log[: plan.at]
    if len(shared) > _DERIVED_EVENTS_MAX or _difference(plan.old.program, shared) is not None:
        return None
    found = _difference(posing_as(plan.new.program, shared[0]), shared)
    return None if found is None else found.seq


def _difference(program: Program, log: Sequence[Event]) -> Difference | None:
    """The first difference; that a log ends in the middle of a decision is none."""
    found = replay(program, log)
    return None if found is None or found.recorded is None else found
