"""Reads runs, logs and jobs, and removes runs that are old."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import apsw
import msgspec

from anew.engine.events import Event
from anew.engine.state import RunStatus
from anew.store import JobRow, RunFilter, RunId, RunRow, Stored, WaitReason
from anew.stores.codec import Blob, EventRow, checksums_in, snapshot_format
from anew.stores.packing import (
    NO_FORMAT,
    PackedEvents,
    PackedRun,
    Snapshot,
    unpack_events,
    unpack_run,
)
from anew.stores.sqlite.commits import DROP_ALL, job_ref
from anew.stores.sqlite.connection import damaged

_RUN_COLUMNS = """
    run, program, digest, status, version, created_at, updated_at, ended_at, error, key, labels,
    parent_run, parent_step, parent_visit, parent_iteration, depth
"""
_RUN = f"SELECT {_RUN_COLUMNS} FROM run_rows WHERE run = ?"
_RUN_OF_KEY = "SELECT run FROM runs WHERE key = ?"
EVENTS = """
SELECT id - log, at, name, data, replaced
FROM runs CROSS JOIN events ON id > log + ? AND id < log + (1 << 32)
WHERE run = ? ORDER BY id LIMIT ?
"""
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


def load(connection: apsw.Connection, run: RunId) -> Stored | None:
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
    where: list[str] = []
    values: list[object] = []

    def ask(condition: str, *bound: object) -> None:
        where.append(condition)
        values.extend(bound)

    if asked.statuses:
        marks = ", ".join("?" * len(asked.statuses))
        ask(f"status IN ({marks})", *(status.value for status in asked.statuses))
    if asked.program is not None:
        ask("program = ?", asked.program)
    if asked.retrying:
        ask("run IN (SELECT run FROM jobs WHERE reason = 'retry')")
    if asked.since is not None:
        ask("run IN (SELECT run FROM runs WHERE created_at >= ?)", asked.since)
    if asked.parent is not None:
        ask("parent_run = ?", asked.parent)
    for name, value in asked.labels.items():
        ask("run IN (SELECT run FROM labels WHERE name = ? AND value = ?)", name, value)
    if asked.before is not None:
        ask("run < ?", asked.before)
    condition = f"WHERE {' AND '.join(where)}" if where else ""
    statement = f"SELECT {_RUN_COLUMNS} FROM run_rows {condition} ORDER BY run DESC LIMIT ?"
    return statement, [*values, asked.limit]


def read_events(connection: apsw.Connection, run: RunId, *, after: int, limit: int) -> list[Event]:
    return unpack_events(run, read_rows(connection, run, after=after, limit=limit))


def read_rows(connection: apsw.Connection, run: RunId, *, after: int, limit: int) -> PackedEvents:
    rows = [EventRow(*row) for row in connection.execute(EVENTS, (after, run, limit))]
    for expected, row in enumerate(rows, after + 1):
        if row.seq != expected:
            raise damaged(connection.filename, f"run {run} has no event {expected}")
    return PackedEvents(rows, _blobs(connection, run, checksums_in(rows)))


def list_jobs(connection: apsw.Connection, run: RunId) -> list[JobRow]:
    return [
        JobRow(
            job=job_ref(row[:4]),
            reason=WaitReason(row[4]),
            due_at=row[5],
            attempt=row[6],
            pool=row[7],
            leased_until=row[8],
            token=row[9],
        )
        for row in connection.execute(_JOBS, (run,))
    ]


def prune(connection: apsw.Connection, *, before: int, limit: int) -> int:
    runs = connection.execute(OLD_RUNS, (before, limit)).fetchall()
    for statement in _REMOVE:
        connection.executemany(statement, runs)
    return len(runs)


def _blobs(connection: apsw.Connection, run: RunId, checksums: Iterable[str]) -> list[Blob]:
    rows = [connection.execute(_BLOB, (run, checksum)).fetchone() for checksum in checksums]
    return [Blob(*row) for row in rows if row is not None]


def _run_row(row: tuple[Any, ...]) -> RunRow:
    run, program, digest, status, version, created_at, updated_at, ended_at = row[:8]
    error, key, labels, *parent, depth = row[8:]
    return RunRow(
        run=run,
        program=program,
        digest=digest,
        status=RunStatus(status),
        version=version,
        created_at=created_at,
        updated_at=updated_at,
        ended_at=ended_at,
        error=msgspec.json.decode(error) if error is not None else None,
        key=key,
        labels=msgspec.json.decode(labels) if labels is not None else {},
        parent=job_ref(tuple(parent)) if parent[0] is not None else None,
        depth=depth,
    )
