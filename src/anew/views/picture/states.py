"""How a run stood at any of its events, from what the log amounts to there."""

from __future__ import annotations

from anew.engine.statuses import ACTIVITIES, DetailedStatus
from anew.engine.statuses import state_of as status_of
from anew.values import Object
from anew.views.progress import Progress


def state_of(progress: Progress, error: Object | None) -> DetailedStatus:
    """The state of the run as of its newest event; `error` is what it failed with."""
    ranks = (ACTIVITIES[activity.doing].rank for activity in progress.activities())
    kind = (error or {}).get("kind")
    return status_of(progress.status, error_kind=kind, rank=min(ranks, default=None))
