"""A commit as the one call that writes it, and what its answer means.

What it does is in `sql/postgres/0002_commits.sql`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from anew.engine.state import Key
from anew.errors import EngineBug
from anew.store import JobRef, KeyTaken, NewJob, NewRun, RunId
from anew.stores.packing import PackedCommit
from anew.stores.postgres.batches import PARAMETERS, STATEMENT, batch
from anew.stores.postgres.values import BytesArray, IntegerArray, TextArray, job_key, to_text
from anew.stores.postgres.writer import Call, Together
from anew.stores.refusals import lost_lease, unexpected_version

COMMIT = f"SELECT anew.commit_v1({', '.join(['%s'] * len(PARAMETERS))})"
WAKE = """
UPDATE anew.jobs SET
    is_woken = leased_until IS NOT NULL,
    due_at = CASE WHEN leased_until IS NULL THEN 0 ELSE due_at END,
    reason = CASE WHEN leased_until IS NULL THEN 'ready' ELSE reason END
WHERE run = %s AND step = %s AND visit = %s AND iteration = %s
RETURNING 1
"""
_KEY_TAKEN, _LEASE_LOST, _OTHER_VERSION = 1, 2, 3
_NO_LEASE = (None,) * 14
_TOGETHER = Together(STATEMENT, batch)


def commit_call(commit: PackedCommit) -> Call:
    jobs: Sequence[NewJob] = commit.jobs
    is_handed_over = _goes_on(commit)
    if is_handed_over:
        jobs = jobs[1:]
    values = (
        *(commit.run, commit.expected, commit.at),
        *(commit.status.value, commit.error, commit.ended_at),
        *_log(commit),
        *_lease(commit, is_handed_over=is_handed_over),
        commit.drop_all,
        _json([_named(key) for key in commit.drops]),
        _json([_new_job(job) for job in _one_each(jobs)]),
        _json(_wakes(commit.wakes)),
        _json(_born(commit.new)) if commit.new is not None else None,
        *_beside(commit),
    )
    return Call(commit.run, COMMIT, values, _size(commit), _TOGETHER)


def wake_call(job: JobRef) -> Call:
    return Call(job.run, WAKE, (job.run, *job_key(job.key)))


def check_answer(commit: PackedCommit, answer: list[int | None] | None) -> None:
    """Raise the refusal an answer tells of."""
    if answer is None:
        return
    match answer:
        case [code, int(run)] if code == _KEY_TAKEN:
            raise KeyTaken(RunId(run))
        case [code] if code == _LEASE_LOST and commit.lease is not None:
            raise lost_lease(commit.lease)
        case [code, version] if code == _OTHER_VERSION:
            raise unexpected_version(commit, version)
    raise EngineBug(f"a commit of run {commit.run} was answered with {answer}")


def _goes_on(commit: PackedCommit) -> bool:
    """Whether the job that is answered can become the one its worker goes on with: one row."""
    if commit.lease is None or commit.keeps_lease or commit.park is not None or not commit.jobs:
        return False
    job = commit.jobs[0]
    return job.is_fresh and job.taken_until is not None and not (commit.drop_all or commit.drops)


def _log(commit: PackedCommit) -> tuple[Any, ...]:
    rows = commit.rows
    has_replaced = any(row.replaced is not None for row in rows)
    return (
        IntegerArray([row.at for row in rows]),
        TextArray([row.name for row in rows]),
        TextArray([row.data for row in rows]),
        TextArray([row.replaced for row in rows]) if has_replaced else None,
    )


def _lease(commit: PackedCommit, *, is_handed_over: bool) -> tuple[Any, ...]:
    """Which job is answered, what becomes of it, and the values that takes."""
    lease, park = commit.lease, commit.park
    if lease is None:
        return _NO_LEASE
    held = (*job_key(lease.job.key), lease.token)
    if is_handed_over:
        job = commit.jobs[0]
        waits = (job.due_at, job.reason.value, job.attempt, False)
        to = (*job_key(job.key), to_text(job.pool), job.taken_until)
        return (*held, "go on", *to, *waits)
    nowhere = (None,) * 5
    if park is not None:
        waits = (park.due_at, park.reason.value, park.attempt, park.calls_again)
        return (*held, "park", *nowhere, *waits)
    stays = commit.keeps_lease or any(job.key == lease.job.key for job in commit.jobs)
    return (*held, "keep" if stays else "finish", *nowhere, *(None,) * 4)


def _beside(commit: PackedCommit) -> tuple[Any, ...]:
    """Blobs and snapshot."""
    blobs, kept = commit.blobs, commit.snapshot
    return (
        TextArray([blob.checksum for blob in blobs]) if blobs else None,
        BytesArray([blob.data for blob in blobs]) if blobs else None,
        kept.format if kept is not None else None,
        kept.data if kept is not None else None,
    )


def _size(commit: PackedCommit) -> int:
    kept = len(commit.snapshot.data) if commit.snapshot is not None else 0
    texts = sum(len(row.data) for row in commit.rows)
    return kept + texts + sum(len(blob.data) for blob in commit.blobs)


def _one_each(jobs: Sequence[NewJob]) -> Iterable[NewJob]:
    """The last one for each key: a statement can write a row once."""
    return jobs if len(jobs) < 2 else {job.key: job for job in jobs}.values()


def _named(key: Key) -> dict[str, Any]:
    step, visit, iteration = job_key(key)
    return {"s": step, "v": visit, "i": iteration}


def _new_job(job: NewJob) -> dict[str, Any]:
    return {
        **_named(job.key),
        "pool": to_text(job.pool),
        "due_at": job.due_at,
        "reason": job.reason.value,
        "attempt": job.attempt,
        "until": job.taken_until,
    }


def _wakes(jobs: Sequence[JobRef]) -> list[dict[str, Any]]:
    """In the order in which everybody locks rows."""
    wakes = [{"run": job.run, **_named(job.key)} for job in jobs]
    return sorted(wakes, key=lambda one: (one["run"], one["s"], one["v"], one["i"]))


def _born(new: NewRun) -> dict[str, Any]:
    born = {
        "program": to_text(new.program),
        "digest": to_text(new.digest),
        "key": to_text(new.key) if new.key is not None else None,
        "labels": msgspec.json.encode(new.labels).decode() if new.labels else None,
        "pairs": [(to_text(name), to_text(value)) for name, value in new.labels.items()],
        "depth": new.depth,
    }
    if new.parent is not None:
        step, visit, iteration = job_key(new.parent.key)
        born |= {"parent_run": new.parent.run, "parent_step": step}
        born |= {"parent_visit": visit, "parent_iteration": iteration}
    return born


def _json(value: Any) -> str | None:
    return msgspec.json.encode(value).decode() if value else None
