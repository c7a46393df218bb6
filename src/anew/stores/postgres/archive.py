"""Reads runs, logs and jobs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from anew.store import (
    Blob,
    PackedEvents,
    PackedRun,
    RunFilter,
    RunId,
    RunRow,
    Snapshot,
    StoredEvent,
)
from anew.stores.codec import checksums_in
from anew.stores.postgres.connection import Connection
from anew.stores.postgres.session import POSTGRES
from anew.stores.postgres.values import from_text, integer_array, text_array
from anew.stores.sql.dialect import Row, SqlDialect, Statement, Steps
from anew.stores.sql.filters import where
from anew.stores.sql.rows import JOB_COLUMNS, RUN_COLUMNS, parent_ref, run_from_columns

# The job that says most is looked up for the runs that are shown, and for no others.
_ROWS = """
SELECT
    page.*, (SELECT max(later.run) FROM anew.runs AS later WHERE later.retry_of = page.run), job.*
FROM (
    SELECT {columns} FROM anew.run_states AS s {condition} ORDER BY run DESC LIMIT ?
) AS page
LEFT JOIN LATERAL (
    SELECT {job_columns} FROM anew.job_ranks AS j WHERE j.run = page.run
    ORDER BY rank, due_at NULLS LAST, step, visit, iteration LIMIT 1
) AS job ON true
ORDER BY page.run DESC
"""
_RUN_WIDTH = len(RUN_COLUMNS.split(","))
_IS_THERE = "SELECT 1 FROM anew.runs WHERE run = %s"
# A run that was removed may have left events behind, until their range is dropped.
EVENTS = """
SELECT seq, at, name, data, replaced FROM anew.events
WHERE run = %s AND seq > %s AND EXISTS (SELECT 1 FROM anew.runs WHERE runs.run = events.run)
ORDER BY seq LIMIT %s
"""
_BLOBS = "SELECT checksum, data FROM anew.blobs WHERE run = %s AND checksum = ANY (%s)"
_STORED = """
SELECT
    runs.digest, parent_run, parent_step, parent_visit, parent_iteration, depth, updated_at,
    snapshots.version, snapshots.format, snapshots.data
FROM anew.runs LEFT JOIN anew.snapshots ON snapshots.run = runs.run AND snapshots.format = %s
WHERE runs.run = %s
"""
# One that has a snapshot comes without its events. The array is named twice, so that the plan knows
# which partitions it needs.
_STORED_MANY = """
SELECT
    runs.run, digest, parent_run, parent_step, parent_visit, parent_iteration, depth,
    snapshots.run IS NOT NULL, seq, at, name, events.data, replaced
FROM anew.runs
LEFT JOIN anew.snapshots ON snapshots.run = runs.run
LEFT JOIN anew.events
    ON events.run = runs.run AND events.run = ANY (%s) AND snapshots.run IS NULL
WHERE runs.run = ANY (%s)
ORDER BY runs.run, seq
"""


async def read_run(connection: Connection, *, run: RunId, knows: str) -> PackedRun | None:
    """The snapshot is read before the events: a log only grows."""
    found = await _first(connection, _STORED, (knows, run))
    if found is None:
        return None
    digest, *parent, depth, updated_at, version, kept_format, data = found
    snapshot = Snapshot(version, kept_format, data) if version is not None else None
    events = await read_rows(connection, run=run, after=version or 0, limit=None)
    last_at = events.rows[-1].at if events.rows else updated_at
    return PackedRun(
        from_text(digest), parent_ref(POSTGRES, *parent), depth, last_at, events, snapshot
    )


async def read_runs(
    connection: Connection, *, asked: Sequence[tuple[RunId, str]]
) -> list[PackedRun | None]:
    """Of each run and the format its reader knows what `read_run` says; most in one statement."""
    runs = integer_array(list({run for run, _ in asked}))
    cursor = await connection.execute(_STORED_MANY, (runs, runs), binary=True)
    rows = groupby(await cursor.fetchall(), key=itemgetter(0))
    found = {run: _whole(list(group)) for run, group in rows}
    return [
        found[run] or await read_run(connection, run=run, knows=knows) if run in found else None
        for run, knows in asked
    ]


def _whole(found: list[tuple[Any, ...]]) -> PackedRun | None:
    """A run of its rows, one for each event; None when there is more to read, or something odd."""
    _, digest, *parent, depth, has_snapshot = found[0][:8]
    rows = [StoredEvent(*row[8:]) for row in found if row[8] is not None]
    is_plain = all(row.seq == n and row.replaced is None for n, row in enumerate(rows, 1))
    if has_snapshot or not rows or not is_plain:
        return None
    events = PackedEvents(rows)
    return PackedRun(from_text(digest), parent_ref(POSTGRES, *parent), depth, rows[-1].at, events)


def find_run(dialect: SqlDialect, run: RunId) -> Steps[RunRow | None]:
    rows = yield from list_runs(dialect, RunFilter(runs=[run], limit=1))
    return rows[0] if rows else None


def list_runs(dialect: SqlDialect, asked: RunFilter) -> Steps[list[RunRow]]:
    rows = yield runs_query(dialect, asked)
    return [_run_from_row(dialect, row) for row in rows]


def runs_query(dialect: SqlDialect, asked: RunFilter) -> Statement:
    """The statement for a filter, and what to bind."""
    condition, values = where(dialect, asked)
    statement = _ROWS.format(columns=RUN_COLUMNS, condition=condition, job_columns=JOB_COLUMNS)
    return statement, [*values, asked.limit]


def _run_from_row(dialect: SqlDialect, row: Row) -> RunRow:
    columns, (retried_as, *job) = row[:_RUN_WIDTH], row[_RUN_WIDTH:]
    is_open = job[0] is not None
    return run_from_columns(dialect, columns, retried_as=retried_as, job=job if is_open else None)


async def read_rows(
    connection: Connection, *, run: RunId, after: int, limit: int | None
) -> PackedEvents:
    """Runs that are removed meanwhile have no events."""
    cursor = await connection.execute(EVENTS, (run, after, limit), binary=True)
    rows = [StoredEvent(*row) for row in await cursor.fetchall()]
    needed = checksums_in(rows)
    blobs = await _blobs(connection, run, needed)
    is_cut = any(row.seq != number for number, row in enumerate(rows, after + 1))
    if (is_cut or len(blobs) < len(needed)) and not await _first(connection, _IS_THERE, (run,)):
        return PackedEvents([])
    return PackedEvents(rows, blobs)


async def _blobs(connection: Connection, run: RunId, checksums: Iterable[str]) -> list[Blob]:
    if not checksums:
        return []
    cursor = await connection.execute(_BLOBS, (run, text_array(list(checksums))), binary=True)
    return [Blob(*row) for row in await cursor.fetchall()]


async def _first(
    connection: Connection, statement: str, values: tuple[Any, ...]
) -> tuple[Any, ...] | None:
    return await (await connection.execute(statement, values, binary=True)).fetchone()
