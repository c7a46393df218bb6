"""Reads runs, logs and jobs, and removes runs that are old."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import apsw
import msgspec

from anew.engine.events import Event
from anew.store import (
    Blob,
    JobRow,
    PackedEvents,
    PackedRun,
    RunFilter,
    RunId,
    RunRow,
    Snapshot,
    StoredEvent,
    StoredRun,
    WaitReason,
)
from anew.stores.codec import checksums_in, snapshot_format
from anew.stores.columns import columns_in
from anew.stores.packing import NO_FORMAT, unpack_events, unpack_run
from anew.stores.sqlite.commits import DROP_ALL, job_ref
from anew.stores.sqlite.filters import where

_RUN_COLUMNS = """
    run, program, digest, status, version, created_at, updated_at, ended_at, error, key, labels,
    parent_run, parent_step, parent_visit, parent_iteration, depth, error_kind, fingerprint, open,
    retried_as
"""
_RUN = f"SELECT {_RUN_COLUMNS} FROM run_rows WHERE run = ?"
_RUN_OF_KEY = "SELECT run FROM runs WHERE key = ?"
EVENTS = """
SELECT id - log, at, name, data, replaced
FROM runs CROSS JOIN events ON id > log + ? AND id < log + (1 << 32)
WHERE run = ? ORDER BY id LIMIT ?
"""
_EVENTS_AS_BYTES = EVENTS.replace(
    "name, data, replaced", "CAST(name AS BLOB), CAST(data AS BLOB), CAST(replaced AS BLOB)"
)
_BLOB = "SELECT checksum, data FROM blobs WHERE run = ? AND checksum = ?"
_SNAPSHOT = "SELECT version, format, data FROM snapshots WHERE run = ? AND format = ?"
_JOBS = """
SELECT run, step, visit, iteration, reason, due_at, attempt, pool, leased_until, token
FROM jobs WHERE is_leased IN (0, 1) AND run = ? ORDER BY step, visit, iteration
"""
OLD_RUNS = """
SELECT run FROM runs AS old
WHERE ended_at < ? AND NOT EXISTS (
    SELECT 1 FROM runs AS parent WHERE parent.run = old.parent_run AND parent.ended_at IS NULL
)
ORDER BY ended_at, run LIMIT ?
"""
REMOVE_EVENTS = """
DELETE FROM events WHERE
    id > (SELECT log FROM runs WHERE run = ?1) AND
    id < (SELECT log + (1 << 32) FROM runs WHERE run = ?1)
