"""Which runs a filter means, as conditions of SQL on the rows of `run_states`.

Knows tables. Does not know what is made of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from anew.engine.statuses import DetailedStatus
from anew.store import HIDDEN_KEYS, RunFilter
from anew.stores.searching import DELAYS, JOB_STATES, digits_of, json_inside, like, statuses_of

# Whether another run takes up this one.
RETRIED = "EXISTS (SELECT 1 FROM runs AS later WHERE later.retry_of = {run})"
Condition: TypeAlias = tuple[str, Sequence[object]]


def where(asked: RunFilter) -> tuple[str, list[object]]:
    """The clause, empty for every run, and what to bind."""
    found = list(_conditions(asked))
    text = " AND ".join(condition for condition, _ in found)
    return (f"WHERE {text}" if found else ""), [value for _, values in found for value in values]


def _conditions(asked: RunFilter) -> Iterator[Condition]:
    if asked.statuses:
        yield _among("status", [status.value for status in asked.statuses])
    if asked.states:
        yield from _standing(asked.states)
    if asked.program is not None:
        yield "program = ?", [asked.program]
    if asked.digests is not None:
        yield _among("digest", asked.digests)
    if asked.runs is not None:
        yield _among("run", asked.runs)
    if asked.is_child:
        yield "parent_run IS NOT NULL", []
    if asked.parent is not None:
        yield "parent_run = ?", [asked.parent]
    yield from _in_time(asked)
    yield from _of_jobs(asked)
    yield from _of_failures(asked)
    for name, value in asked.labels.items():
        yield "run IN (SELECT run FROM labels WHERE name = ? AND value = ?)", [name, value]
    if asked.text is not None:
        yield _with_text(asked.text)
    if asked.before is not None:
        yield "run < ?", [asked.before]


def _among(column: str, values: Sequence[object]) -> Condition:
    return f"{column} IN ({', '.join('?' * len(values))})", values


def _standing(states: Sequence[DetailedStatus]) -> Iterator[Condition]:
    """The state itself; and before that what saves looking at other runs."""
    yield _among("status", statuses_of(states))
    if list(states) == [DetailedStatus.DEAD]:
        yield "error_kind = 'worker_lost'", []
    reasons = [JOB_STATES[state] for state in states if state in JOB_STATES]
    if len(reasons) == len(states):
        # Written out, so that an index of one reason can be used.
        marks = " OR ".join(f"reason = '{reason}'" for reason in reasons)
        yield f"run IN (SELECT run FROM jobs WHERE is_leased = 0 AND ({marks}))", []
    yield _among("state", [state.value for state in states])


def _in_time(asked: RunFilter) -> Iterator[Condition]:
    if asked.since is not None:
        yield "run IN (SELECT run FROM runs WHERE created_at >= ?)", [asked.since]
    if asked.until is not None:
        yield "created_at < ?", [asked.until]


def _of_jobs(asked: RunFilter) -> Iterator[Condition]:
    if asked.retrying:
        yield "run IN (SELECT run FROM jobs WHERE reason = 'retry')", []
    if asked.is_delayed:
        delays = ", ".join(f"'{reason.value}'" for reason in DELAYS)
        yield f"run IN (SELECT run FROM jobs WHERE is_leased = 0 AND reason IN ({delays}))", []
    if asked.attempt_min is not None and asked.attempt_min > 1:
        condition = "run IN (SELECT run FROM jobs WHERE attempt > 1 AND attempt >= ?)"
        yield condition, [asked.attempt_min]
    elif asked.attempt_min is not None:
        yield "EXISTS (SELECT 1 FROM jobs WHERE is_leased IN (0, 1) AND jobs.run = s.run)", []
    if asked.due_before is not None:
        yield (
            "run IN (SELECT run FROM jobs INDEXED BY jobs_retry_due "
            "WHERE reason = 'retry' AND is_leased = 0 AND due_at <= ?)",
            [asked.due_before],
        )


def _of_failures(asked: RunFilter) -> Iterator[Condition]:
    if asked.error_kind is not None:
        yield "error_kind = ?", [asked.error_kind]
    if asked.fingerprint is not None:
        yield "fingerprint = ?", [asked.fingerprint]
    if asked.is_retried is False:
        yield "NOT " + RETRIED.format(run="s.run"), []
    elif asked.is_retried:
        yield "run IN (SELECT retry_of FROM runs WHERE retry_of IS NOT NULL)", []


def _with_text(text: str) -> Condition:
    """Labels are looked for in their JSON first, which is beside the rest of the run."""
    pattern = like(text)
    parts: list[Condition] = [
        ("program LIKE ? ESCAPE '\\'", [pattern]),
        ("key LIKE ? ESCAPE '\\' AND key NOT LIKE ?", [pattern, f"{HIDDEN_KEYS}%"]),
        ("error_message LIKE ? ESCAPE '\\'", [pattern]),
        (
            "labels LIKE ? ESCAPE '\\' AND EXISTS (SELECT 1 FROM labels AS l WHERE l.run = s.run "
            "AND (l.name LIKE ? ESCAPE '\\' OR l.value LIKE ? ESCAPE '\\'))",
            [like(json_inside(text)), pattern, pattern],
        ),
    ]
    if digits_of(text):
        parts.append(("CAST(run AS TEXT) LIKE ?", [pattern]))
    either = " OR ".join(f"({condition})" for condition, _ in parts)
    return f"({either})", [value for _, values in parts for value in values]
