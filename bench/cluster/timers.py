"""How soon a task is called: the first of a run, and one that is tried again after a while."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from bench.cluster.plays import retry_latencies, start_latencies
from bench.cluster.scene import MANNERS, Scene
from bench.contest import Entry, contend
from bench.figures import Workload, compared, percentile

STARTS = 40
RETRIES = 60
LATE_P95_MS = "≤ 30"
TAIL = 95


def starts(scene: Scene) -> Iterator[Workload]:
    """From the request that starts a run until its first task is called, at low load."""
    entries = scene.ours("starts", STARTS, start_latencies)
    contend(entries.values())
    for hundredth in (50, 95):
        work = late(f"cluster.starts-p{hundredth}", "start to first task", entries, hundredth)
        for key in MANNERS:
            work.of(key).alone()
        yield work


def backoff(scene: Scene) -> Iterator[Workload]:
    """How long after it was due a retry is called."""
    entries = scene.ours("retries", RETRIES, retry_latencies)
    contend(entries.values())
    title = "1.0 to 1.5 s backoff is late by, PostgreSQL"
    for hundredth in (50, 95):
        work = late(f"cluster.backoff-p{hundredth}", title, entries, hundredth)
        for key in MANNERS:
            work.of(key).alone(LATE_P95_MS if hundredth == 95 else None)
        yield work


def late(name: str, title: str, entries: dict[str, Entry], hundredth: int) -> Workload:
    """A percentile of the milliseconds of each round; of all rounds together from the 95th on.

    Few of so many come late, and a round has few.
    """

    def values(entry: Entry) -> list[float]:
        rounds = entry.values("late_ms")
        parts = rounds if hundredth < TAIL else [list(chain.from_iterable(rounds))]
        return [percentile([abs(late) for late in part], hundredth) for part in parts]

    return compared(name, f"{title}, p{hundredth}", "ms", entries=entries, values=values)
