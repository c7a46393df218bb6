"""Groups of failed runs, in one statement."""

from __future__ import annotations

from anew.store import FailedRunGroup, FailureFilter
from anew.stores.sql.dialect import SqlDialect, Statement, Steps
from anew.stores.sql.filters import RETRIED, failures_where
from anew.stores.sql.statistics import failure_group

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
    ORDER BY max(last[1]) DESC, fingerprint LIMIT ?
) AS g JOIN anew.runs ON runs.run = g.last[2]
ORDER BY g.last[1] DESC, g.fingerprint
"""


def groups_query(dialect: SqlDialect, asked: FailureFilter) -> Statement:
    conditions, values = failures_where(dialect, asked)
    left = "true" if asked.with_retried else "NOT is_retried"
    statement = GROUPS.format(condition=" AND ".join(conditions), left=left)
    return statement, [*values, asked.limit]


def failures(dialect: SqlDialect, asked: FailureFilter) -> Steps[list[FailedRunGroup]]:
    rows = yield groups_query(dialect, asked)
    found = []
    for *columns, (last_at, newest), names, retried, kind, message in rows:
        programs = [dialect.from_text(name) for name in names]
        ends = [*columns, last_at, retried]
        found.append(
            failure_group(ends, newest=newest, kind=kind, message=message, programs=programs)
        )
    return found
