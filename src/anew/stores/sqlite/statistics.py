"""Groups of failed runs, out of an index of the file."""

from __future__ import annotations

import msgspec

from anew.store import FailedRunGroup, FailureFilter
from anew.stores.sql.dialect import SqlDialect, Steps
from anew.stores.sql.filters import RETRIED, failures_where
from anew.stores.sql.statistics import failure_group

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


def failures(dialect: SqlDialect, asked: FailureFilter) -> Steps[list[FailedRunGroup]]:
    conditions, values = failures_where(dialect, asked)
    left = "true" if asked.with_retried else "NOT is_retried"
    groups = GROUPS.format(condition=" AND ".join(conditions), left=left)
    rows = yield groups, [*values, asked.limit]
    if not asked.with_retried:
        conditions.append("NOT " + RETRIED.format(run="runs.run"))
    newest = _NEWEST.format(condition=" AND ".join(conditions))
    found = []
    for *columns, programs, retried in rows:
        fingerprint, last_at = columns[0], columns[4]
        # All is read in one transaction: the newest is there.
        [(run, kind, message)] = yield newest, [*values, fingerprint, last_at]
        names = msgspec.json.decode(programs)
        found.append(
            failure_group(
                [*columns, retried], newest=run, kind=kind, message=message, programs=names
            )
        )
    return found
