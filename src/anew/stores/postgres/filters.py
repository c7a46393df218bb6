"""Which runs a filter means, as conditions of SQL on the rows of `anew.run_states`.

Knows tables. Does not know what is made of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from anew.engine.statuses import DetailedStatus
from anew.store import HIDDEN_KEYS, RunFilter
from anew.stores.postgres.values import to_text
from anew.stores.searching import DELAYS, JOB_STATES, digits_of, json_inside, like, statuses_of

# Whether another run takes up this one.
RETRIED = "EXISTS (SELECT 1 FROM anew.runs AS later WHERE later.retry_of = {run})"
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
        yield "program = %s", [to_text(asked.program)]
    if asked.digests is not None:
        yield _among("digest", [to_text(digest) for digest in asked.digests])
    if asked.runs is not None:
        yield _among("run", asked.runs)
    if asked.is_child:
        yield "parent_run IS NOT NULL", []
    if asked.parent is not None:
        yield "parent_run = %s", [asked.parent]
    if asked.since is not None:
        yield "created_at >= %s", [asked.since]
    if asked.until is not None:
        yield "created_at < %s", [asked.until]
    yield from _of_jobs(asked)
    yield from _of_failures(asked)
    for name, value in asked.labels.items():
        condition = "run IN (SELECT run FROM anew.labels WHERE name = %s AND value = %s)"
        yield condition, [to_text(name), to_text(value)]
    if asked.text is not None:
        yield _with_text(asked.text)
    if asked.before is not None:
        yield "run < %s", [asked.before]


def _among(column: str, values: Sequence[object]) -> Condition:
    if not values:
        return "false", []
    return f"{column} IN ({', '.join(['%s'] * len(values))})", values


def _standing(states: Sequence[DetailedStatus]) -> Iterator[Condition]:
    """The state itself; and before that what saves looking at other runs."""
    yield _among("status", statuses_of(states))
    if list(states) == [DetailedStatus.DEAD]:
        yield "error_kind = 'worker_lost'", []
    reasons = [JOB_STATES[state] for state in states if state in JOB_STATES]
    if len(reasons) == len(states):
        marks = ", ".join(f"'{reason}'" for reason in reasons)
        condition = f"leased_until IS NULL AND reason IN ({marks})"
        yield f"run IN (SELECT run FROM anew.jobs WHERE {condition})", []
    yield _among("state", [state.value for state in states])


def _of_jobs(asked: RunFilter) -> Iterator[Condition]:
    if asked.retrying:
        yield "run IN (SELECT run FROM anew.jobs WHERE reason = 'retry')", []
    if asked.is_delayed:
        delays = ", ".join(f"'{reason.value}'" for reason in DELAYS)
        condition = f"leased_until IS NULL AND reason IN ({delays})"
        yield f"run IN (SELECT run FROM anew.jobs WHERE {condition})", []
    if asked.attempt_min is not None and asked.attempt_min > 1:
        condition = "run IN (SELECT run FROM anew.jobs WHERE attempt > 1 AND attempt >= %s)"
        yield condition, [asked.attempt_min]
    elif asked.attempt_min is not None:
        yield "EXISTS (SELECT 1 FROM anew.jobs WHERE jobs.run = s.run)", []
    if asked.due_before is not None:
        yield (
            "run IN (SELECT run FROM anew.jobs "
            "WHERE reason = 'retry' AND leased_until IS NULL AND due_at <= %s)",
            [asked.due_before],
        )


def _of_failures(asked: RunFilter) -> Iterator[Condition]:
    if asked.error_kind is not None:
        yield "error_kind = %s", [to_text(asked.error_kind)]
    if asked.fingerprint is not None:
        yield "fingerprint = %s", [to_text(asked.fingerprint)]
    if asked.is_retried is False:
        yield "NOT " + RETRIED.format(run="s.run"), []
    elif asked.is_retried:
        yield "run IN (SELECT retry_of FROM anew.runs WHERE retry_of IS NOT NULL)", []


def _with_text(text: str) -> Condition:
    """Labels are looked for in their JSON first, which is beside the rest of the run."""
    pattern = like(to_text(text))
    parts: list[Condition] = [
        ("program ILIKE %s", [pattern]),
        ("key ILIKE %s AND key NOT LIKE %s", [pattern, f"{HIDDEN_KEYS}%"]),
        ("error_message ILIKE %s", [pattern]),
        (
            'labels COLLATE "C" ILIKE %s AND EXISTS (SELECT 1 FROM anew.labels AS l '
            "WHERE l.run = s.run AND (l.name ILIKE %s OR l.value ILIKE %s))",
            [like(json_inside(text)), pattern, pattern],
        ),
    ]
    if digits_of(text):
        parts.append(("run::text LIKE %s", [pattern]))
    either = " OR ".join(f"({condition})" for condition, _ in parts)
    return f"({either})", [value for _, values in parts for value in values]
