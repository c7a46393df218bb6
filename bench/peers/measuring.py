"""What every side does alike: wait for the word, take the time, count attempts, say the sample.

Runs in the peers' environments, so it needs nothing but the standard library. Knows no peer.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from time import perf_counter, process_time
from typing import Any, TypeAlias

Sample: TypeAlias = dict[str, Any]
# A workload takes its size and the place of its files or its database.
Workload: TypeAlias = Callable[[int, str], Sample]

RUN_STEPS = 5
COLD_STEPS = 3
FAILURES = 2
BACKOFF_SECONDS = 1.0
BEGUN = "begun"


class Attempts:
    """A step that fails the first times in each run, and when it was called.

    No two failures of a run say the same: one that keeps failures may drop those it has already.
    """

    def __init__(self, failures: int = FAILURES) -> None:
        self.failures = failures
        self.called_at: dict[str, list[float]] = {}

    def call(self, run: str) -> None:
        calls = self.called_at.setdefault(run, [])
        calls.append(time.time())
        if len(calls) <= self.failures:
            raise ConnectionError(f"not yet, call {len(calls)}")

    def late_ms(self) -> list[float]:
        """By how much each call after the first came later than the delay that was asked for."""
        return [
            (later - earlier - BACKOFF_SECONDS) * 1000
            for calls in self.called_at.values()
            for earlier, later in pairwise(calls)
        ]


def is_address(place: str) -> bool:
    return place.startswith("postgresql:")


def wait_for_word(place: str) -> None:
    """Several processes at one database begin together; one with a folder is alone."""
    if is_address(place):
        print("ready", flush=True)
        sys.stdin.readline()


def say_begun() -> None:
    """For who may be stopped before the end: it tells how long the work itself has taken."""
    print(f"{BEGUN} {time.time()}", flush=True)


def timed(work: Callable[[], object], cpu: Callable[[], float] = process_time) -> Sample:
    """What it took, and the CPU time; `cpu` where other processes take part."""
    wall, before = perf_counter(), cpu()
    work()
    return {"seconds": perf_counter() - wall, "cpu_seconds": cpu() - before}


def repeat(work: Callable[[], object], times: int) -> None:
    for _ in range(times):
        work()


def one_by_one(work: Callable[[], object], size: int) -> Sample:
    """How long each of `size` runs took, none begun before the one before has ended."""
    return {"taken_ms": [timed(work)["seconds"] * 1000 for _ in range(size)]}


def play(
    workloads: Mapping[str, Workload], reasons: Mapping[str, str], *, file: str | None = None
) -> None:
    """Do what the command line asks for, print a sample or the reason why there is none, and end.

    At once: what a peer leaves running in the background has no part in a sample. A workload whose
    name ends with `-wal` is the same on a SQLite file, of this name, that has a write-ahead log:
    not how the peer opens it, but what someone who knows SQLite would do.
    """
    asked, size, place = sys.argv[1:4]
    workload = asked.removesuffix("-wal")
    if workload != asked:
        _write_ahead(f"{place}/{file}")
    if workload in workloads:
        sample = workloads[workload](int(size), place)
    else:
        wait_for_word(place)
        sample = {"reason": reasons.get(workload, f"has nothing like {workload}")}
    print(json.dumps(sample), flush=True)
    os._exit(0)


def _write_ahead(file: str) -> None:
    """The kind of journal is kept in the file, for whoever opens it."""
    import sqlite3

    connection = sqlite3.connect(file)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
