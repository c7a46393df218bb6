"""Which runs a filter means, as conditions of SQL on the rows of `run_states` (failures: `runs`).

`FILTERS` has a row for each field of `RunFilter`. Values are always bound.
Knows tables. Does not know what is made of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from anew.engine.statuses import DetailedStatus
from anew.store import HIDDEN_KEYS, FailureFilter, RunFilter
from anew.stores.searching import DELAYS, JOB_STATES, digits_of, json_inside, like, statuses_of
from anew.stores.sql.dialect import SqlDialect, Statement

# Whether another run takes up this one.
RETRIED = "EXISTS (SELECT 1 FROM anew.runs AS later WHERE later.retry_of = {run})"
Conditions: TypeAlias = Iterator[Statement]


def where(dialect: SqlDialect, asked: RunFilter) -> tuple[str, list[object]]:
    """The clause, empty for every run, and what to bind."""
    found = [
        condition
        for name, conditions in FILTERS.items()
        if (value := getattr(asked, name)) is not None
        for condition in conditions(dialect, value)
    ]
    text = " AND ".join(condition for condition, _ in found)
    return (f"WHERE {text}" if found else ""), [value for _, values in found for value in values]


def failures_where(dialect: SqlDialect, asked: FailureFilter) -> tuple[list[str], list[object]]:
    """Conditions on the rows of `runs`, and what to bind."""
    conditions = ["fingerprint IS NOT NULL", "ended_at IS NOT NULL"]
    values: list[object] = []
    program = None if asked.program is None else dialect.to_text(asked.program)
    chosen = (("ended_at >= ?", asked.since), ("ended_at < ?", asked.until))
    for condition, value in (*chosen, ("program = ?", program)):
        if value is not None:
            conditions.append(condition)
            values.append(value)
    return conditions, values


def among(column: str, values: Sequence[object]) -> Statement:
    if not values:
        return "false", []
    return f"{column} IN ({', '.join('?' * len(values))})", values


def _is(column: str, comparison: str = "=") -> Callable[[SqlDialect, Any], Conditions]:
    """For a text or a number."""

    def conditions(dialect: SqlDialect, value: Any) -> Conditions:
        kept = dialect.to_text(value) if isinstance(value, str) else value
        yield f"{column} {comparison} ?", [kept]

    return conditions


def _statuses(_: SqlDialect, statuses: Sequence[Any]) -> Conditions:
    if statuses:
        yield among("status", [status.value for status in statuses])


def _states(dialect: SqlDialect, states: Sequence[DetailedStatus]) -> Conditions:
    """The state itself; and before that what saves looking at other runs."""
    if not states:
        return
    yield among("status", statuses_of(states))
    if list(states) == [DetailedStatus.DEAD]:
        yield "error_kind = 'worker_lost'", []
    reasons = [JOB_STATES[state] for state in states if state in JOB_STATES]
    if len(reasons) == len(states):
        # Written out, so that an index of one reason can be used.
        marks = " OR ".join(f"reason = '{reason}'" for reason in reasons)
        yield f"run IN (SELECT run FROM anew.jobs WHERE {dialect.free} AND ({marks}))", []
    yield among("state", [state.value for state in states])


def _digests(dialect: SqlDialect, digests: Sequence[str]) -> Conditions:
    yield among("digest", [dialect.to_text(digest) for digest in digests])


def _runs(_: SqlDialect, runs: Sequence[object]) -> Conditions:
    yield among("run", runs)


def _since(dialect: SqlDialect, since: int) -> Conditions:
    yield dialect.since, [since]


def _if_true(condition: str) -> Callable[[SqlDialect, bool], Conditions]:
    def conditions(dialect: SqlDialect, is_asked: bool) -> Conditions:
        if is_asked:
            yield condition.format(free=dialect.free), []

    return conditions


def _attempt(dialect: SqlDialect, attempt: int) -> Conditions:
    if attempt > 1:
        condition = "run IN (SELECT run FROM anew.jobs WHERE attempt > 1 AND attempt >= ?)"
        yield condition, [attempt]
    else:
        yield f"EXISTS (SELECT 1 FROM anew.jobs WHERE {dialect.of_any}jobs.run = s.run)", []


def _due_before(dialect: SqlDialect, moment: int) -> Conditions:
    table = f"anew.jobs {dialect.index.format('jobs_retry_due')}"
    condition = f"reason = 'retry' AND {dialect.free} AND due_at <= ?"
    yield f"run IN (SELECT run FROM {table} WHERE {condition})", [moment]


def _is_retried(_: SqlDialect, is_retried: bool) -> Conditions:
    if is_retried:
        yield "run IN (SELECT retry_of FROM anew.runs WHERE retry_of IS NOT NULL)", []
    else:
        yield "NOT " + RETRIED.format(run="s.run"), []


def _labels(dialect: SqlDialect, labels: dict[str, str]) -> Conditions:
    for name, value in labels.items():
        condition = "run IN (SELECT run FROM anew.labels WHERE name = ? AND value = ?)"
        yield condition, [dialect.to_text(name), dialect.to_text(value)]


def _text(dialect: SqlDialect, text: str) -> Conditions:
    """Labels are looked for in their JSON first, which is beside the rest of the run."""
    pattern, has = like(dialect.to_text(text)), dialect.contains.format
    label = f"l.run = s.run AND ({has('l.name')} OR {has('l.value')})"
    parts: list[Statement] = [
        (has("program"), [pattern]),
        (f"{has('key')} AND key NOT LIKE ?", [pattern, f"{HIDDEN_KEYS}%"]),
        (has("error_message"), [pattern]),
        (
            f"{dialect.labels_contain} AND EXISTS (SELECT 1 FROM anew.labels AS l WHERE {label})",
            [like(json_inside(text)), pattern, pattern],
        ),
    ]
    if digits_of(text):
        parts.append(("CAST(run AS TEXT) LIKE ?", [pattern]))
    either = " OR ".join(f"({condition})" for condition, _ in parts)
    yield f"({either})", [value for _, values in parts for value in values]


_delays = ", ".join(f"'{reason.value}'" for reason in DELAYS)

# By the field of `RunFilter`, in the order in which they are looked at.
FILTERS: dict[str, Callable[[SqlDialect, Any], Conditions]] = {
    "statuses": _statuses,
    "states": _states,
    "program": _is("program"),
    "digests": _digests,
    "runs": _runs,
    "is_child": _if_true("parent_run IS NOT NULL"),
    "parent": _is("parent_run"),
    "since": _since,
    "until": _is("created_at", "<"),
    "retrying": _if_true("run IN (SELECT run FROM anew.jobs WHERE reason = 'retry')"),
    "is_delayed": _if_true(
        f"run IN (SELECT run FROM anew.jobs WHERE {{free}} AND reason IN ({_delays}))"
    ),
    "attempt_min": _attempt,
    "due_before": _due_before,
    "error_kind": _is("error_kind"),
    "fingerprint": _is("fingerprint"),
    "is_retried": _is_retried,
    "labels": _labels,
    "text": _text,
    "before": _is("run", "<"),
}
