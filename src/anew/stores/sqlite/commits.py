"""Writes one transition of a run: its events, its head, and what becomes of jobs.

Everything that can refuse a commit is looked at before the first row is written, because the
transaction is shared with others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import apsw
import msgspec
from msgspec import Struct

from anew.engine.state import StepRunKey
from anew.store import (
    JobRef,
    KeyTaken,
    Lease,
    NewJob,
    PackedCommit,
    Park,
    RunId,
    StoredEvent,
    StoreError,
)
from anew.stores.refusals import lost_lease, stale_guard, unexpected_version
from anew.stores.sql.dialect import NO_ITERATION
from anew.stores.sqlite.guards import write_guard_of_holder, write_guards

JobKey: TypeAlias = tuple[int, str, int, int]
# Status, end and error of a run.
Head: TypeAlias = tuple[str, int | None, str | None]

# An event's id is the log of its run plus its sequence number, which therefore has 32 bits. The
# others of a 63-bit id are for runs.
LOG_EVENTS_MAX = 2**32 - 1
LOG_IDS = LOG_EVENTS_MAX + 1
FILE_RUNS_MAX = 2**31 - 2

_KEY_OWNER = "SELECT run FROM runs WHERE key = ?"
# Two events looked for by their keys tell whether a version is the newest, and cost a tenth of
# asking for the newest.
HEAD = """
SELECT
    EXISTS (SELECT 1 FROM events WHERE id = log + ?2),
    EXISTS (SELECT 1 FROM events WHERE id = log + ?2 + 1),
    log, status, ended_at, error
