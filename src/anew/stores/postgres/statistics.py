"""Counts, points and groups of runs."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

from anew.engine.statuses import DetailedStatus
from anew.store import (
    PROGRAMS_OF_FAILURE_MAX,
    FailureFilter,
    FailureGroup,
    RunFilter,
    RunId,
    RunPoint,
)
from anew.stores.postgres.backfill import FailureBackfill
from anew.stores.postgres.connection import Connection
from anew.stores.postgres.filters import RETRIED, where
from anew.stores.postgres.pool import ConnectionPool
from anew.stores.postgres.values import from_text, text_array, to_text

# One name after the other out of the index: never all of the runs.
_PROGRAMS = """
WITH RECURSIVE names (name) AS (
    SELECT min(program) FROM anew.runs
    UNION ALL
    SELECT (SELECT min(program) FROM anew.runs WHERE program > name)
    FROM names WHERE name IS NOT NULL
)
SELECT name FROM names WHERE name IS NOT NULL LIMIT %s
"""
# Grouped by program first, so that few rows are left to be sorted. Of those that are `left`; the
# others were retried, and are counted apart.
GROUPS = f"""
SELECT g.*, runs.error_kind, runs.error_message
FROM (
    SELECT
        fingerprint, sum(count)::bigint AS count, sum(dead)::bigint AS dead,
        min(first_at) AS first_at, max(last) AS last,
        array_agg(program ORDER BY program) FILTER (WHERE count > 0),
        sum(retried)::bigint
    FROM (
        SELECT
            fingerprint, program, count(*) FILTER (WHERE {{left}}) AS count,
            count(*) FILTER (WHERE {{left}} AND error_kind = 'worker_lost') AS dead,
            min(ended_at) FILTER (WHERE {{left}}) AS first_at,
            max(ARRAY[ended_at, run]) FILTER (WHERE {{left}}) AS last,
            count(*) FILTER (WHERE is_retried) AS retried
        FROM (
            SELECT
                fingerprint, program, ended_at, run, error_kind,
                {RETRIED.format(run="runs.run")} AS is_retried
            FROM anew.runs WHERE {{condition}}
        ) AS failed
        GROUP BY fingerprint, program
    ) AS parts
    GROUP BY fingerprint HAVING sum(count) > 0
    ORDER BY max(last[1]) DESC, fingerprint LIMIT %s
) AS g JOIN anew.runs ON runs.run = g.last[2]
ORDER BY g.last[1] DESC, g.fingerprint
"""
_VERSIONS = """
SELECT digest, max(version) FROM anew.versions WHERE digest = ANY (%s::text[]) GROUP BY digest
"""


class PostgresStatistics:
    """What `anew.store.Statistics` says. `marking` is None for a process that may not write."""

    def __init__(self, links: ConnectionPool, marking: FailureBackfill | None) -> None:
        self._links = links
        self._marking = marking

    async def counts(self, asked: RunFilter) -> dict[DetailedStatus, int]:
        return await self._links.run(partial(counts, asked=asked))

    async def points(self, asked: RunFilter) -> list[RunPoint]:
        return await self._links.run(partial(points, asked=asked))

    async def failures(self, asked: FailureFilter) -> list[FailureGroup]:
        if self._marking is not None:
            await self._marking.some()
        return await self._links.run(partial(failures, asked=asked))

    async def programs(self, limit: int = 1000) -> list[str]:
        return await self._links.run(partial(programs, limit=limit))

    async def versions(self, digests: Collection[str]) -> dict[str, int]:
        return await self._links.run(partial(versions, digests=digests))


async def counts(connection: Connection, asked: RunFilter) -> dict[DetailedStatus, int]:
    statement, values = counts_query(asked)
    cursor = await connection.execute(statement, values, binary=True)
    return {DetailedStatus(state): count for state, count in await cursor.fetchall()}


def counts_query(asked: RunFilter) -> tuple[str, list[object]]:
    condition, values = where(asked)
    return f"SELECT state, count(*) FROM anew.run_states AS s {condition} GROUP BY state", values


async def points(connection: Connection, asked: RunFilter) -> list[RunPoint]:
    condition, values = where(asked)
    columns = "run, created_at, ended_at, state"
    statement = f"SELECT {columns} FROM anew.run_states AS s {condition} ORDER BY run DESC LIMIT %s"
    cursor = await connection.execute(statement, [*values, asked.limit], binary=True)
    return [
        RunPoint(RunId(run), created_at, ended_at, DetailedStatus(state))
        for run, created_at, ended_at, state in await cursor.fetchall()
    ]


async def failures(connection: Connection, asked: FailureFilter) -> list[FailureGroup]:
    statement, values = groups_query(asked)
    cursor = await connection.execute(statement, values, binary=True)
    return [_group(row) for row in await cursor.fetchall()]


def groups_query(asked: FailureFilter) -> tuple[str, list[object]]:
    conditions = ["fingerprint IS NOT NULL", "ended_at IS NOT NULL"]
    values: list[object] = []
    program = None if asked.program is None else to_text(asked.program)
    chosen = (("ended_at >= %s", asked.since), ("ended_at < %s", asked.until))
    for condition, value in (*chosen, ("program = %s", program)):
        if value is not None:
            conditions.append(condition)
            values.append(value)
    left = "true" if asked.with_retried else "NOT is_retried"
    statement = GROUPS.format(condition=" AND ".join(conditions), left=left)
    return statement, [*values, asked.limit]


def _group(row: tuple[Any, ...]) -> FailureGroup:
    fingerprint, count, dead, first_at, (last_at, newest), names, retried, kind, message = row
    programs = [from_text(name) for name in names[:PROGRAMS_OF_FAILURE_MAX]]
    ends = (first_at, last_at, RunId(newest))
    return FailureGroup(fingerprint, kind, message, programs, count, dead, *ends, retried)


async def programs(connection: Connection, limit: int) -> list[str]:
    cursor = await connection.execute(_PROGRAMS, (limit,), binary=True)
    return [from_text(name) for (name,) in await cursor.fetchall()]


async def versions(connection: Connection, digests: Collection[str]) -> dict[str, int]:
    asked = (text_array([to_text(digest) for digest in digests]),)
    cursor = await connection.execute(_VERSIONS, asked, binary=True)
    return {from_text(digest): version for digest, version in await cursor.fetchall()}
