"""What a live view shows of a run right now: a bounded choice of rows, and one line for the whole.

The steps that are live come last, where the eye is; above them the few that ended last. Whatever
the run does, the board is no taller than asked. Knows nothing of terminals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import nlargest

from msgspec import Struct

from anew.engine.moments import NANOSECONDS
from anew.engine.state import RunStatus
from anew.engine.statuses import ACTIVITIES, DELAYED, ActivityKind, StepStatus
from anew.views.activities import activity_verdict, loop_verdict
from anew.views.progress import Progress
from anew.views.routing_words import choices_text
from anew.views.step_progress import Activity, LoopProgress, StepProgress
from anew.views.wording import counted, duration, error_text, joined, one_line

# Rows for steps that have ended, where there is room for all that is live.
ENDED_ROWS = 5
_WORTH_A_ROW = (StepStatus.DONE, StepStatus.FAILED, StepStatus.CANCELLED)


class BoardRow(Struct, frozen=True):
    """One step, or one step-run where a step has several. `seconds` is how long it has lasted."""

    step: str
    status: StepStatus
    text: str
    seconds: float
    loop: LoopProgress | None = None


class Board(Struct, frozen=True):
    """`hidden` counts the live rows there was no room for."""

    rows: tuple[BoardRow, ...]
    hidden: int
    run: str
    program: str
    status: RunStatus
    seconds: float
    summary: str


def board_of(progress: Progress, now: int, *, rows_max: int) -> Board:
    """At most `rows_max` rows, as of now."""
    live = [row for step in progress.steps.values() for row in _live_rows(progress, step, now)]
    hidden = max(0, len(live) - rows_max)
    shown = live[: len(live) - hidden]
    room = min(ENDED_ROWS, rows_max - len(shown))
    return Board(
        rows=(*_ended_rows(progress, room), *shown),
        hidden=hidden,
        run=progress.run,
        program=progress.name,
        status=progress.status,
        seconds=progress.seconds(now),
        summary=_summary(progress),
    )


def _summary(progress: Progress) -> str:
    ended = sum(not step.is_live for step in progress.steps.values())
    retries = counted(progress.retries, "retry") if progress.retries else ""
    return joined(f"{counted(ended, 'step')} ended", retries)


def _ended_rows(progress: Progress, room: int) -> Iterator[BoardRow]:
    """Those that ended last, the newest at the bottom."""
    ended = [
        (step.ended_at, place, step)
        for place, step in enumerate(progress.steps.values())
        if not step.is_live and step.ended_at is not None and step.ended in _WORTH_A_ROW
    ]
    newest = nlargest(max(0, room), ended, key=lambda entry: entry[:2])
    for ended_at, _, step in reversed(newest):
        lasted = (ended_at - step.first_at) / NANOSECONDS
        yield BoardRow(step.name, step.shown_status, _ended_text(step), lasted)


def _ended_text(step: StepProgress) -> str:
    if step.passed_on:
        return step.passed_on
    if step.status is StepStatus.FAILED and step.error:
        return joined("handled" if step.is_handled else "", error_text(step.error))
    loop = f"{step.loop.done:,} of {counted(step.loop.total, 'item')}" if step.loop else ""
    visits = counted(step.visits, "visit") if step.visits > 1 else ""
    attempts = counted(step.attempts, "attempt") if step.retries else ""
    return joined(step.verdict or "", loop, visits, attempts)


def _live_rows(progress: Progress, step: StepProgress, now: int) -> Iterator[BoardRow]:
    if step.loops:
        loop = next(reversed(step.loops.values()))
        lasted = (now - step.first_at) / NANOSECONDS
        yield BoardRow(step.name, step.status, _loop_text(step, now), lasted, loop)
        return
    for activity in step.open.values():
        lasted = (now - activity.since) / NANOSECONDS
        text = _activity_text(progress, activity, now)
        yield BoardRow(step.name, ACTIVITIES[activity.doing].step, text, max(0.0, lasted))


def _loop_text(step: StepProgress, now: int) -> str:
    told, loops = loop_verdict(step), step.loops.values()
    total, ended = sum(loop.total for loop in loops), sum(loop.ended for loop in loops)
    text = f"{ended:,} of {total:,}: {told.reason}"
    if told.until is None:
        return text
    return f"{text}; next in {duration(_coarse((told.until - now) / NANOSECONDS))}"


def _activity_text(progress: Progress, activity: Activity, now: int) -> str:
    visit = f"visit {activity.visit}" if activity.visit > 1 else ""
    if activity.doing is ActivityKind.WORKING:
        task = f"task {activity.task}" if activity.task else ""
        again = f"attempt {activity.attempt}" if activity.attempt > 1 else ""
        return joined(task, again, visit)
    if activity.doing is ActivityKind.QUEUED:
        return joined("waits for a worker", visit)
    if activity.doing not in DELAYED or activity.until is None:
        return joined(_waiting_text(activity, now), visit)
    what = _WHAT_IS_NEXT.get(activity.doing, _next_attempt)(activity)
    why = activity_verdict(progress.program, activity, ()).reason
    return joined(f"{what} in {_left(activity.until, now)}", visit, why)


_WAITS = {
    ActivityKind.SLEEP: "sleeps",
    ActivityKind.CHILD: "waits for a child run",
    ActivityKind.PERSON: "waits for a person",
    ActivityKind.SIGNAL: "waits for a signal",
    ActivityKind.GUARD: "held by a guard",
}


def _waiting_text(activity: Activity, now: int) -> str:
    left = "" if activity.until is None else f"{_left(activity.until, now)} left"
    is_asking = activity.doing in (ActivityKind.PERSON, ActivityKind.SIGNAL)
    is_told = is_asking or activity.doing is ActivityKind.GUARD
    asked = one_line(activity.reason) if is_told else ""
    return joined(_WAITS[activity.doing], asked, choices_text(list(activity.choices)), left)


def _left(until: int, now: int) -> str:
    return duration(_coarse(max(0.0, (until - now) / NANOSECONDS)))


def _next_attempt(activity: Activity) -> str:
    of = f" of {activity.attempts}" if activity.attempts else ""
    way = f" by way of {activity.via}" if activity.via else ""
    return f"attempt {activity.attempt}{of}{way}"


_WHAT_IS_NEXT: dict[ActivityKind, Callable[[Activity], str]] = {
    ActivityKind.JUMP: lambda activity: f"task {activity.task}",
    ActivityKind.POLL: lambda _: "polls, next look",
}


def _coarse(seconds: float) -> float:
    """Tenths, so that a countdown does not flicker with digits nobody reads."""
    return round(seconds, 1)
