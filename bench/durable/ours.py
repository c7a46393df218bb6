"""Anew's side: one workload on the embedded runtime and a SQLite file, in a process of its own.

`python -m bench.durable.ours WORKLOAD SIZE FOLDER` prints one JSON object. Everything is as a user
has it: the real store with `synchronous=FULL`, 32 slots, the garbage collector on. What is timed
begins when the engine is up and warm, and ends when the last run has ended.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count, pairwise
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Literal, TypeAlias

from anew.engine.events import RunRequested
from anew.engine.moments import LAST_MOMENT
from anew.engine.outcome import Outcome, outcome_of
from anew.engine.state import Key, RunStatus
from anew.runtime.embedded import Embedded
from anew.runtime.ledger import Order
from anew.runtime.programs import Document, read_document
from anew.runtime.toolbox import Toolbox
from anew.store import Commit, NewJob, NewRun, RunHead, RunId
from anew.stores.sqlite import SqliteDatabase
from anew.tool import Call, Tool
from anew.values import Object
from bench.durable.documents import LOOP, chain, flaky

Sample: TypeAlias = dict[str, Any]

RUN_STEPS = 5
WARM_STEPS = 20
FAILURES = 2
BACKOFF_SECONDS = 1.0
JOBS_PER_PARKED_RUN = 100
LEASES = 100
LEASE_BATCH = 32


class FlakyTool:
    """In place of `noop`: fails the first calls of each run, and notes when it was called."""

    def __init__(self) -> None:
        self.called_at: dict[str, list[float]] = {}

    async def call(self, call: Call) -> Outcome:
        calls = self.called_at.setdefault(call.place.run, [])
        calls.append(time.time())
        if len(calls) > FAILURES:
            return outcome_of({})
        return outcome_of(error={"kind": "connection", "message": "not yet", "retryable": True})

    async def close(self) -> None:
        pass


async def steps(size: int, folder: Path) -> Sample:
    """One run of `size` steps."""
    async with _engine(folder) as engine:
        return await _timed(engine, _document(chain(size), folder), 1)


async def runs(size: int, folder: Path) -> Sample:
    """`size` runs of a few steps, all asked for at once."""
    async with _engine(folder) as engine:
        return await _timed(engine, _document(chain(RUN_STEPS), folder), size)


async def items(size: int, folder: Path) -> Sample:
    """One parallel loop."""
    async with _engine(folder) as engine:
        return await _timed(engine, _document(LOOP, folder), 1, {"items": list(range(size))})


async def length(size: int, folder: Path) -> Sample:
    """CPU time of one run of `size` steps. The disk has no part in it, so nothing waits for it."""
    async with _engine(folder, synchronous="NORMAL") as engine:
        return await _timed(engine, _document(chain(size), folder), 1)


async def retries(size: int, folder: Path) -> Sample:
    """`size` runs that fail twice and are tried again at once."""
    async with _engine(folder, FlakyTool()) as engine:
        return await _timed(engine, _document(flaky(0), folder), size)


async def backoff(size: int, folder: Path) -> Sample:
    """`size` runs that fail twice and wait a second each time; how late each next call came."""
    tool = FlakyTool()
    async with _engine(folder, tool) as engine:
        tool.called_at.clear()
        sample = await _timed(engine, _document(flaky(BACKOFF_SECONDS), folder), size)
    late = [
        (later - earlier - BACKOFF_SECONDS) * 1000
        for calls in tool.called_at.values()
        for earlier, later in pairwise(calls)
    ]
    return {**sample, "late_ms": late}


async def leasing(size: int, folder: Path) -> Sample:
    """Take jobs that are due while `size` others are parked, as a worker of every run does."""
    return await _leasing(size, folder, is_told_runs=False)


async def adopted(size: int, folder: Path) -> Sample:
    """The same for a worker that was told its runs, as `anew run` is."""
    return await _leasing(size, folder, is_told_runs=True)


async def _leasing(size: int, folder: Path, *, is_told_runs: bool) -> Sample:
    database = SqliteDatabase.open(folder / "anew.db")
    busy = RunId(1)
    parked = [RunId(number + 2) for number in range(size // JOBS_PER_PARKED_RUN)]
    await database.store.commit(_new_run(busy, [_job(n, 0) for n in range(LEASES * LEASE_BATCH)]))
    for run in parked:
        jobs = [_job(number, LAST_MOMENT) for number in range(JOBS_PER_PARKED_RUN)]
        await database.store.commit(_new_run(run, jobs))
    told = [busy, *parked] if is_told_runs else None
    wall, cpu = perf_counter(), process_time()
    for _ in range(LEASES):
        batch = await database.store.lease(now=1, until=2, limit=LEASE_BATCH, runs=told)
        assert len(batch.leases) == LEASE_BATCH
    per_lease = {
        "seconds": (perf_counter() - wall) / LEASES,
        "cpu_seconds": (process_time() - cpu) / LEASES,
    }
    await database.close()
    return per_lease


def _new_run(run: RunId, jobs: list[NewJob]) -> Commit:
    asked = RunRequested(seq=1, at=1, run=str(run), program="p", digest="d", workload={})
    head = RunHead(RunStatus.RUNNING)
    return Commit(run, 0, 1, [asked], head, jobs=jobs, new=NewRun("p", "d"))


def _job(number: int, due_at: int) -> NewJob:
    return NewJob(Key("work", 1, number), due_at=due_at)


@asynccontextmanager
async def _engine(
    folder: Path, noop: Tool | None = None, *, synchronous: Literal["FULL", "NORMAL"] = "FULL"
) -> AsyncIterator[Embedded]:
    """A warm engine on a new file."""
    database = SqliteDatabase.open(folder / "anew.db", synchronous=synchronous)
    tools = Toolbox({"noop": noop}) if noop is not None else None
    engine = Embedded(database, folder / "scratch", toolbox=tools)
    warming = chain(WARM_STEPS) if noop is None else flaky(0)
    try:
        await _played(engine, _document(warming, folder), 1, {})
        yield engine
    finally:
        await engine.stop(0)
        await database.close()


async def _timed(
    engine: Embedded, document: Document, number: int, workload: Object | None = None
) -> Sample:
    wall, cpu = perf_counter(), process_time()
    await _played(engine, document, number, workload or {})
    return {"seconds": perf_counter() - wall, "cpu_seconds": process_time() - cpu}


async def _played(engine: Embedded, document: Document, number: int, workload: Object) -> None:
    asked = [engine.start(Order(document, workload)) for _ in range(number)]
    started = [one.run for one in await asyncio.gather(*asked)]
    states = await asyncio.gather(*(engine.wait(run) for run in started))
    assert all(state.status is RunStatus.DONE for state in states)


def _document(text: str, folder: Path) -> Document:
    return read_document(text, str(folder / f"bench_{next(_numbers)}.yaml"))


_numbers = count()
WORKLOADS: dict[str, Callable[[int, Path], Awaitable[Sample]]] = {
    work.__name__: work for work in (steps, length, runs, items, retries, backoff, leasing, adopted)
}


async def _sample(workload: str, size: int, folder: Path) -> Sample:
    return await WORKLOADS[workload](size, folder)


def main(words: list[str]) -> None:
    workload, size, folder = words
    sample = asyncio.run(_sample(workload, int(size), Path(folder)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**sample, "peak_mib": peak}))


if __name__ == "__main__":
    main(sys.argv[1:])
