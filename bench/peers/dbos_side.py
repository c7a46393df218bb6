"""DBOS doing the durable workloads: `dbos_side.py WORKLOAD SIZE PLACE [NUMBER]` prints JSON.

A folder is the place of a SQLite file with its own settings: a rollback journal, synchronous=FULL.
At a PostgreSQL address it is one of several processes: it says `ready` and waits for a line before
it begins. Steps and workflows as its guide writes them, workflows started directly, without its
queue (which polls once a second).
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from time import perf_counter, process_time
from typing import Any

DBOS: Any = import_module("dbos").DBOS

RUN_STEPS = 5
FAILURES = 2
BACKOFF_SECONDS = 1.0
# Its pool has 20 connections; more steps at once fail when they have waited 30 s for one.
AT_ONCE = 20

called_at: dict[str, list[float]] = {}


def _noop(number: int) -> int:
    return number


async def _noop_async(number: int) -> int:
    return number


def _fail_at_once(run: str) -> None:
    calls = called_at.setdefault(run, [])
    calls.append(time.time())
    if len(calls) <= FAILURES:
        raise ConnectionError("not yet")


def _fail_slowly(run: str) -> None:
    _fail_at_once(run)


noop = DBOS.step()(_noop)
noop_async = DBOS.step()(_noop_async)
retried = {"retries_allowed": True, "max_attempts": 3, "backoff_rate": 1.0}
fail_at_once = DBOS.step(**retried, interval_seconds=0.0)(_fail_at_once)
fail_slowly = DBOS.step(**retried, interval_seconds=BACKOFF_SECONDS)(_fail_slowly)


def _chain(steps: int) -> None:
    for number in range(steps):
        noop(number)


async def _loop(items: int) -> None:
    for first in range(0, items, AT_ONCE):
        await asyncio.gather(*(noop_async(n) for n in range(first, min(first + AT_ONCE, items))))


def _flaky(run: str) -> None:
    fail_at_once(run)


def _slow(run: str) -> None:
    fail_slowly(run)


chain, loop, flaky, slow = (DBOS.workflow()(one) for one in (_chain, _loop, _flaky, _slow))


def steps(size: int) -> None:
    chain(size)


def runs(size: int) -> None:
    for started in [DBOS.start_workflow(chain, RUN_STEPS) for _ in range(size)]:
        started.get_result()


def items(size: int) -> None:
    asyncio.run(loop(size))


def retries(size: int) -> None:
    for started in [DBOS.start_workflow(flaky, f"run {n}") for n in range(size)]:
        started.get_result()


def backoff(size: int) -> None:
    for started in [DBOS.start_workflow(slow, f"run {n}") for n in range(size)]:
        started.get_result()


def cold(size: int) -> None:
    chain(size)


WORKLOADS: dict[str, Callable[[int], None]] = {
    work.__name__: work for work in (steps, runs, items, retries, backoff, cold)
}


def sample(workload: str, size: int, *, is_told: bool) -> dict[str, Any]:
    if workload != "cold":
        chain(RUN_STEPS)  # the first workflow of a process is slower
    if is_told:
        print("ready", flush=True)
        sys.stdin.readline()
    wall, cpu = perf_counter(), process_time()
    WORKLOADS[workload](size)
    taken = {"seconds": perf_counter() - wall, "cpu_seconds": process_time() - cpu}
    late = [
        (later - earlier - BACKOFF_SECONDS) * 1000
        for calls in called_at.values()
        for earlier, later in pairwise(calls)
    ]
    return {**taken, "late_ms": late} if workload == "backoff" else taken


def main(workload: str, size: str, place: str, number: str = "0") -> None:
    is_shared = place.startswith("postgresql:")
    DBOS(
        config={
            "name": "bench",
            "system_database_url": place if is_shared else f"sqlite:///{place}/dbos.sqlite",
            "log_level": "CRITICAL",
            "application_version": "1",
            "executor_id": number,
        }
    )
    DBOS.launch()
    print(json.dumps(sample(workload, int(size), is_told=is_shared)), flush=True)
    # Its threads would poll on for seconds.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
