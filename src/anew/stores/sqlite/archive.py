"""Reads runs, logs and jobs, and removes runs that are old."""

from __future__ import annotations

from collections.abc import Iterable

import apsw
import msgspec

from anew.engine.events import Event
from anew.store import (
    Blob,
    PackedEvents,
    PackedRun,
    RunFilter,
    RunId,
    RunRow,
    Snapshot,
    StoredEvent,
    StoredRun,
)
from anew.stores.codec import checksums_in, snapshot_format
from anew.stores.packing import NO_FORMAT, unpack_events, unpack_run
from anew.stores.sql.dialect import Row, SqlDialect, Statement, Steps
from anew.stores.sql.filters import where
from anew.stores.sql.rows import RUN_COLUMNS, parent_ref, run_from_columns
from anew.stores.sqlite.commits import DROP_ALL
from anew.stores.sqlite.session import SQLITE

_SHOWN = f"SELECT {RUN_COLUMNS}, retried_as, open FROM run_rows"
EVENTS = """
SELECT id - log, at, name, data, replaced
FROM runs CROSS JOIN events ON id > log + ? AND id < log + (1 << 32)
WHERE run = ? ORDER BY id LIMIT ?
"""
_EVENTS_AS_BYTES = EVENTS.replace(
    "name, data, replaced", "CAST(name AS BLOB), CAST(data AS BLOB), CAST(replaced AS BLOB)"
)
_STORED = """
SELECT digest, parent_run, parent_step, parent_visit, parent_iteration, depth, updated_at
FROM run_rows WHERE run = ?
"""
_BLOB = "SELECT checksum, data FROM blobs WHERE run = ? AND checksum = ?"
_SNAPSHOT = "SELECT version, format, data FROM snapshots WHERE run = ? AND format = ?"
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
    found = connection.execute(_STORED, (run,)).fetchone()
    if found is None:
        return None
    digest, *parent, depth, updated_at = found
    kept = connection.execute(_SNAPSHOT, (run, knows)).fetchone()
    snapshot = Snapshot(*kept) if kept is not None else None
    after = snapshot.version if snapshot is not None else 0
    events = read_rows(connection, run, after=after, limit=_NO_LIMIT)
    return PackedRun(digest, parent_ref(SQLITE, *parent), depth, updated_at, events, snapshot)


def find_run(dialect: SqlDialect, run: RunId) -> Steps[RunRow | None]:
    rows = yield f"{_SHOWN} WHERE run = ?", (run,)
    return _run_from_row(dialect, rows[0]) if rows else None


def list_runs(dialect: SqlDialect, asked: RunFilter) -> Steps[list[RunRow]]:
    rows = yield runs_query(dialect, asked)
    return [_run_from_row(dialect, row) for row in rows]


def runs_query(dialect: SqlDialect, asked: RunFilter) -> Statement:
    """The statement for a filter, and what to bind."""
    page, values = page_query(dialect, asked)
    # What is only shown is looked up for the runs that are.
    return f"{_SHOWN} WHERE run IN ({page}) ORDER BY run DESC", values


def page_query(dialect: SqlDialect, asked: RunFilter) -> Statement:
    """The same for the ids alone."""
    condition, values = where(dialect, asked)
    page = f"SELECT run FROM anew.run_states AS s {condition} ORDER BY run DESC LIMIT ?"
    return page, [*values, asked.limit]


def _run_from_row(dialect: SqlDialect, row: Row) -> RunRow:
    *columns, retried_as, job = row
    shown = msgspec.json.decode(job) if job is not None else None
    return run_from_columns(dialect, columns, retried_as=retried_as, job=shown)


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
