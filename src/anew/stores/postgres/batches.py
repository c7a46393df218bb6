"""A group of commits as one statement that writes them all, and its values.

Arrays with one element for each commit, arrays with one for each event, and JSON for what few
commits have. What the statements do is in `sql/postgres/0001_schema/2_commits.sql`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import Any

import msgspec

from anew.engine.state import StepRunKey
from anew.store import JobRef, NewJob, NewRun, PackedCommit, WaitReason
from anew.stores.postgres.values import (
    boolean_array,
    bytes_array,
    integer_array,
    job_key,
    json_array,
    text_array,
    to_text,
)


def _call(function: str, parameters: int) -> bytes:
    marks = ", ".join(f"${n}" for n in range(1, parameters + 1))
    return f"SELECT anew.{function}({marks})".encode()


STATEMENT = _call("commit_v2", 31)
# With four more values, for a group in which a run fails or takes up another: few have one.
FAILING_STATEMENT = _call("commit_v3", 35)
_NO_LEASE = (None,) * 10
_NOWHERE = (None,) * 5
_encode = msgspec.json.Encoder().encode


def batch(commits: Sequence[PackedCommit]) -> tuple[bytes, Sequence[bytes | None]]:
    """The statement, and what to bind."""
    values = (*_heads(commits), *_leases(commits), *_logs(commits), *_beside(commits))
    if not any(map(_is_rare, commits)):
        return STATEMENT, values
    return FAILING_STATEMENT, (*values, *_failures(commits))


def _is_rare(commit: PackedCommit) -> bool:
    is_retry = commit.new is not None and commit.new.retry_of is not None
    return is_retry or commit.failure is not None


def _failures(commits: Sequence[PackedCommit]) -> tuple[bytes, ...]:
    failures = [one.failure for one in commits if one.failure is not None]
    return (
        integer_array(_numbers(one.failure is not None for one in commits)),
        text_array([one.kind for one in failures]),
        text_array([one.message for one in failures]),
        text_array([one.fingerprint for one in failures]),
    )


def _heads(commits: Sequence[PackedCommit]) -> tuple[bytes | None, ...]:
    return (
        integer_array([one.run for one in commits]),
        integer_array([one.expected for one in commits]),
        integer_array([one.version for one in commits]),
        integer_array([one.rows[-1].at if one.rows else None for one in commits]),
        text_array([one.status.value for one in commits]),
        text_array([one.error for one in commits]),
        integer_array([one.ended_at for one in commits]),
        boolean_array([one.drop_all for one in commits]),
    )


def _leases(commits: Sequence[PackedCommit]) -> tuple[bytes | None, ...]:
    columns = zip(*map(_lease, commits), strict=True)
    steps, visits, iterations, tokens, settles, *more = columns
    to_steps, to_visits, to_iterations, pools, untils = more
    mores = [_more(one) for one in commits]
    return (
        *(text_array(steps), integer_array(visits), integer_array(iterations)),
        *(integer_array(tokens), text_array(settles)),
        *(text_array(to_steps), integer_array(to_visits), integer_array(to_iterations)),
        *(text_array(pools), integer_array(untils), json_array(mores)),
    )


def _lease(commit: PackedCommit) -> tuple[Any, ...]:
    """Which job is answered, what becomes of it, and which one it turns into."""
    lease = commit.lease
    if lease is None:
        return _NO_LEASE
    held = (*job_key(lease.job.key), lease.token)
    if _goes_on(commit):
        job = commit.jobs[0]
        return (*held, "go on", *job_key(job.key), to_text(job.pool), job.taken_until)
    if commit.park is not None:
        return (*held, "park", *_NOWHERE)
    stays = commit.keeps_lease or any(job.key == lease.job.key for job in commit.jobs)
    return (*held, "keep" if stays else "finish", *_NOWHERE)


def _goes_on(commit: PackedCommit) -> bool:
    """Whether the job that is answered can become the one its worker goes on with: one row."""
    if commit.lease is None or commit.keeps_lease or commit.park is not None or not commit.jobs:
        return False
    if commit.drop_all or commit.drops:
        return False
    job = commit.jobs[0]
    is_plain = (job.due_at, job.reason, job.attempt) == (0, WaitReason.READY, 1)
    return job.is_fresh and job.taken_until is not None and is_plain


def _more(commit: PackedCommit) -> bytes | None:
    """JSON of what few commits have; None for most."""
    jobs = commit.jobs[1:] if _goes_on(commit) else commit.jobs
    more: dict[str, Any] = {}
    if commit.new is not None:
        more["new"] = {"at": commit.at, **_born(commit.new)}
    if commit.park is not None:
        more["park"] = commit.park
    if commit.drops:
        more["drops"] = [_named(key) for key in commit.drops]
    if jobs:
        more["jobs"] = [_new_job(job) for job in _one_each(jobs)]
    if commit.wakes:
        more["wakes"] = _wakes(commit.wakes)
    return _encode(more) if more else None


def _logs(commits: Sequence[PackedCommit]) -> tuple[bytes | None, ...]:
    rows = [row for one in commits for row in one.rows]
    has_replaced = any(row.replaced is not None for row in rows)
    return (
        integer_array(_numbers(len(one.rows) for one in commits)),
        integer_array([row.seq for row in rows]),
        integer_array([row.at for row in rows]),
        text_array([row.name for row in rows]),
        text_array([row.data for row in rows]),
        text_array([row.replaced for row in rows]) if has_replaced else None,
    )


def _beside(commits: Sequence[PackedCommit]) -> tuple[bytes | None, ...]:
    """Blobs and snapshots, which few have."""
    blobs = [blob for one in commits for blob in one.blobs]
    kept = [one.snapshot for one in commits if one.snapshot is not None]
    return (
        integer_array(_numbers(len(one.blobs) for one in commits)) if blobs else None,
        text_array([blob.checksum for blob in blobs]) if blobs else None,
        bytes_array([blob.data for blob in blobs]) if blobs else None,
        integer_array(_numbers(one.snapshot is not None for one in commits)) if kept else None,
        text_array([one.format for one in kept]) if kept else None,
        bytes_array([one.data for one in kept]) if kept else None,
    )


def _numbers(counts: Iterable[int]) -> list[int]:
    """The place of each commit, counted from 1, as often as it has of something."""
    return list(chain.from_iterable(repeat(n, count) for n, count in enumerate(counts, 1)))


def _one_each(jobs: Sequence[NewJob]) -> Iterable[NewJob]:
    """The last one for each key: a statement can write a row once."""
    return jobs if len(jobs) < 2 else {job.key: job for job in jobs}.values()


def _named(key: StepRunKey) -> dict[str, Any]:
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
    born: dict[str, Any] = {
        "program": to_text(new.program),
        "digest": to_text(new.digest),
        "key": to_text(new.key) if new.key is not None else None,
        "depth": new.depth,
    }
    if new.retry_of is not None:
        born["retry_of"] = new.retry_of
    if new.labels:
        born["labels"] = _encode(new.labels).decode()
        born["pairs"] = [(to_text(name), to_text(value)) for name, value in new.labels.items()]
    if new.parent is not None:
        step, visit, iteration = job_key(new.parent.key)
        born |= {"parent_run": new.parent.run, "parent_step": step}
        born |= {"parent_visit": visit, "parent_iteration": iteration}
    return born
