"""Whether a run fits a filter, and what groups failed runs make: the reference for every store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

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
    return all(
        holds(value, row, jobs)
        for name, holds in FITTING.items()
        if (value := getattr(asked, name)) is not None
    )


def _has_labels(asked: Mapping[str, str], row: RunRow, _: Collection[JobRow]) -> bool:
    return all(row.labels.get(name) == value for name, value in asked.items())


def _retries(jobs: Collection[JobRow]) -> Iterator[JobRow]:
    return (job for job in jobs if job.reason is WaitReason.RETRY)


def _is_delayed(jobs: Collection[JobRow]) -> bool:
    return any(job.reason in DELAYS and job.leased_until is None for job in jobs)


def _attempt(jobs: Collection[JobRow]) -> int:
    return max((job.attempt for job in jobs), default=0)


def _is_due(job: JobRow, by: int) -> bool:
    return job.leased_until is None and job.due_at is not None and job.due_at <= by


# By the field of `RunFilter`: whether a run and its open jobs fit its value, which is not None.
FITTING: dict[str, Callable[[Any, RunRow, Collection[JobRow]], bool]] = {
    "statuses": lambda statuses, row, _: not statuses or row.status in statuses,
    "states": lambda states, row, _: not states or row.state in states,
    "program": lambda program, row, _: row.program == program,
    "digests": lambda digests, row, _: row.digest in digests,
    "runs": lambda runs, row, _: row.run in runs,
    "is_child": lambda is_asked, row, _: not is_asked or row.parent is not None,
    "parent": lambda parent, row, _: row.parent is not None and row.parent.run == parent,
    "since": lambda since, row, _: row.created_at >= since,
    "until": lambda until, row, _: row.created_at < until,
    "retrying": lambda is_asked, _, jobs: not is_asked or any(_retries(jobs)),
    "is_delayed": lambda is_asked, _, jobs: not is_asked or _is_delayed(jobs),
    "attempt_min": lambda attempt, _, jobs: _attempt(jobs) >= max(1, attempt),
    "due_before": lambda moment, _, jobs: any(_is_due(job, moment) for job in _retries(jobs)),
    "error_kind": lambda kind, row, _: row.error_kind == kind,
    "fingerprint": lambda fingerprint, row, _: row.fingerprint == fingerprint,
    "is_retried": lambda is_retried, row, _: (row.retried_as is not None) is is_retried,
    "labels": _has_labels,
    "text": lambda text, row, _: has_text(row, text),
    "before": lambda before, row, _: row.run < before,
}


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
