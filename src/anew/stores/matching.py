"""Whether a run fits a filter, and what groups failed runs make: the reference for every store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from anew.engine.statuses import GIVEN_UP_KIND
from anew.store import (
    PROGRAMS_OF_FAILURE_MAX,
    FailedRunGroup,
    FailureFilter,
    JobRow,
    RunFilter,
    RunRow,
    WaitReason,
)
from anew.stores.packing import message_searched
from anew.stores.searching import DELAYS, has_text

_LATEST = 2**63 - 1


def fits(row: RunRow, jobs: Collection[JobRow], asked: RunFilter) -> bool:
    return all(holds(row, asked) for holds in _OF_ROWS) and _fits_jobs(jobs, asked)


_OF_ROWS: tuple[Callable[[RunRow, RunFilter], bool], ...] = (
    lambda row, asked: not asked.statuses or row.status in asked.statuses,
    lambda row, asked: not asked.states or row.state in asked.states,
    lambda row, asked: asked.program in (None, row.program),
    lambda row, asked: asked.digests is None or row.digest in asked.digests,
    lambda row, asked: asked.runs is None or row.run in asked.runs,
    lambda row, asked: asked.since is None or row.created_at >= asked.since,
    lambda row, asked: asked.until is None or row.created_at < asked.until,
    lambda row, asked: asked.before is None or row.run < asked.before,
    lambda row, asked: asked.parent in (None, row.parent.run if row.parent else None),
    lambda row, asked: not asked.is_child or row.parent is not None,
    lambda row, asked: asked.error_kind in (None, row.error_kind),
    lambda row, asked: asked.fingerprint in (None, row.fingerprint),
    lambda row, asked: asked.is_retried in (None, row.retried_as is not None),
    lambda row, asked: _has_labels(row.labels, asked.labels),
    lambda row, asked: asked.text is None or has_text(row, asked.text),
)


def _has_labels(labels: Mapping[str, str], asked: Mapping[str, str]) -> bool:
    return all(labels.get(name) == value for name, value in asked.items())


def _fits_jobs(jobs: Collection[JobRow], asked: RunFilter) -> bool:
    retries = [job for job in jobs if job.reason is WaitReason.RETRY]
    is_delayed = any(job.reason in DELAYS and job.leased_until is None for job in jobs)
    attempt = max((job.attempt for job in jobs), default=0)
    return (
        (not asked.retrying or bool(retries))
        and (not asked.is_delayed or is_delayed)
        and (asked.attempt_min is None or attempt >= max(1, asked.attempt_min))
        and (asked.due_before is None or any(_is_due(job, asked.due_before) for job in retries))
    )


def _is_due(job: JobRow, by: int) -> bool:
    return job.leased_until is None and job.due_at is not None and job.due_at <= by


def says_most(jobs: Iterable[JobRow]) -> JobRow | None:
    """The open job that stands for its run."""
    return min(jobs, key=_saying, default=None)


def _saying(job: JobRow) -> tuple[int, int, str, int, int]:
    key, due_at = job.job.key, job.due_at
    iteration = -1 if key.iteration is None else key.iteration
    return job.rank, _LATEST if due_at is None else due_at, key.step, key.visit, iteration


def groups(rows: Iterable[RunRow], asked: FailureFilter) -> list[FailedRunGroup]:
    """Of failed runs, as `Statistics.failures` has them."""
    members: dict[str, list[RunRow]] = {}
    for row in rows:
        if row.fingerprint is not None and _is_meant(row, asked):
            members.setdefault(row.fingerprint, []).append(row)
    parts = [_group(name, rows, asked) for name, rows in members.items()]
    found = [group for group in parts if group is not None]
    return sorted(found, key=lambda one: (-one.last_at, one.fingerprint))[: asked.limit]


def _is_meant(row: RunRow, asked: FailureFilter) -> bool:
    ended_at = row.ended_at
    if ended_at is None or asked.program not in (None, row.program):
        return False
    is_late_enough = asked.since is None or ended_at >= asked.since
    return is_late_enough and (asked.until is None or ended_at < asked.until)


def _group(
    fingerprint: str, meant: Sequence[RunRow], asked: FailureFilter
) -> FailedRunGroup | None:
    """None when nothing is left of it."""
    left = [row for row in meant if asked.with_retried or row.retried_as is None]
    if not left:
        return None
    rows = sorted(left, key=_ended)
    newest = rows[-1]
    return FailedRunGroup(
        fingerprint,
        kind=newest.error_kind or "",
        message=message_searched(newest.error),
        programs=sorted({row.program for row in rows})[:PROGRAMS_OF_FAILURE_MAX],
        count=len(rows),
        dead=sum(row.error_kind == GIVEN_UP_KIND for row in rows),
        first_at=rows[0].ended_at or 0,
        last_at=newest.ended_at or 0,
        newest=newest.run,
        retried=sum(row.retried_as is not None for row in meant),
    )


def _ended(row: RunRow) -> tuple[int, int]:
    return row.ended_at or 0, row.run
