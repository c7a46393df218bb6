"""What the tables tell of runs, and rows that do nothing but wait.

Reads and writes Anew's tables directly: an API that is measured is not asked about itself, and a
million jobs are not handed out one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import psycopg

from bench.cluster.postgres import execute
from bench.contest import SideFailed

NANOSECONDS = 1_000_000_000
JOBS_PER_WAITING_RUN = 100
# Ids of the rows that are made here; the ids of real runs are moments, and far larger.
BUSY_RUN = 1_000_000

UNFINISHED = "SELECT count(*) FROM anew.runs WHERE run = ANY (%s) AND ended_at IS NULL"
FAILED = "SELECT count(*) FROM anew.runs WHERE run = ANY (%s) AND status <> 'done'"
# When the task that did not fail was called, by run.
CALLED = """
SELECT run, (data::json #>> '{outcome,result,called_at}')::bigint FROM anew.events
WHERE run = ANY (%s) AND name = 'task.processed'
    AND data::json #>> '{outcome,result,called_at}' IS NOT NULL
"""
DUE = """
SELECT run, (data::json ->> 'not_before')::bigint FROM anew.events
WHERE run = ANY (%s) AND name = 'task.retry_scheduled'
"""
WAITING_RUNS = """
INSERT INTO anew.runs (run, program, digest, status, version, created_at, updated_at, depth)
SELECT n, 'waiting', '', 'waiting', 1, 1, 1, 0 FROM generate_series(%s::bigint, %s::bigint) AS n
"""
# Due from a month on, a millisecond apart, in the pool that everyone asks for.
WAITING_JOBS = """
INSERT INTO anew.jobs (run, step, visit, iteration, pool, due_at, reason, attempt, token)
SELECT 1 + n / %s, 'wait', 1, n %% %s, 'default',
    (extract(epoch FROM now())::bigint + 2592000) * 1000000000 + n * 1000000, 'sleep', 1, 1
FROM generate_series(0::bigint, %s - 1) AS n
"""
DUE_JOBS = """
INSERT INTO anew.jobs (run, step, visit, iteration, pool, due_at, reason, attempt, token)
SELECT %s, 'work', 1, n, 'default', 1, 'ready', 1, 0 FROM generate_series(1, %s) AS n
"""


class Reader:
    """One connection for many questions."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()

    def unfinished(self, runs: Sequence[int]) -> int:
        """How many of these runs have not ended."""
        return int(self._row(UNFINISHED, runs)[0])

    def check(self, runs: Sequence[int]) -> None:
        """SideFailed unless all of these have succeeded."""
        (failed,) = self._row(FAILED, runs)
        if failed:
            raise SideFailed(f"{failed} of {len(runs)} runs failed")

    def called_at(self, runs: Sequence[int]) -> dict[int, int]:
        """When the call of the tool `stamp` that succeeded was made, by run."""
        return dict(self._connection.execute(CALLED, (list(runs),)).fetchall())

    def due_at(self, runs: Sequence[int]) -> dict[int, int]:
        """When the retry of each run was due."""
        return dict(self._connection.execute(DUE, (list(runs),)).fetchall())

    def _row(self, sql: str, runs: Sequence[int]) -> tuple[Any, ...]:
        row = self._connection.execute(sql.encode(), (list(runs),)).fetchone()
        assert row is not None
        return row


def add_waiting(url: str, jobs: int) -> None:
    """So many jobs that are due in a month, settled as they would be if they had come slowly."""
    execute(url, WAITING_RUNS, (1, -(-jobs // JOBS_PER_WAITING_RUN)))
    execute(url, WAITING_JOBS, (JOBS_PER_WAITING_RUN, JOBS_PER_WAITING_RUN, jobs))
    settle(url)


def add_due(url: str, jobs: int) -> None:
    """So many jobs that can be leased now."""
    execute(url, WAITING_RUNS, (BUSY_RUN, BUSY_RUN))
    execute(url, DUE_JOBS, (BUSY_RUN, jobs))
    settle(url)


def remove_due(url: str) -> None:
    """Take them away again, leased or not."""
    execute(url, "DELETE FROM anew.jobs WHERE run = %s", (BUSY_RUN,))
    execute(url, "DELETE FROM anew.runs WHERE run = %s", (BUSY_RUN,))
    settle(url)


def settle(url: str) -> None:
    """Let PostgreSQL do now what it would else do while somebody measures."""
    for command in ("VACUUM (ANALYZE) anew.jobs", "VACUUM (ANALYZE) anew.runs", "CHECKPOINT"):
        execute(url, command)
