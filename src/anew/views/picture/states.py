"""How a run stands, told from what a log amounts to, so that it can be asked of any of its events.

The rule is that of the lists of runs (`engine.statuses`); here only what the open step-runs are at
is put in its words.
"""

from __future__ import annotations

from anew.engine.statuses import ASIDE_RANK, RANKS, WORKING_RANK, DetailedStatus
from anew.engine.statuses import state_of as standing
from anew.values import Object
from anew.views.progress import Progress
from anew.views.step_progress import RETRYING, Doing

_RANK_OF: dict[Doing, int] = {
    **dict.fromkeys(RETRYING, RANKS["retry"]),
    Doing.PERSON: RANKS["person"],
    Doing.SIGNAL: RANKS["signal"],
    Doing.QUEUED: RANKS["ready"],
    Doing.WORKING: WORKING_RANK,
    Doing.SLEEP: ASIDE_RANK,
    Doing.CHILD: ASIDE_RANK,
}


def state_of(progress: Progress, error: Object | None) -> DetailedStatus:
    """The state of the run as of its newest event; `error` is what it failed with."""
    ranks = (_RANK_OF[activity.doing] for activity in progress.activities())
    kind = (error or {}).get("kind")
    return standing(progress.status, error_kind=kind, rank=min(ranks, default=None))
