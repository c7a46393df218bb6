"""Procrastinate on PostgreSQL: `procrastinate_side WORKLOAD SIZE URL NUMBER` prints JSON.

One of several worker processes, 10 jobs at once in each. It has jobs, but no runs of several steps:
in `runs` each job puts the next of its run into the queue, in `jobs` all of them are there and may
be done in any order. Everyone is warm when the first process fills the queue, in one batch, and
works until nothing is left. In `backoff` it is told of new jobs by the database, but looks for
those whose delay is over as often as it does by itself, every five seconds.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from importlib import import_module
from time import perf_counter, process_time
from typing import Any

from bench.peers.measuring import (
    BACKOFF_SECONDS,
    RUN_STEPS,
    Attempts,
    Sample,
    is_address,
    play,
    wait_for_word,
)

# Jobs at once in a process, as in the measurements that our targets come from.
CONCURRENCY = 10
CONNECTIONS = 12
LOOK_SECONDS = 0.005
WARM_JOBS = 20
# A wait takes five seconds more than it should: one in each run is enough.
BACKOFF_FAILURES = 1
LEFT = "SELECT count(*) AS left FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"

procrastinate: Any = import_module("procrastinate")


def runs(size: int, place: str) -> Sample:
    return _played(place, [RUN_STEPS - 1] * size)


def jobs(size: int, place: str) -> Sample:
    return _played(place, [0] * size * RUN_STEPS)


def backoff(size: int, place: str) -> Sample:
    if not is_address(place):
        return {"reason": "needs a PostgreSQL"}
    return asyncio.run(_backoff(size, place))


def _played(place: str, jobs: list[int]) -> Sample:
    if not is_address(place):
        return {"reason": "needs a PostgreSQL"}
    return asyncio.run(_chains(place, jobs))


async def _chains(url: str, jobs: list[int]) -> Sample:
    """Each job says how many more are to follow it."""
    connector, app = _app(url)

    @app.task(queue="bench", name="step")  # type: ignore[untyped-decorator]
    async def step(more: int) -> None:
        if more:
            await step.defer_async(more=more - 1)

    async def begin(first: list[int]) -> None:
        await step.batch_defer_async(*({"more": more} for more in first))

    is_first = sys.argv[4:] in ([], ["0"])
    async with app.open_async():
        if is_first:
            await app.schema_manager.apply_schema_async()
        worker = asyncio.create_task(_worker(app))
        await begin([0] * WARM_JOBS)
        await _until_done(connector)
        wait_for_word(url)
        wall, cpu = perf_counter(), process_time()
        if is_first:
            await begin(jobs)
        else:
            await _until_begun(connector)
        await _until_done(connector)
        sample = {"seconds": perf_counter() - wall, "cpu_seconds": process_time() - cpu}
        worker.cancel()
        await asyncio.wait([worker])
        return sample


async def _backoff(size: int, url: str) -> Sample:
    connector, app = _app(url)
    attempts = Attempts(BACKOFF_FAILURES)
    retry = procrastinate.RetryStrategy(max_attempts=2, wait=int(BACKOFF_SECONDS))

    @app.task(queue="bench", name="fail", retry=retry)  # type: ignore[untyped-decorator]
    async def fail(run: str) -> None:
        attempts.call(run)

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        await fail.batch_defer_async(*({"run": f"run {number}"} for number in range(size)))
        wait_for_word(url)
        worker = asyncio.create_task(_worker(app))
        await _until_done(connector)
        worker.cancel()
        await asyncio.wait([worker])
        return {"late_ms": attempts.late_ms()}


async def _until_begun(connector: Any) -> None:
    """Another process puts the jobs in."""
    while not (await connector.execute_query_one_async(LEFT))["left"]:
        await asyncio.sleep(LOOK_SECONDS)


async def _until_done(connector: Any) -> None:
    while (await connector.execute_query_one_async(LEFT))["left"]:
        await asyncio.sleep(LOOK_SECONDS)


async def _worker(app: Any) -> None:
    await app.run_worker_async(
        queues=["bench"], concurrency=CONCURRENCY, install_signal_handlers=False
    )


def _app(url: str) -> tuple[Any, Any]:
    logging.disable(logging.CRITICAL)
    connector = procrastinate.PsycopgConnector(conninfo=url, min_size=2, max_size=CONNECTIONS)
    return connector, procrastinate.App(connector=connector)


if __name__ == "__main__":
    play({"runs": runs, "jobs": jobs, "backoff": backoff}, {})
