"""A run in a few words: what it does or waits for, until when, and why; what to do if it is stuck.

Decides nothing about the run; `views.activities` has the words for its single step-runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from shlex import quote
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from anew.engine.moments import NANOSECONDS
from anew.engine.state import RunState, RunStatus
from anew.engine.statuses import ActivityKind
from anew.store import JobRow, RunRow, WaitReason
from anew.views.activities import VerdictText, activity_verdict, loop_verdict
from anew.views.ignored import counts_text
from anew.views.interruptions import InterruptedRun
from anew.views.lost import LostWorker
from anew.views.progress import Progress
from anew.views.routing_words import listed
from anew.views.summary import passes_on
from anew.views.wording import ERROR_CHARACTERS_MAX, counted, duration, error_text

DETAILS_MAX = 2
# A job that is due this long and nobody's: a worker that is not overloaded would have taken it.
UNATTENDED_SECONDS = 10
_NOT_TAKEN = "No worker has taken"


def verdict(
    progress: Progress,
    state: RunState,
    *,
    now: int,
    jobs: Sequence[JobRow] = (),
    children: Sequence[RunRow] = (),
    lost: Sequence[LostWorker] = (),
    interrupted: InterruptedRun | None = None,
    clock: Callable[[int], str] | None = None,
) -> VerdictText:
    """What to tell about a run. `jobs` and `children` are those the store has of it.

    `lost` are workers that hold some of the jobs and have not reported for a while; `clock` writes
    moments of theirs. `interrupted`: no process works on it at all.
    """
    if interrupted is not None:
        jobs, lost = (), ()  # that nobody takes them goes without saying
    told = _verdict(progress, state, now, jobs=jobs, children=children, lost=lost)
    if interrupted is not None:
        told = interrupted.verdict(told, since=progress.last_at, now=now)
    elif lost:
        told = _with_lost(told, [one.sentence(now, clock) for one in lost], now)
    ignored = progress.ignored.sentences() if state.status is not RunStatus.DONE else []
    if ignored:
        told = replace(told, details=(*told.details, *_first_of([f"{x}." for x in ignored])))
    return told


def _with_lost(told: VerdictText, missed: Sequence[str], now: int) -> VerdictText:
    """That a worker is gone is told first, unless more is wrong: what it was at, nobody does."""
    if told.headline.startswith(_NOT_TAKEN):
        return replace(told, details=(*missed, *told.details))
    first, *others = missed
    was = f"Before that: {told.sentence(now)}."
    return VerdictText(first.removesuffix("."), details=(*others, was, *told.details))


def _verdict(
    progress: Progress,
    state: RunState,
    now: int,
    *,
    jobs: Sequence[JobRow],
    children: Sequence[RunRow],
    lost: Sequence[LostWorker],
) -> VerdictText:
    match state.status:
        case RunStatus.DONE:
            return _done(progress, now)
        case RunStatus.FAILED:
            return _failed(progress, state, now)
        case RunStatus.CANCELLED:
            after = duration(progress.seconds(now))
            return VerdictText(f"Cancelled after {after}", progress.reason or "")
        case RunStatus.PAUSED:
            return _paused(progress, state, jobs)
        case RunStatus.NEW | RunStatus.QUEUED | RunStatus.RUNNING | RunStatus.WAITING:
            return _live(progress, state, now, jobs=jobs, children=children, lost=lost)
        case other:
            assert_never(other)


def _done(progress: Progress, now: int) -> VerdictText:
    steps = sum(step.visits > 0 for step in progress.steps.values())
    counts = [counted(steps, "step")]
    if progress.retries:
        counts.append(counted(progress.retries, "retry"))
    ignored = progress.ignored.sentences()
    counts += counts_text(progress.ignored)
    if progress.failed_branches:
        branches = "branch" if progress.failed_branches == 1 else "branches"
        counts.append(f"{progress.failed_branches:,} {branches} failed")
    handled = [
        f"{step.name} failed, and that was handled: {error_text(step.error)}"
        for step in progress.steps.values()
        if step.is_handled and step.error and not passes_on(progress.program, step.name)
    ]
    details = _first_of(handled)
    details += _first_of([f"{one}." for one in ignored]) if len(ignored) > 1 else []
    if progress.continued_as is not None:
        details.append(f"It continues as run {progress.continued_as}.")
    headline = f"Done in {duration(progress.seconds(now))}"
    return VerdictText(headline, ", ".join(counts), tuple(details))


def _first_of(told: Sequence[str]) -> list[str]:
    """As many details as are shown, and how many more there are."""
    more = len(told) - DETAILS_MAX
    return [*told[:DETAILS_MAX], *([f"And {more:,} more."] if more > 0 else [])]


def _failed(progress: Progress, state: RunState, now: int) -> VerdictText:
    cause, step = state.cause, progress.failed_step
    error = state.failure or progress.error or {}
    details = [f"It failed {duration(progress.seconds(now))} after its start."]
    where = f" in step {step}" if step else ""
    if cause is not None:
        details.append(
            f"{step or 'A step'} dealt with that, then failed the run: {error_text(error)}."
        )
        step, error = cause.step, cause.error
        item = "" if cause.iteration is None else f"[{cause.iteration}]"
        where = f" in step {step}{item}"
    retry = error.get("retry")
    made = retry.get("attempts") if isinstance(retry, dict) else None
    after = f" after {counted(made, 'attempt')}" if isinstance(made, int) else ""
    repeated = error.get("repeated")
    if isinstance(repeated, int):
        times = counted(repeated, "time")
        details.append(
            f"The same failure came {times}, its limit (same_failures, max_same_failures)."
        )
    if progress.unsatisfied:
        details.append(f"Gates not satisfied: {listed(progress.unsatisfied)}.")
    if step:
        remedy = f"anew retry {progress.run} --from {quote(step)}"
        details.append(f"What to do: fix the cause, then `{remedy}`.")
    why = error_text(error, characters_max=ERROR_CHARACTERS_MAX) if error else ""
    return VerdictText(f"Failed{where}{after}", why, tuple(details))


def _paused(progress: Progress, state: RunState, jobs: Sequence[JobRow]) -> VerdictText:
    held = sum(job.reason is WaitReason.HELD for job in jobs)
    at_work = sum(a.doing is ActivityKind.WORKING for a in progress.activities()) if not jobs else 0
    live = held or len(state.live_step_runs()) - at_work
    details = [f"{counted(live, 'step-run')} held."] if live > 0 else []
    details.append(f"`anew resume {progress.run}` resumes it.")
    return VerdictText("Paused", progress.reason or "", tuple(details))


def _live(
    progress: Progress,
    state: RunState,
    now: int,
    *,
    jobs: Sequence[JobRow],
    children: Sequence[RunRow],
    lost: Sequence[LostWorker],
) -> VerdictText:
    pieces = sorted(_pieces(progress, children), key=_rank)
    # What a lost worker has, others get by themselves.
    missed = {step for one in lost for step in one.steps}
    free = [job for job in jobs if job.job.key.step not in missed]
    stuck = unattended(free, progress.last_at, now)
    if stuck is not None:
        step, since = stuck
        headline = f"{_NOT_TAKEN} {step}, which has been due"
        remedy = f"If nothing works on this run, `anew resume {progress.run}` resumes it."
        return VerdictText(headline, details=(remedy,), since=since)
    if not pieces:
        return _without_step_run(progress, state)
    first, *others = (piece.verdict for piece in pieces)
    details = _first_of([f"{one.sentence(now)}." for one in others])
    asking = (one for one in progress.activities() if one.doing is ActivityKind.PERSON)
    asked = [one.choices for one in asking if one.until is None or one.until > now]
    if asked:
        details.append(f"`{answer_command(progress.run, asked)}` answers.")
    details += _signal_commands(progress, now)
    return replace(first, details=tuple(details))


def _signal_commands(progress: Progress, now: int) -> list[str]:
    """What to type so that a run gets the signals it waits for, each name once."""
    waiting = [one for one in progress.activities() if one.doing is ActivityKind.SIGNAL]
    names = dict.fromkeys(one.reason for one in waiting if one.until is None or one.until > now)
    return _first_of([f"`{signal_command(progress.run, name)}` sends it." for name in names])


def signal_command(run: str, name: str) -> str:
    """What to type so that a run gets a signal."""
    return f"anew signal {run} {quote(name)}"


def answer_command(run: str, asked: Sequence[Sequence[str]]) -> str:
    """What to type so that a question is answered; `asked` has the choices of each open one."""
    word = "CHOICE" if any(asked) else "TEXT"
    return f"anew answer {run} {word}{' --step STEP' if len(asked) > 1 else ''}"


def _without_step_run(progress: Progress, state: RunState) -> VerdictText:
    refused = [token for token in state.tokens.values() if token.refused_at is not None]
    if refused:
        steps = ", ".join(dict.fromkeys(token.step for token in refused))
        return VerdictText(f"Waiting for the gate of {steps} to open")
    if state.status is RunStatus.WAITING:
        return VerdictText("Waiting")
    if progress.steps:
        return VerdictText("Between two steps")
    return VerdictText("Queued", "no worker has taken it yet", since=progress.first_at or None)


class _Piece(Struct, frozen=True):
    rank: int
    verdict: VerdictText


def _rank(piece: _Piece) -> tuple[int, int]:
    return piece.rank, piece.verdict.until or 0


# What someone has to do is told first, then what is at work, then waits by their due time.
RANKS = {
    ActivityKind.PERSON: 0,
    ActivityKind.WORKING: 1,
    ActivityKind.SIGNAL: 3,
    ActivityKind.CHILD: 4,
    ActivityKind.RETRY: 5,
    ActivityKind.RETRY_AFTER: 5,
    ActivityKind.JUMP: 5,
    ActivityKind.POLL: 5,
    ActivityKind.SLEEP: 5,
    ActivityKind.GUARD: 5,
    ActivityKind.QUEUED: 6,
}
_LOOP_RANK = 2


def _pieces(progress: Progress, children: Sequence[RunRow]) -> Iterator[_Piece]:
    for step in progress.steps.values():
        if step.loops:
            yield _Piece(_LOOP_RANK, loop_verdict(step))
        for activity in step.open.values():
            # A loop is counted, but what one of its iterations asks is for someone to read.
            if step.loops and activity.doing not in (ActivityKind.PERSON, ActivityKind.SIGNAL):
                continue
            told = activity_verdict(progress.program, activity, children)
            yield _Piece(RANKS[activity.doing], told)


def unattended(jobs: Sequence[JobRow], last_at: int, now: int) -> tuple[str, int] | None:
    """The step that has been due longest with nobody taking it, and since when; None if one may.

    Any lease that is kept shows that someone is there, only busy.
    """
    limit = now - UNATTENDED_SECONDS * NANOSECONDS
    if any(job.leased_until is not None and job.leased_until >= limit for job in jobs):
        return None
    overdue = [
        # What was ready at once has been so since the last thing that happened.
        (max(job.due_at, job.leased_until or 0, last_at), job.job.key.step)
        for job in jobs
        if job.due_at is not None
    ]
    since, step = min(overdue, default=(now, ""))
    return (step, since) if since < limit else None
