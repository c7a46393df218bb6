"""Rows of runs and jobs as people see them, made of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anew.engine.state import StepRunKey
from anew.store import JobRef, JobRow, RunId, RunRow, WaitReason
from anew.stores.sql.dialect import NO_ITERATION, SqlDialect, Steps, maybe
from anew.stores.sql.run_columns import read_run_columns

RUN_COLUMNS = """
    run, program, digest, status, version, created_at, updated_at, ended_at, error, key, labels,
    parent_run, parent_step, parent_visit, parent_iteration, depth, error_kind, fingerprint
"""
JOB_COLUMNS = "step, visit, iteration, reason, due_at, attempt, pool, leased_until, token"


def run_from_columns(
    dialect: SqlDialect,
    columns: Sequence[Any],
    *,
    retried_as: RunId | None,
    job: Sequence[Any] | None,
) -> RunRow:
    """`job` has the columns of the open job that says most."""
    run, program, digest, status, version, created_at, updated_at, ended_at = columns[:8]
    error, key, labels, *parent, depth, error_kind, fingerprint = columns[8:]
    read = read_run_columns(status, error, labels)
    return RunRow(
        run=run,
        program=dialect.from_text(program),
        digest=dialect.from_text(digest),
        status=read.status,
        version=version,
        created_at=created_at,
        updated_at=updated_at,
        ended_at=ended_at,
        error=read.error,
        key=maybe(dialect.from_text, key),
        labels=read.labels,
        parent=parent_ref(dialect, *parent),
        depth=depth,
        error_kind=error_kind,
        fingerprint=fingerprint,
        open=job_row(dialect, run, *job) if job is not None else None,
        retried_as=retried_as,
        damage=read.damage,
    )


def job_row(dialect: SqlDialect, run: RunId, *columns: Any) -> JobRow:
    step, visit, iteration, reason, due_at, attempt, pool, leased_until, token = columns
    return JobRow(
        job=job_ref(dialect, run, step, visit, iteration),
        reason=WaitReason(reason),
        due_at=due_at,
        attempt=attempt,
        pool=dialect.from_text(pool),
        leased_until=leased_until,
        token=token,
    )


def job_ref(dialect: SqlDialect, *columns: Any) -> JobRef:
    run, step, visit, iteration = columns
    number = None if iteration == NO_ITERATION else iteration
    return JobRef(RunId(run), StepRunKey(dialect.from_text(step), visit, number))


def parent_ref(dialect: SqlDialect, *columns: Any) -> JobRef | None:
    return job_ref(dialect, *columns) if columns[0] is not None else None


def run_of_key(dialect: SqlDialect, key: str) -> Steps[RunId | None]:
    rows = yield "SELECT run FROM anew.runs WHERE key = ?", (dialect.to_text(key),)
    return RunId(rows[0][0]) if rows else None


def list_jobs(dialect: SqlDialect, run: RunId) -> Steps[list[JobRow]]:
    of_run = f"FROM anew.jobs WHERE {dialect.of_any}run = ? ORDER BY step, visit, iteration"
    rows = yield f"SELECT {JOB_COLUMNS} {of_run}", (run,)
    return [job_row(dialect, run, *row) for row in rows]
