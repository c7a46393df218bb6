"""PgQueuer on PostgreSQL: `pgqueuer_side jobs SIZE URL NUMBER` prints JSON.

One of several worker processes on asyncpg and uvloop, as its own command runs them. It has jobs,
but no runs of several steps: all of them are in the queue, put there in one batch by the first
process before anyone measures, and each process works until nothing is left. Its tables are logged
ones ("durable"), jobs are taken and their ends written 50 at a time.
"""

from __future__ import annotations

import sys
from datetime import timedelta
from importlib import import_module
from time import perf_counter, process_time
from typing import Any

from bench.peers.measuring import RUN_STEPS, Sample, is_address, play, wait_for_word

asyncpg: Any = import_module("asyncpg")
pgqueuer: Any = import_module("pgqueuer")
types: Any = import_module("pgqueuer.types")
uvloop: Any = import_module("uvloop")

BATCH = 50
# How long it waits before it looks again whether the queue is empty.
LOOK = timedelta(milliseconds=5)

REASONS = {"runs": "has jobs, but no runs of several steps"}


def jobs(size: int, place: str) -> Sample:
    if not is_address(place):
        return {"reason": "needs a PostgreSQL"}
    sample: Sample = uvloop.run(_jobs(size * RUN_STEPS, place))
    return sample


async def _jobs(number: int, url: str) -> Sample:
    if sys.argv[4:] in ([], ["0"]):
        await _fill(number, url)
    queue = pgqueuer.PgQueuer(await _driver(url))

    @queue.entrypoint("noop")  # type: ignore[untyped-decorator]
    async def noop(job: object) -> None:
        del job

    wait_for_word(url)
    wall, cpu = perf_counter(), process_time()
    await queue.run(dequeue_timeout=LOOK, batch_size=BATCH, mode=types.QueueExecutionMode.drain)
    return {"seconds": perf_counter() - wall, "cpu_seconds": process_time() - cpu}


async def _fill(number: int, url: str) -> None:
    queries = import_module("pgqueuer.queries").Queries(await _driver(url))
    await queries.install()
    await queries.enqueue(["noop"] * number, [b""] * number, [0] * number)


async def _driver(url: str) -> Any:
    connection = await asyncpg.connect(url)
    return import_module("pgqueuer.db").AsyncpgDriver(connection)


if __name__ == "__main__":
    play({"jobs": jobs}, REASONS)
