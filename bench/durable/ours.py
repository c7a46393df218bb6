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
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import count, pairwise
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, TypeAlias

from anew.engine.events import TaskStarted
from anew.engine.outcome import Outcome, outcome_of
from anew.engine.state import RunStatus
from anew.runtime.engine import Engine
from anew.runtime.programs import Document, read_document
from anew.runtime.run_starts import StartRequest
from anew.runtime.toolbox import Toolbox
from anew.store import RunId
from anew.stores.sqlite import SqliteDatabase
from anew.tool import Call, Tool
from anew.values import Object
from bench.durable.documents import LOOP, RUN_STEPS, chain, code_chain, flaky, graph

Sample: TypeAlias = dict[str, Any]

WARM_STEPS = 20
FAILURES = 2
BACKOFF_SECONDS = 1.0


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
        return await _timed(engine, _document(chain(size), folder))


async def nodes(size: int, folder: Path) -> Sample:
    """One run of a graph of `size` nodes, each of which the simulate backend answers."""
    async with _engine(folder) as engine:
        await _played(engine, _graph(WARM_STEPS, folder))
        return await _timed(engine, _graph(size, folder))


async def runs(size: int, folder: Path) -> Sample:
    """`size` runs of a few steps, all asked for at once."""
    async with _engine(folder) as engine:
        return await _timed(engine, _document(chain(RUN_STEPS), folder), number=size)


async def latency(size: int, folder: Path) -> Sample:
    """`size` runs of a few steps, one after the other; how long each takes."""
    async with _engine(folder) as engine:
        document = _document(chain(RUN_STEPS), folder)
        await _played(engine, document)
        taken = [(await _timed(engine, document))["seconds"] for _ in range(size)]
    return {"taken_ms": [1000 * seconds for seconds in taken]}


async def items(size: int, folder: Path) -> Sample:
    """One parallel loop."""
    async with _engine(folder) as engine:
        return await _timed(engine, _document(LOOP, folder), {"items": list(range(size))})


async def code(size: int, folder: Path) -> Sample:
    """One run of `size` python tasks."""
    async with _engine(folder) as engine:
        await _played(engine, _document(code_chain(1), folder))
        return await _timed(engine, _document(code_chain(size), folder))


async def code_runs(size: int, folder: Path) -> Sample:
    """`size` runs of one python task each, all asked for at once."""
    async with _engine(folder) as engine:
        document = _document(code_chain(1), folder)
        await _played(engine, document)
        return await _timed(engine, document, number=size)


async def retries(size: int, folder: Path) -> Sample:
    """`size` runs that fail twice and are tried again at once; is every attempt in the log?"""
    async with _engine(folder, FlakyTool()) as engine:
        wall, cpu = perf_counter(), process_time()
        played = await _played(engine, _document(flaky(0), folder), number=size)
        sample = {"seconds": perf_counter() - wall, "cpu_seconds": process_time() - cpu}
        attempts = [await _attempts(engine, run) for run in played]
    expected = list(range(1, FAILURES + 2))
    return {**sample, "attempts_in_log": all(found == expected for found in attempts)}


async def _attempts(engine: Engine, run: RunId) -> list[int | None]:
    events = await engine.database.archive.events(run)
    return [event.attempt for event in events if isinstance(event, TaskStarted)]


async def backoff(size: int, folder: Path) -> Sample:
    """`size` runs that fail twice and wait a second each time; how late each next call came."""
    tool = FlakyTool()
    async with _engine(folder, tool) as engine:
        tool.called_at.clear()
        sample = await _timed(engine, _document(flaky(BACKOFF_SECONDS), folder), number=size)
    late = [
        (later - earlier - BACKOFF_SECONDS) * 1000
        for calls in tool.called_at.values()
        for earlier, later in pairwise(calls)
    ]
    return {**sample, "late_ms": late}


@asynccontextmanager
async def _engine(folder: Path, noop: Tool | None = None) -> AsyncIterator[Engine]:
    """A warm engine on a new file."""
    database = SqliteDatabase.open(folder / "anew.db")
    tools = Toolbox({"noop": noop}) if noop is not None else None
    engine = Engine(database, folder / "scratch", toolbox=tools)
    warming = chain(WARM_STEPS) if noop is None else flaky(0)
    try:
        await _played(engine, _document(warming, folder))
        yield engine
    finally:
        await engine.stop(0)
        await database.close()


async def _timed(
    engine: Engine, document: Document, workload: Object | None = None, *, number: int = 1
) -> Sample:
    wall, cpu = perf_counter(), process_time()
    await _played(engine, document, workload, number=number)
    return {"seconds": perf_counter() - wall, "cpu_seconds": process_time() - cpu}


async def _played(
    engine: Engine, document: Document, workload: Object | None = None, *, number: int = 1
) -> Sequence[RunId]:
    asked = [engine.start(StartRequest(document, workload or {})) for _ in range(number)]
    started = [one.run for one in await asyncio.gather(*asked)]
    states = await asyncio.gather(*(engine.wait(run) for run in started))
    assert all(state.status is RunStatus.DONE for state in states)
    return started


def _document(text: str, folder: Path) -> Document:
    return read_document(text, str(folder / f"bench_{next(_numbers)}.yaml"))


def _graph(size: int, folder: Path) -> Document:
    return read_document(graph(size), str(folder / f"bench_{next(_numbers)}.dot"))


_numbers = count()
WORKLOADS: dict[str, Callable[[int, Path], Awaitable[Sample]]] = {
    work.__name__: work
    for work in (steps, nodes, runs, latency, items, code, code_runs, retries, backoff)
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