FROM runs WHERE run = ?1
"""
_WRITTEN = """
SELECT id - ?1, at, name, data, replaced FROM events WHERE id BETWEEN ?2 AND ?3 ORDER BY id
"""
VERSION = "SELECT version FROM run_rows WHERE run = ?"
_NEWEST_LOG = "SELECT coalesce(max(log), 0) FROM runs"
_IS_HELD = """
SELECT 1 FROM jobs
WHERE is_leased = 1 AND run = ? AND step = ? AND visit = ? AND iteration = ? AND token = ?
"""
_ADD_RUN = """
INSERT INTO runs (
    run, log, program, digest, key, labels, depth, created_at,
    parent_run, parent_step, parent_visit, parent_iteration,
    retry_of, status, ended_at, error, error_kind, error_message, fingerprint
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_ADD_LABEL = "INSERT INTO labels (name, value, run) VALUES (?, ?, ?)"
_MOVE_RUN = """
UPDATE runs SET
    status = ?, ended_at = ?, error = ?, error_kind = ?, error_message = ?, fingerprint = ?
WHERE run = ?
"""
_ADD_EVENT = "INSERT INTO events (id, at, name, data, replaced) VALUES (?, ?, ?, ?, ?)"
_ADD_BLOB = "INSERT OR IGNORE INTO blobs (run, checksum, data) VALUES (?, ?, ?)"
_ADD_SNAPSHOT = "INSERT OR REPLACE INTO snapshots (run, version, format, data) VALUES (?, ?, ?, ?)"
_PARK = """
UPDATE jobs SET
    is_leased = 0, leased_until = NULL, is_woken = 0, attempt = ?, calls_again = ?,
    due_at = iif(is_woken, 0, ?), reason = iif(is_woken, 'ready', ?)
WHERE is_leased = 1 AND run = ? AND step = ? AND visit = ? AND iteration = ?
"""
_FINISH = """
DELETE FROM jobs WHERE is_leased = 1 AND run = ? AND step = ? AND visit = ? AND iteration = ?
"""
_DROP = """
DELETE FROM jobs
WHERE is_leased IN (0, 1) AND run = ? AND step = ? AND visit = ? AND iteration = ?
"""
_TAKE_OUT = f"{_DROP} RETURNING token"
DROP_ALL = "DELETE FROM jobs WHERE is_leased IN (0, 1) AND run = ?"
# The job that is answered becomes the one its worker goes on with: one row, one page.
_HAND_OVER = """
UPDATE jobs SET
    step = ?, visit = ?, iteration = ?, pool = ?, due_at = ?, reason = ?, attempt = ?,
    leased_until = ?, token = 1, calls_again = 0, is_woken = 0
WHERE is_leased = 1 AND run = ? AND step = ? AND visit = ? AND iteration = ? AND token = ?
"""
_ADD_JOB = """
INSERT INTO jobs (
    run, step, visit, iteration, pool, due_at, reason, attempt, is_leased, leased_until, token
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
WAKE = """
UPDATE jobs SET
    is_woken = is_leased,
    due_at = iif(is_leased, due_at, 0),
    reason = iif(is_leased, reason, 'ready')
WHERE is_leased IN (0, 1) AND run = ? AND step = ? AND visit = ? AND iteration = ?
"""


class _Known(Struct, frozen=True):
    """What a commit builds upon: where the log of its run is, and its head; None if it is new."""

    log: int
    head: Head | None


def check_log(commit: PackedCommit) -> None:
    """Refuse a commit whose events could not be told from those of another run."""
    if commit.version > LOG_EVENTS_MAX:
        raise StoreError(
            f"run {commit.run} has {commit.expected} events, and a SQLite database holds at most "
            f"{LOG_EVENTS_MAX} of one run. Cancel it, and continue with another run."
        )


def write_commit(connection: apsw.Connection, commit: PackedCommit) -> None:
    """All of it, inside the transaction of the caller; or a refusal, and nothing written."""
    # One cursor for all of it: to make one takes as long as a small statement.
    db = connection.cursor()
    is_handed_over = _goes_on(commit)
    # A refusal leaves no trace: whoever changes guards is found to hold its lease before, or by
    # the very statement that changes one.
    checks_lease = not is_handed_over or len(commit.guards) > 1
    known = _known(db, commit, checks_lease=checks_lease)
    if known is None:
        return
    if commit.guards:
        _write_guards(db, commit, holds_lease=checks_lease)
    jobs: Sequence[NewJob] = commit.jobs
    if is_handed_over:
        _hand_over(db, commit)
        jobs = commit.jobs[1:]
    _write_run(db, commit, known)
    _write_log(db, commit, known.log)
    _write_jobs(db, commit, jobs, is_answered=is_handed_over)


def _write_guards(db: apsw.Cursor, commit: PackedCommit, *, holds_lease: bool) -> None:
    lease = commit.lease
    if holds_lease or lease is None:
        write_guards(db, commit.guards)
        return
    key = job_key(lease.job.run, lease.job.key)
    if not write_guard_of_holder(db, commit.guards[0], (*key, lease.token)):
        if not is_held(db, lease):
            raise lost_lease(lease)
        raise stale_guard(commit.guards[0].scope)


def _goes_on(commit: PackedCommit) -> bool:
    """Whether the worker that answers a lease goes on with a job that is new."""
    if commit.lease is None or commit.keeps_lease or commit.park is not None or not commit.jobs:
        return False
    job = commit.jobs[0]
    return job.is_fresh and job.taken_until is not None


def _hand_over(db: apsw.Cursor, commit: PackedCommit) -> None:
    """Also the check of the lease: a row that is not there refuses the commit unwritten."""
    lease, job = commit.lease, commit.jobs[0]
    assert lease is not None
    new = job_key(commit.run, job.key)[1:]
    state = (job.pool, job.due_at, job.reason.value, job.attempt, job.taken_until)
    db.execute(_HAND_OVER, (*new, *state, *job_key(lease.job.run, lease.job.key), lease.token))
    if db.connection.changes() == 0:
        raise lost_lease(lease)


def job_key(run: RunId, key: StepRunKey) -> JobKey:
    return run, key.step, key.visit, NO_ITERATION if key.iteration is None else key.iteration


def job_ref(row: JobKey) -> JobRef:
    run, step, visit, iteration = row
    return JobRef(
        RunId(run), StepRunKey(step, visit, None if iteration == NO_ITERATION else iteration)
    )


def json_of(value: object) -> str:
    return msgspec.json.encode(value).decode()


def is_held(db: apsw.Cursor, lease: Lease) -> bool:
    key = job_key(lease.job.run, lease.job.key)
    return db.execute(_IS_HELD, (*key, lease.token)).fetchone() is not None


def _known(db: apsw.Cursor, commit: PackedCommit, *, checks_lease: bool) -> _Known | None:
    """What is there of the run; None if that is this very commit. Or a refusal."""
    found = db.execute(HEAD, (commit.run, commit.expected)).fetchone()
    is_stale = (found is None) != (commit.new is not None)
    if found is not None:
        has_expected, has_next, log = found[:3]
        is_stale = is_stale or bool(has_next) or (not has_expected and commit.expected > 0)
        if is_stale and _is_written(db, commit, log):
            return None
    _check_key(db, commit)
    lease = commit.lease
    if lease is not None and (is_stale or checks_lease) and not is_held(db, lease):
        raise lost_lease(lease)
    if is_stale:
        newest = db.execute(VERSION, (commit.run,)).fetchone()
        raise unexpected_version(commit, newest[0] if newest is not None else None)
    return _Known(log, found[3:]) if found is not None else _Known(_new_log(db), None)


def _is_written(db: apsw.Cursor, commit: PackedCommit, log: int) -> bool:
    """Whether the run has these very events already."""
    found = db.execute(_WRITTEN, (log, log + commit.expected + 1, log + commit.version))
    return bool(commit.rows) and [StoredEvent(*row) for row in found] == commit.rows


def _check_key(db: apsw.Cursor, commit: PackedCommit) -> None:
    if commit.new is not None and commit.new.key is not None:
        owner = db.execute(_KEY_OWNER, (commit.new.key,)).fetchone()
        if owner is not None:
            raise KeyTaken(RunId(owner[0]))


def _new_log(db: apsw.Cursor) -> int:
    """The ids after those of the newest run."""
    newest: int = db.execute(_NEWEST_LOG).get
    if newest >= FILE_RUNS_MAX * LOG_IDS:
        raise StoreError(
            f"database {db.connection.filename} has had {FILE_RUNS_MAX} runs and holds no more. "
            "Name another file for new ones."
        )
    return newest + LOG_IDS


def _write_run(db: apsw.Cursor, commit: PackedCommit, known: _Known) -> None:
    new = commit.new
    head: Head = (commit.status.value, commit.ended_at, commit.error)
    if new is None:
        if head != known.head:
            db.execute(_MOVE_RUN, (*head, *_found_by(commit), commit.run))
        return
    parent = job_key(new.parent.run, new.parent.key) if new.parent is not None else (None,) * 4
    labels = json_of(new.labels) if new.labels else None
    born = (new.program, new.digest, new.key, labels, new.depth, commit.at)
    row = (commit.run, known.log, *born, *parent, new.retry_of, *head, *_found_by(commit))
    db.execute(_ADD_RUN, row)
    for name, value in new.labels.items():
        db.execute(_ADD_LABEL, (name, value, commit.run))


def _found_by(commit: PackedCommit) -> tuple[str | None, str | None, str | None]:
    failure = commit.failure
    if failure is None:
        return None, None, None
    return failure.kind, failure.message, failure.fingerprint


def _write_log(db: apsw.Cursor, commit: PackedCommit, log: int) -> None:
    if commit.rows:
        db.executemany(
            _ADD_EVENT,
            [(log + row.seq, row.at, row.name, row.data, row.replaced) for row in commit.rows],
        )
    for blob in commit.blobs:
        db.execute(_ADD_BLOB, (commit.run, blob.checksum, blob.data))
    kept = commit.snapshot
    if kept is not None:
        db.execute(_ADD_SNAPSHOT, (commit.run, kept.version, kept.format, kept.data))


def _write_jobs(
    db: apsw.Cursor, commit: PackedCommit, jobs: Sequence[NewJob], *, is_answered: bool
) -> None:
    run = commit.run
    if commit.lease is not None and not is_answered:
        _settle_lease(db, commit, commit.lease.job)
    if commit.drop_all:
        db.execute(DROP_ALL, (run,))
    if commit.drops:
        db.executemany(_DROP, [job_key(run, key) for key in commit.drops])
    for job in jobs:
        _add_job(db, run, job)
    if commit.wakes:
        wake(db, commit.wakes)


def wake(db: apsw.Cursor | apsw.Connection, jobs: Iterable[JobRef]) -> None:
    db.executemany(WAKE, [job_key(job.run, job.key) for job in jobs])


def _settle_lease(db: apsw.Cursor, commit: PackedCommit, job: JobRef) -> None:
    """What becomes of the job that this commit answers."""
    key = job_key(job.run, job.key)
    if commit.park is not None:
        db.execute(_PARK, (*_parked(commit.park), *key))
    elif not commit.keeps_lease and all(new.key != job.key for new in commit.jobs):
        db.execute(_FINISH, key)


def _parked(park: Park) -> tuple[int, bool, int | None, str]:
    return park.attempt, park.calls_again, park.due_at, park.reason.value


def _add_job(db: apsw.Cursor, run: RunId, job: NewJob) -> None:
    """In place of a row for the same step-run, whose token goes on counting."""
    key = job_key(run, job.key)
    old: Any = [] if job.is_fresh else db.execute(_TAKE_OUT, key).fetchall()
    is_taken = job.taken_until is not None
    token = (old[0][0] if old else 0) + is_taken
    waits = (job.pool, job.due_at, job.reason.value, job.attempt)
    db.execute(_ADD_JOB, (*key, *waits, is_taken, job.taken_until, token))
