"""Counts, points and groups of runs; and what runs that failed long ago are found by."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import apsw
import msgspec

from anew.engine.standing import State
from anew.store import (
    PROGRAMS_OF_FAILURE_MAX,
    FailureFilter,
    FailureGroup,
    RunFilter,
    RunId,
    RunPoint,
)
from anew.stores.packing import failure_of
from anew.stores.sqlite.filters import where
from anew.stores.sqlite.reader import Reader

# One name after the other out of the index: never all of the runs.
_PROGRAMS = """
WITH RECURSIVE names (name) AS (
    SELECT min(program) FROM runs
    UNION ALL
    SELECT (SELECT min(program) FROM runs WHERE program > name) FROM names WHERE name IS NOT NULL
)
SELECT name FROM names WHERE name IS NOT NULL LIMIT ?
"""
GROUPS = """
SELECT
    fingerprint, count(*), sum(error_kind = 'worker_lost'), min(ended_at), max(ended_at),
    json_group_array(DISTINCT program)
FROM runs INDEXED BY runs_fingerprint WHERE {condition} GROUP BY fingerprint
ORDER BY max(ended_at) DESC, fingerprint LIMIT ?
"""
# The newest are tried first, and one of them it is, mostly.
_NEWEST = """
SELECT run, error_kind, error_message FROM runs
WHERE fingerprint = ? AND ended_at = ? ORDER BY run DESC LIMIT 1
"""
UNMARKED = """
SELECT run, error FROM runs INDEXED BY runs_unmarked
WHERE status = 'failed' AND fingerprint IS NULL LIMIT ?
"""
_MARK = "UPDATE runs SET error_kind = ?, error_message = ?, fingerprint = ? WHERE run = ?"
# Runs in one transaction: a crash costs no more than these.
_MARKED_AT_ONCE = 1_000


class SqliteSurvey:
    """What `anew.store.Survey` says."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def counts(self, asked: RunFilter) -> dict[State, int]:
        return await self._reader.ask(lambda db: counts(db, asked))

    async def points(self, asked: RunFilter) -> list[RunPoint]:
        return await self._reader.ask(lambda db: points(db, asked))

    async def failures(self, asked: FailureFilter) -> list[FailureGroup]:
        return await self._reader.ask(lambda db: failures(db, asked))

    async def programs(self, limit: int = 1000) -> list[str]:
        return await self._reader.ask(lambda db: programs(db, limit))

    async def versions(self, digests: Collection[str]) -> dict[str, int]:
        return await self._reader.ask(lambda db: versions(db, digests))


def counts(connection: apsw.Connection, asked: RunFilter) -> dict[State, int]:
    condition, values = where(asked)
    statement = f"SELECT state, count(*) FROM run_states AS s {condition} GROUP BY state"
    return {State(state): count for state, count in connection.execute(statement, values)}


def points(connection: apsw.Connection, asked: RunFilter) -> list[RunPoint]:
    condition, values = where(asked)
    columns = "run, created_at, ended_at, state"
    statement = f"SELECT {columns} FROM run_states AS s {condition} ORDER BY run DESC LIMIT ?"
    rows: list[Any] = connection.execute(statement, [*values, asked.limit]).fetchall()
    return [
        RunPoint(RunId(run), created_at, ended_at, State(state))
        for run, created_at, ended_at, state in rows
    ]


def failures(connection: apsw.Connection, asked: FailureFilter) -> list[FailureGroup]:
    conditions = ["fingerprint IS NOT NULL", "ended_at IS NOT NULL"]
    values: list[object] = []
    chosen = (("ended_at >= ?", asked.since), ("ended_at < ?", asked.until))
    for condition, value in (*chosen, ("program = ?", asked.program)):
        if value is not None:
            conditions.append(condition)
            values.append(value)
    statement = GROUPS.format(condition=" AND ".join(conditions))
    rows: list[Any] = connection.execute(statement, [*values, asked.limit]).fetchall()
    return [_group(connection, row) for row in rows]


def _group(connection: apsw.Connection, row: Sequence[Any]) -> FailureGroup:
    fingerprint, count, dead, first_at, last_at, programs = row
    newest, kind, message = connection.execute(_NEWEST, (fingerprint, last_at)).get
    names = sorted(msgspec.json.decode(programs))[:PROGRAMS_OF_FAILURE_MAX]
    return FailureGroup(
        fingerprint, kind, message, names, count, dead, first_at, last_at, RunId(newest)
    )


def programs(connection: apsw.Connection, limit: int) -> list[str]:
    return [name for (name,) in connection.execute(_PROGRAMS, (limit,))]


def versions(connection: apsw.Connection, digests: Collection[str]) -> dict[str, int]:
    marks = ", ".join("?" * len(digests))
    statement = f"SELECT digest, max(version) FROM versions WHERE digest IN ({marks}) GROUP BY 1"
    rows: list[Any] = connection.execute(statement, list(digests)).fetchall()
    return dict(rows)


def mark_failures(connection: apsw.Connection) -> None:
    """Write what runs are found by that failed before this was written with them."""
    while True:
        with connection:
            rows: list[Any] = connection.execute(UNMARKED, (_MARKED_AT_ONCE,)).fetchall()
            connection.executemany(_MARK, [_mark(run, error) for run, error in rows])
        if len(rows) < _MARKED_AT_ONCE:
            return


def _mark(run: int, error: str | None) -> tuple[str, str, str, int]:
    failure = failure_of(msgspec.json.decode(error) if error is not None else None)
    return failure.kind, failure.message, failure.fingerprint, run
