"""What every live step-run does or waits for, as rows; those someone may act on come first."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from anew.engine.moments import moment_text
from anew.engine.statuses import SKIPPABLE
from anew.program.program import Program
from anew.store import RunRow
from anew.views.activities import activity_verdict
from anew.views.picture.rules import rule_of
from anew.views.picture.shown import WaitShown
from anew.views.progress import Progress
from anew.views.step_progress import Activity
from anew.views.verdict import RANKS

WAITS_SHOWN_MAX = 100


def waits_of(
    progress: Progress, *, now: int, children: Sequence[RunRow], is_past: bool
) -> tuple[list[WaitShown], int]:
    """The rows, and how many more there are. Nothing of the past can be skipped any more."""
    live = progress.activities()
    shown = heapq.nsmallest(WAITS_SHOWN_MAX, live, key=_order)
    rows = [
        _row(progress.program, one, children, can_skip=not is_past and _can_skip(one, now))
        for one in shown
    ]
    return rows, len(live) - len(rows)


def first_of(live: Sequence[Activity]) -> Activity | None:
    """The one that says most of several."""
    return min(live, key=_order, default=None)


def _order(activity: Activity) -> tuple[int, int]:
    return RANKS[activity.doing], activity.until or activity.since


def _can_skip(activity: Activity, now: int) -> bool:
    return activity.doing in SKIPPABLE and activity.until is not None and activity.until > now


def _row(
    program: Program | None, activity: Activity, children: Sequence[RunRow], *, can_skip: bool
) -> WaitShown:
    told = activity_verdict(program, activity, children)
    return WaitShown(
        step=activity.step,
        visit=activity.visit,
        iteration=activity.iteration,
        task=activity.task,
        attempt=activity.attempt,
        attempts=activity.attempts,
        doing=activity.doing.value,
        headline=told.headline,
        reason=told.reason,
        since=moment_text(activity.since),
        until=None if activity.until is None else moment_text(activity.until),
        rule=rule_of(program, activity.step, activity.rule_task, activity.rule),
        retry_after_seconds=activity.retry_after_seconds,
        can_skip=can_skip,
    )