"""
_REMOVE = (
    DROP_ALL,
    REMOVE_EVENTS,
    *(f"DELETE FROM {table} WHERE run = ?" for table in ("blobs", "snapshots", "labels", "runs")),
)
# SQLite takes a negative limit for none.
_NO_LIMIT = -1


def load(connection: apsw.Connection, run: RunId) -> StoredRun | None:
    for knows in (snapshot_format(), NO_FORMAT):
        packed = read_run(connection, run, knows=knows)
        stored = unpack_run(run, packed) if packed is not None else None
        if packed is None or stored is not None:
            break
    return stored


def read_run(connection: apsw.Connection, run: RunId, *, knows: str) -> PackedRun | None:
    row = find_run(connection, run)
    if row is None:
        return None
    kept = connection.execute(_SNAPSHOT, (run, knows)).fetchone()
    snapshot = Snapshot(*kept) if kept is not None else None
    after = snapshot.version if snapshot is not None else 0
    events = read_rows(connection, run, after=after, limit=_NO_LIMIT)
    return PackedRun(row.digest, row.parent, row.depth, row.updated_at, events, snapshot)


def find_run(connection: apsw.Connection, run: RunId) -> RunRow | None:
    row = connection.execute(_RUN, (run,)).fetchone()
    return _run_row(row) if row is not None else None


def run_of_key(connection: apsw.Connection, key: str) -> RunId | None:
    row = connection.execute(_RUN_OF_KEY, (key,)).fetchone()
    return RunId(row[0]) if row is not None else None


def list_runs(connection: apsw.Connection, asked: RunFilter) -> list[RunRow]:
    statement, values = runs_query(asked)
    return [_run_row(row) for row in connection.execute(statement, values)]


def runs_query(asked: RunFilter) -> tuple[str, list[object]]:
    """The statement for a filter, and what to bind."""
    page, values = page_query(asked)
    # What is only shown is looked up for the runs that are.
    statement = f"SELECT {_RUN_COLUMNS} FROM run_rows WHERE run IN ({page}) ORDER BY run DESC"
    return statement, values


def page_query(asked: RunFilter) -> tuple[str, list[object]]:
    """The same for the ids alone."""
    condition, values = where(asked)
    page = f"SELECT run FROM run_states AS s {condition} ORDER BY run DESC LIMIT ?"
    return page, [*values, asked.limit]


def read_events(connection: apsw.Connection, run: RunId, *, after: int, limit: int) -> list[Event]:
    packed = read_rows(connection, run, after=after, limit=limit)
    return unpack_events(run, packed, after=after)


def read_rows(connection: apsw.Connection, run: RunId, *, after: int, limit: int) -> PackedEvents:
    try:
        rows = [StoredEvent(*row) for row in connection.execute(EVENTS, (after, run, limit))]
    except UnicodeDecodeError:
        found = connection.execute(_EVENTS_AS_BYTES, (after, run, limit))
        rows = [_row_of_bytes(*row) for row in found]
    return PackedEvents(rows, _blobs(connection, run, checksums_in(rows)))


def _row_of_bytes(
    seq: int, at: int, name: bytes, data: bytes, replaced: bytes | None
) -> StoredEvent:
    """What is no text is shown as the bytes it is, which is no JSON."""

    def text(found: bytes) -> str:
        try:
            return found.decode()
        except UnicodeDecodeError:
            return repr(found)

    return StoredEvent(
        seq, at, text(name), text(data), None if replaced is None else text(replaced)
    )


def list_jobs(connection: apsw.Connection, run: RunId) -> list[JobRow]:
    return [_job_row(run, *row[1:]) for row in connection.execute(_JOBS, (run,))]


def prune(connection: apsw.Connection, *, before: int, limit: int) -> int:
    runs = connection.execute(OLD_RUNS, (before, limit)).fetchall()
    for statement in _REMOVE:
        connection.executemany(statement, runs)
    return len(runs)


def remove(connection: apsw.Connection, run: RunId) -> bool:
    is_there = connection.execute("SELECT 1 FROM runs WHERE run = ?", (run,)).fetchone() is not None
    for statement in _REMOVE:
        connection.execute(statement, (run,))
    return is_there


def _blobs(connection: apsw.Connection, run: RunId, checksums: Iterable[str]) -> list[Blob]:
    rows = [connection.execute(_BLOB, (run, checksum)).fetchone() for checksum in checksums]
    return [Blob(*row) for row in rows if row is not None]


def _run_row(row: tuple[Any, ...]) -> RunRow:
    run, program, digest, status, version, created_at, updated_at, ended_at = row[:8]
    error, key, labels, *parent, depth, error_kind, fingerprint, job, retried_as = row[8:]
    read = columns_in(status, error, labels)
    return RunRow(
        run=run,
        program=program,
        digest=digest,
        status=read.status,
        version=version,
        created_at=created_at,
        updated_at=updated_at,
        ended_at=ended_at,
        error=read.error,
        key=key,
        labels=read.labels,
        parent=job_ref(tuple(parent)) if parent[0] is not None else None,
        depth=depth,
        error_kind=error_kind,
        fingerprint=fingerprint,
        open=_job_row(run, *msgspec.json.decode(job)) if job is not None else None,
        retried_as=retried_as,
        damage=read.damage,
    )


def _job_row(run: RunId, *columns: Any) -> JobRow:
    step, visit, iteration, reason, due_at, attempt, pool, leased_until, token = columns
    return JobRow(
        job=job_ref((run, step, visit, iteration)),
        reason=WaitReason(reason),
        due_at=due_at,
        attempt=attempt,
        pool=pool,
        leased_until=leased_until,
        token=token,
    )
