"""A commit as a call that is written together with others, and what its answer means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anew.errors import EngineBug
from anew.store import JobRef, KeyTaken, PackedCommit, RunId
from anew.stores.postgres.batches import batch, guarded_batch
from anew.stores.postgres.values import integers_of, job_values
from anew.stores.postgres.writer import GroupStatement, WriteCall, single
from anew.stores.refusals import lost_lease, stale_guard, unexpected_version

_WAKE = b"""
UPDATE anew.jobs SET
    is_woken = leased_until IS NOT NULL,
    due_at = CASE WHEN leased_until IS NULL THEN 0 ELSE due_at END,
    reason = CASE WHEN leased_until IS NULL THEN 'ready' ELSE reason END
WHERE run = $1 AND step = $2 AND visit = $3 AND iteration = $4
"""
_KEY_TAKEN, _LEASE_LOST, _OTHER_VERSION, _OTHER_GUARD = 1, 2, 3, 4
# What the server says of one that is refused: its place, why, and a number.
_WORDS = 3
_NOT_THERE = -1


def commit_call(commit: PackedCommit) -> WriteCall:
    kind = _GUARDED if commit.guards else _COMMITS
    return WriteCall(commit.run, kind, commit, _size(commit))


def wake_call(job: JobRef) -> WriteCall:
    return WriteCall(job.run, _WAKES, job_values(job))


def check_answer(commit: PackedCommit, answer: Sequence[int] | None) -> None:
    """Raise the refusal an answer tells of."""
    if answer is None:
        return
    match answer:
        case [code, run] if code == _KEY_TAKEN:
            raise KeyTaken(RunId(run))
        case [code, _] if code == _LEASE_LOST and commit.lease is not None:
            raise lost_lease(commit.lease)
        case [code, version] if code == _OTHER_VERSION:
            raise unexpected_version(commit, None if version == _NOT_THERE else version)
        case [code, _] if code == _OTHER_GUARD:
            raise stale_guard(", ".join(one.scope for one in commit.guards))
    raise EngineBug(f"a commit of run {commit.run} was answered with {answer}")


def _answers(value: bytes | None, count: int) -> list[Any]:
    """For each commit of a group: None, or why it was refused."""
    answers: list[Any] = [None] * count
    words = integers_of(value) if value is not None else []
    for place in range(0, len(words), _WORDS):
        answers[words[place] - 1] = words[place + 1 : place + _WORDS]
    return answers


def _size(commit: PackedCommit) -> int:
    kept = len(commit.snapshot.data) if commit.snapshot is not None else 0
    texts = sum(len(row.data) for row in commit.rows)
    return kept + texts + sum(len(blob.data) for blob in commit.blobs)


_COMMITS = GroupStatement(batch, _answers)
# One at a time: each is decided from what the one before has made of the states.
_GUARDED = GroupStatement(guarded_batch, _answers, most=1)
_WAKES = single(_WAKE)
