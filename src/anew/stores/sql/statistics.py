"""Counts, points and groups of runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from anew.engine.statuses import DetailedStatus
from anew.store import (
    PROGRAMS_OF_FAILURE_MAX,
    FailedRunGroup,
    FailureFilter,
    RunFilter,
    RunId,
    RunPoint,
)
from anew.stores.sql.dialect import SqlDialect, SqlSession, Statement, Steps
from anew.stores.sql.filters import among, where

# One name after the other out of the index: never all of the runs.
_PROGRAMS = """
WITH RECURSIVE names (name) AS (
    SELECT min(program) FROM anew.runs
    UNION ALL
    SELECT (SELECT min(program) FROM anew.runs WHERE program > name)
    FROM names WHERE name IS NOT NULL
)
SELECT name FROM names WHERE name IS NOT NULL LIMIT ?
"""
# SQLite binds 32,766 values to a statement, PostgreSQL 65,535.
ASKED_DIGESTS_MAX = 10_000


class SqlStatistics:
    """`failures` is the work that groups failed runs."""

    def __init__(
        self, session: SqlSession, failures: Callable[..., Steps[list[FailedRunGroup]]]
    ) -> None:
        self._session = session
        self._failures = failures

    async def counts(self, asked: RunFilter) -> dict[DetailedStatus, int]:
        return await self._session.read(_counts, asked)

    async def points(self, asked: RunFilter) -> list[RunPoint]:
        return await self._session.read(_points, asked)

    async def failures(self, asked: FailureFilter) -> list[FailedRunGroup]:
        return await self._session.read(self._failures, asked)

    async def programs(self, limit: int = 1000) -> list[str]:
        return await self._session.read(_programs, limit)

    async def versions(self, digests: Collection[str]) -> dict[str, int]:
        return await self._session.read(_versions, digests)


def counts_query(dialect: SqlDialect, asked: RunFilter) -> Statement:
    condition, values = where(dialect, asked)
    return f"SELECT state, count(*) FROM anew.run_states AS s {condition} GROUP BY state", values


def _counts(dialect: SqlDialect, asked: RunFilter) -> Steps[dict[DetailedStatus, int]]:
    rows = yield counts_query(dialect, asked)
    return {DetailedStatus(state): count for state, count in rows}


def _points(dialect: SqlDialect, asked: RunFilter) -> Steps[list[RunPoint]]:
    condition, values = where(dialect, asked)
    page = f"FROM anew.run_states AS s {condition} ORDER BY run DESC LIMIT ?"
    rows = yield f"SELECT run, created_at, ended_at, state {page}", [*values, asked.limit]
    return [
        RunPoint(RunId(run), created_at, ended_at, DetailedStatus(state))
        for run, created_at, ended_at, state in rows
    ]


def _programs(dialect: SqlDialect, limit: int) -> Steps[list[str]]:
    rows = yield _PROGRAMS, (limit,)
    return [dialect.from_text(name) for (name,) in rows]


def _versions(dialect: SqlDialect, digests: Collection[str]) -> Steps[dict[str, int]]:
    found: dict[str, int] = {}
    asked = [dialect.to_text(digest) for digest in dict.fromkeys(digests)]
    for start in range(0, len(asked), ASKED_DIGESTS_MAX):
        condition, values = among("digest", asked[start : start + ASKED_DIGESTS_MAX])
        newest = f"SELECT digest, max(version) FROM anew.versions WHERE {condition} GROUP BY digest"
        rows = yield newest, values
        found.update((dialect.from_text(digest), version) for digest, version in rows)
    return found


def failure_group(
    columns: Sequence[Any], *, newest: int, kind: str, message: str, programs: Sequence[str]
) -> FailedRunGroup:
    fingerprint, count, dead, first_at, last_at, retried = columns
    names = sorted(programs)[:PROGRAMS_OF_FAILURE_MAX]
    ends = (first_at, last_at, RunId(newest))
    return FailedRunGroup(fingerprint, kind, message, names, count, dead, *ends, retried)
