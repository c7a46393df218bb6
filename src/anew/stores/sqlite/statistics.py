"""Counts, points and groups of runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import apsw
import msgspec

from anew.engine.statuses import DetailedStatus
from anew.store import (
    PROGRAMS_OF_FAILURE_MAX,
    FailureFilter,
    FailureGroup,
    RunFilter,
    RunId,
    RunPoint,
)
from anew.stores.sqlite.filters import RETRIED, where
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
# Of those that are `left`; the others were retried, and are counted apart.
GROUPS = f"""
WITH failed AS MATERIALIZED (
    SELECT
        fingerprint, ended_at, program, error_kind,
        {RETRIED.format(run="runs.run")} AS is_retried
    FROM runs INDEXED BY runs_fingerprint WHERE {{condition}}
)
SELECT
    fingerprint, count(*) FILTER (WHERE {{left}}) AS count,
    count(*) FILTER (WHERE {{left}} AND error_kind = 'worker_lost'),
    min(ended_at) FILTER (WHERE {{left}}), max(ended_at) FILTER (WHERE {{left}}) AS last_at,
    json_group_array(DISTINCT program) FILTER (WHERE {{left}}), sum(is_retried)
FROM failed GROUP BY fingerprint HAVING count ORDER BY last_at DESC, fingerprint LIMIT ?
"""
# The newest are tried first, and one of them it is, mostly.
_NEWEST = """
SELECT run, error_kind, error_message FROM runs
WHERE {condition} AND fingerprint = ? AND ended_at = ? ORDER BY run DESC LIMIT 1
"""
_VERSIONS = "SELECT digest, max(version) FROM versions WHERE digest IN ({marks}) GROUP BY 1"
# SQLite binds 32,766 values to a statement.
ASKED_DIGESTS_MAX = 10_000


class SqliteStatistics:
    """What `anew.store.Statistics` says."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def counts(self, asked: RunFilter) -> dict[DetailedStatus, int]:
        return await self._reader.ask(lambda db: counts(db, asked))

    async def points(self, asked: RunFilter) -> list[RunPoint]:
        return await self._reader.ask(lambda db: points(db, asked))

    async def failures(self, asked: FailureFilter) -> list[FailureGroup]:
        return await self._reader.ask(lambda db: failures(db, asked))

    async def programs(self, limit: int = 1000) -> list[str]:
        return await self._reader.ask(lambda db: programs(db, limit))

    async def versions(self, digests: Collection[str]) -> dict[str, int]:
        return await self._reader.ask(lambda db: versions(db, digests))


def counts(connection: apsw.Connection, asked: RunFilter) -> dict[DetailedStatus, int]:
    condition, values = where(asked)
    statement = f"SELECT state, count(*) FROM run_states AS s {condition} GROUP BY state"
    return {DetailedStatus(state): count for state, count in connection.execute(statement, values)}


def points(connection: apsw.Connection, asked: RunFilter) -> list[RunPoint]:
    condition, values = where(asked)
    columns = "run, created_at, ended_at, state"
    statement = f"SELECT {columns} FROM run_states AS s {condition} ORDER BY run DESC LIMIT ?"
    rows: list[Any] = connection.execute(statement, [*values, asked.limit]).fetchall()
    return [
        RunPoint(RunId(run), created_at, ended_at, DetailedStatus(state))
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
    left = "true" if asked.with_retried else "NOT is_retried"
    statement = GROUPS.format(condition=" AND ".join(conditions), left=left)
    rows: list[Any] = connection.execute(statement, [*values, asked.limit]).fetchall()
    if not asked.with_retried:
        conditions.append("NOT " + RETRIED.format(run="runs.run"))
    newest = _NEWEST.format(condition=" AND ".join(conditions))
    return [
        _group(row, connection.execute(newest, (*values, row[0], row[4])).fetchone())
        for row in rows
    ]


def _group(row: Sequence[Any], of_newest: Sequence[Any] | None) -> FailureGroup:
    assert of_newest is not None  # both are read in one transaction
    fingerprint, count, dead, first_at, last_at, programs, retried = row
    newest, kind, message = of_newest
    names = sorted(msgspec.json.decode(programs))[:PROGRAMS_OF_FAILURE_MAX]
    ends = (first_at, last_at, RunId(newest))
    return FailureGroup(fingerprint, kind, message, names, count, dead, *ends, retried)


def programs(connection: apsw.Connection, limit: int) -> list[str]:
    return [name for (name,) in connection.execute(_PROGRAMS, (limit,))]


def versions(connection: apsw.Connection, digests: Collection[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    asked = list(dict.fromkeys(digests))
    for start in range(0, len(asked), ASKED_DIGESTS_MAX):
        piece = asked[start : start + ASKED_DIGESTS_MAX]
        marks = ", ".join("?" * len(piece))
        found.update(connection.execute(_VERSIONS.format(marks=marks), piece))
    return found
