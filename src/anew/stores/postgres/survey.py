"""Counts, points and groups of runs; and what runs that failed long ago are found by."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

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
from anew.stores.postgres.connection import Connection
from anew.stores.postgres.filters import where
from anew.stores.postgres.link import Links
from anew.stores.postgres.values import from_text, integer_array, text_array, to_text

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
# Grouped by program first, so that few rows are left to be sorted.
GROUPS = """
SELECT g.*, runs.error_kind, runs.error_message
FROM (
    SELECT
        fingerprint, sum(count)::bigint AS count, sum(dead)::bigint AS dead,
        min(first_at) AS first_at, max(last) AS last, array_agg(program ORDER BY program)
    FROM (
        SELECT
            fingerprint, program, count(*) AS count, min(ended_at) AS first_at,
            count(*) FILTER (WHERE error_kind = 'worker_lost') AS dead,
            max(ARRAY[ended_at, run]) AS last
        FROM anew.runs WHERE {condition} GROUP BY fingerprint, program
    ) AS parts
    GROUP BY fingerprint ORDER BY max(last[1]) DESC, fingerprint LIMIT %s
) AS g JOIN anew.runs ON runs.run = g.last[2]
ORDER BY g.last[1] DESC, g.fingerprint
"""
_VERSIONS = """
SELECT digest, max(version) FROM anew.versions WHERE digest = ANY (%s::text[]) GROUP BY digest
"""
_UNMARKED = """
SELECT run, error FROM anew.runs WHERE status = 'failed' AND fingerprint IS NULL LIMIT %s
"""
_MARK = """
UPDATE anew.runs SET error_kind = kind, error_message = message, fingerprint = print
FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[]) AS given (id, kind, message, print)
WHERE run = id AND status = 'failed' AND runs.fingerprint IS NULL
"""
# Runs in one transaction: a crash costs no more than these, nor do others wait longer.
_MARKED_AT_ONCE = 1_000


class PostgresSurvey:
    """What `anew.store.Survey` says."""

    def __init__(self, links: Links) -> None:
        self._links = links

    async def counts(self, asked: RunFilter) -> dict[State, int]:
        return await self._links.run(partial(counts, asked=asked))

    async def points(self, asked: RunFilter) -> list[RunPoint]:
        return await self._links.run(partial(points, asked=asked))

    async def failures(self, asked: FailureFilter) -> list[FailureGroup]:
        return await self._links.run(partial(failures, asked=asked))

    async def programs(self, limit: int = 1000) -> list[str]:
        return await self._links.run(partial(programs, limit=limit))

    async def versions(self, digests: Collection[str]) -> dict[str, int]:
        return await self._links.run(partial(versions, digests=digests))


async def counts(connection: Connection, asked: RunFilter) -> dict[State, int]:
    statement, values = counts_query(asked)
    cursor = await connection.execute(statement, values, binary=True)
    return {State(state): count for state, count in await cursor.fetchall()}


def counts_query(asked: RunFilter) -> tuple[str, list[object]]:
    condition, values = where(asked)
    return f"SELECT state, count(*) FROM anew.run_states AS s {condition} GROUP BY state", values


async def points(connection: Connection, asked: RunFilter) -> list[RunPoint]:
    condition, values = where(asked)
    columns = "run, created_at, ended_at, state"
    statement = f"SELECT {columns} FROM anew.run_states AS s {condition} ORDER BY run DESC LIMIT %s"
    cursor = await connection.execute(statement, [*values, asked.limit], binary=True)
    return [
        RunPoint(RunId(run), created_at, ended_at, State(state))
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
    return GROUPS.format(condition=" AND ".join(conditions)), [*values, asked.limit]


def _group(row: tuple[Any, ...]) -> FailureGroup:
    fingerprint, count, dead, first_at, (last_at, newest), names, kind, message = row
    programs = [from_text(name) for name in names[:PROGRAMS_OF_FAILURE_MAX]]
    return FailureGroup(
        fingerprint, kind, message, programs, count, dead, first_at, last_at, RunId(newest)
    )


async def programs(connection: Connection, limit: int) -> list[str]:
    cursor = await connection.execute(_PROGRAMS, (limit,), binary=True)
    return [from_text(name) for (name,) in await cursor.fetchall()]


async def versions(connection: Connection, digests: Collection[str]) -> dict[str, int]:
    asked = (text_array([to_text(digest) for digest in digests]),)
    cursor = await connection.execute(_VERSIONS, asked, binary=True)
    return {from_text(digest): version for digest, version in await cursor.fetchall()}


async def mark_failures(connection: Connection) -> None:
    """Write what runs are found by that failed before this was written with them."""
    while True:
        cursor = await connection.execute(_UNMARKED, (_MARKED_AT_ONCE,), binary=True)
        rows = await cursor.fetchall()
        if rows:
            found = [failure_of(msgspec.json.decode(error) if error else None) for _, error in rows]
            values = (
                integer_array([run for run, _ in rows]),
                text_array([one.kind for one in found]),
                text_array([one.message for one in found]),
                text_array([one.fingerprint for one in found]),
            )
            await connection.execute(_MARK, values)
        if len(rows) < _MARKED_AT_ONCE:
            return
