"""Runs that fail twice: retried at once, and after a second."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from bench.contest import ANEW, contend
from bench.figures import Workload, compared, percentile
from bench.stage import Stage

RUNS = 200
RETRIES_PER_RUN = 2
PEER_RUNS = {"dbos": 100, "langgraph": 100, "restate": 50, "noetl": 1, "burr": 1, "attractor": 1}
WAITING_RUNS = 30
PEER_WAITING_RUNS = {"restate": 30}

DBOS_RATIO = "≥ 8"
LATE_P95_MS = "≤ 10"


def retries(stage: Stage) -> Iterator[Workload]:
    entries = {"anew": stage.entry(ANEW, "retries", RUNS), **stage.entries("retries", PEER_RUNS)}
    contend(entries.values())
    work = compared(
        "durable.retries",
        f"{RUNS} runs that fail twice, SQLite embedded",
        "retries/s",
        entries=entries,
        values=lambda entry: entry.rates(RETRIES_PER_RUN),
    )
    work.alone().beside("dbos", DBOS_RATIO)
    is_kept = all(entries["anew"].values("attempts_in_log"))
    told = "every attempt is in our log" if is_kept else "an attempt is missing in our log"
    work.rows[-1]["peer"] += f"; {told}"
    work.rows[-1]["met"] = is_kept and work.rows[-1]["met"]
    yield work.beside_each("langgraph restate noetl burr attractor")


def backoff(stage: Stage) -> Iterator[Workload]:
    """How late the next attempt is called, after a delay of one second."""
    others = stage.entries("backoff", PEER_WAITING_RUNS)
    entries = {"anew": stage.entry(ANEW, "backoff", WAITING_RUNS), **others}
    contend(entries.values())
    work = compared(
        "durable.backoff",
        "1 s backoff is late by, SQLite embedded, p95",
        "ms",
        entries=entries,
        values=lambda entry: [percentile(list(chain(*entry.values("late_ms"))), 95)],
    )
    yield work.alone(LATE_P95_MS).beside_each(" ".join(others))
