"""A group of commits as one statement that writes them all, and its values.

One table names every array once: those with one element for each commit, those with one for each
event, blob, snapshot or failure, and JSON for what few commits have. The call is made of the same
table. What the statements do is in `sql/postgres/0001_schema/2_commits.sql`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, repeat
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

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

Encode: TypeAlias = Callable[[Iterable[Any]], bytes | None]
# The parameter of the function, the kind of its array, and where an element has its value.
Column: TypeAlias = tuple[str, Encode, Callable[[Any], Any]]


class RowArrays(NamedTuple):
    """Arrays with an element for each row of a kind; `of` tells to which commit a row belongs.

    Without rows there is NULL for each, unless the function needs to be told that there are none.
    """

    of: str
    rows_in: Callable[[PackedCommit], Sequence[Any]]
    columns: tuple[Column, ...]
    may_be_null: bool = True


def _last_at(commit: PackedCommit) -> int | None:
    return commit.rows[-1].at if commit.rows else None


def _texts_if_any(texts: Iterable[str | None]) -> bytes | None:
    found = list(texts)
    return text_array(found) if any(found) else None


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


_NO_LEASE = (None,) * 10
_NOWHERE = (None,) * 5
_encode = msgspec.json.Encoder().encode

_HEADS: tuple[Column, ...] = (
    ("p_runs", integer_array, attrgetter("run")),
    ("p_expected", integer_array, attrgetter("expected")),
    ("p_versions", integer_array, attrgetter("version")),
    ("p_updated", integer_array, _last_at),
    ("p_statuses", text_array, attrgetter("status.value")),
    ("p_errors", text_array, attrgetter("error")),
    ("p_ended", integer_array, attrgetter("ended_at")),
    ("p_clears", boolean_array, attrgetter("drop_all")),
    ("p_mores", json_array, _more),
)
# What `_lease` says of each commit, in this order.
_LEASES: tuple[tuple[str, Encode], ...] = (
    ("p_steps", text_array),
    ("p_visits", integer_array),
    ("p_iterations", integer_array),
    ("p_tokens", integer_array),
    ("p_settles", text_array),
    ("p_to_steps", text_array),
    ("p_to_visits", integer_array),
    ("p_to_iterations", integer_array),
    ("p_pools", text_array),
    ("p_untils", integer_array),
)
_EVENTS = RowArrays(
    "p_of",
    attrgetter("rows"),
    (
        ("p_seqs", integer_array, attrgetter("seq")),
        ("p_ats", integer_array, attrgetter("at")),
        ("p_names", text_array, attrgetter("name")),
        ("p_datas", text_array, attrgetter("data")),
        ("p_replaced", _texts_if_any, attrgetter("replaced")),
    ),
    may_be_null=False,
)
_BLOBS = RowArrays(
    "p_blob_of",
    attrgetter("blobs"),
    (
        ("p_checksums", text_array, attrgetter("checksum")),
        ("p_blobs", bytes_array, attrgetter("data")),
    ),
)
_SNAPSHOTS = RowArrays(
    "p_kept_of",
    lambda commit: () if commit.snapshot is None else (commit.snapshot,),
    (
        ("p_formats", text_array, attrgetter("format")),
        ("p_snapshots", bytes_array, attrgetter("data")),
    ),
)
_FAILURES = RowArrays(
    "p_failed_of",
    lambda commit: () if commit.failure is None else (commit.failure,),
    (
        ("p_kinds", text_array, attrgetter("kind")),
        ("p_messages", text_array, attrgetter("message")),
        ("p_fingerprints", text_array, attrgetter("fingerprint")),
    ),
    may_be_null=False,
)
_USUAL = (_EVENTS, _BLOBS, _SNAPSHOTS)


def _call(function: str, kinds: Sequence[RowArrays], before: Sequence[str] = ()) -> bytes:
    names = [*before, *(name for name, *_ in (*_HEADS, *_LEASES))]
    for rows in kinds:
        names += (rows.of, *(name for name, _, _ in rows.columns))
    values = ", ".join(f"{name} => ${number}" for number, name in enumerate(names, 1))
    return f"SELECT anew.{function}({values})".encode()


STATEMENT = _call("commit_v2", _USUAL)
# For a group in which a run fails or takes up another: few have one.
FAILING_STATEMENT = _call("commit_v3", (*_USUAL, _FAILURES))


GUARDED_STATEMENT = _call("commit_guarded_v1", (*_USUAL, _FAILURES), before=("p_guards",))


def guarded_batch(commits: Sequence[PackedCommit]) -> tuple[bytes, Sequence[bytes | None]]:
    """As `batch`, of one commit that was decided from states of guards."""
    [commit] = commits
    guards = [
        {
            "scope": to_text(one.scope),
            "expected": one.expected,
            "token": one.token,
            "state": one.state,
        }
        for one in commit.guards
    ]
    _, values = batch(commits)
    failures = () if _is_rare(commit) else _arrays_of(_FAILURES, commits)
    return GUARDED_STATEMENT, [_encode(guards), *values, *failures]


def batch(commits: Sequence[PackedCommit]) -> tuple[bytes, Sequence[bytes | None]]:
    """The statement, and what to bind."""
    leases = zip(*map(_lease, commits), strict=True)
    values = _arrays(_HEADS, commits)
    values += [encode(column) for (_, encode), column in zip(_LEASES, leases, strict=True)]
    for rows in _USUAL:
        values += _arrays_of(rows, commits)
    if not any(map(_is_rare, commits)):
        return STATEMENT, values
    return FAILING_STATEMENT, [*values, *_arrays_of(_FAILURES, commits)]


def _arrays(columns: Iterable[Column], elements: Sequence[Any]) -> list[bytes | None]:
    return [encode(map(value, elements)) for _, encode, value in columns]


def _arrays_of(rows: RowArrays, commits: Sequence[PackedCommit]) -> list[bytes | None]:
    each = list(map(rows.rows_in, commits))
    found = list(chain.from_iterable(each))
    if not found and rows.may_be_null:
        return [None] * (1 + len(rows.columns))
    numbers = chain.from_iterable(repeat(number, len(one)) for number, one in enumerate(each, 1))
    return [integer_array(numbers), *_arrays(rows.columns, found)]


def _is_rare(commit: PackedCommit) -> bool:
    is_retry = commit.new is not None and commit.new.retry_of is not None
    return is_retry or commit.failure is not None


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
