"""Procrastinate on PostgreSQL: `procrastinate_side.py WORKLOAD SIZE URL NUMBER` prints JSON.

One of several worker processes. It has jobs, but no runs of several steps: in `runs` each job puts
the next of its run into the queue, in `jobs` all of them are there and may be done in any order.
The first process fills the queue, in one batch and before anyone measures. Each says `ready` and
waits for a line, then works until nothing is left.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from importlib import import_module
from time import perf_counter, process_time
from typing import Any

RUN_STEPS = 5
# Jobs at once in a process, as in the measurements that our targets come from.
CONCURRENCY = 10
CONNECTIONS = 12
LOOK_SECONDS = 0.005
LEFT = "SELECT count(*) AS left FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"

procrastinate: Any = import_module("procrastinate")


async def sample(workload: str, size: int, url: str, number: int) -> dict[str, Any]:
    connector = procrastinate.PsycopgConnector(conninfo=url, min_size=2, max_size=CONNECTIONS)
    app = procrastinate.App(connector=connector)

    @app.task(queue="bench", name="step")  # type: ignore[untyped-decorator]
    async def step(more: int) -> None:
        if more:
            await step.defer_async(more=more - 1)

    async with app.open_async():
        if number == 0:
            await app.schema_manager.apply_schema_async()
            first = [RUN_STEPS - 1] * size if workload == "runs" else [0] * size * RUN_STEPS
            await step.batch_defer_async(*({"more": more} for more in first))
        print("ready", flush=True)
        sys.stdin.readline()
        wall, cpu = perf_counter(), process_time()
        await work(app, connector)
        return {"seconds": perf_counter() - wall, "cpu_seconds": process_time() - cpu}


async def work(app: Any, connector: Any) -> None:
    """A worker that finds nothing stops, though a job at work may still lead to another."""
    while True:
        await app.run_worker_async(
            queues=["bench"], wait=False, concurrency=CONCURRENCY, install_signal_handlers=False
        )
        if not (await connector.execute_query_one_async(LEFT))["left"]:
            return
        await asyncio.sleep(LOOK_SECONDS)


def main(workload: str, size: str, url: str, number: str) -> None:
    logging.disable(logging.CRITICAL)
    print(json.dumps(asyncio.run(sample(workload, int(size), url, int(number)))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
