"""What a million jobs that wait cost: leases, those who wait for work, and timers that are due."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

from anew.stores.postgres import PostgresDatabase
from bench.cluster import cpu, reading
from bench.cluster.cluster import WORKERS, Cluster, Manner, cluster
from bench.cluster.plays import prepare, retry_latencies
from bench.cluster.postgres import Postgres
from bench.cluster.rows import at_most, cluster_row, percentiles
from bench.durable.contest import Entry, Side, contend
from bench.durable.figures import Row, against, paired

JOBS = 1_000_000
LEASE_BATCH = 32
LEASES = 20
LEASE_ROUNDS = 7
LEASE_RATIO_MAX = "≤ 1.5"
IDLE_SECONDS = 15.0
# Whoever has just started connects, compiles and looks around.
SETTLE_SECONDS = 4.0
IDLE_PERCENT_MAX = 2.0
TIMERS = 200
LATE_P99_MS_MAX = 250.0
_HOUR_NANOSECONDS = 3600 * reading.NANOSECONDS


def measure(server: Postgres, jobs: int = JOBS) -> Iterator[Row]:
    """In turns with a database that is the same, but empty."""
    few, many = asyncio.run(_tables(server)), asyncio.run(_tables(server))
    reading.add_waiting(many, jobs)
    yield from leasing(few, many, jobs)
    yield from idle(server, few, "HTTP", jobs=0)
    yield from idle(server, many, "HTTP", jobs=jobs)
    yield from idle(server, many, "--db", jobs=jobs)
    yield from timers(many, jobs)


async def _tables(server: Postgres) -> str:
    """A new database with Anew's tables."""
    url = server.database()
    await (await PostgresDatabase.open(url)).close()
    return url


def leasing(few: str, many: str, jobs: int) -> Iterator[Row]:
    """How long taking what is due takes, with and without the others."""
    places = {"none waiting": few, f"{jobs:,} waiting": many}
    entries = [Entry(Side(name), "leases", LEASES, LEASE_ROUNDS) for name in places]
    for url in places.values():
        # One lease more in each round, which does not count.
        reading.add_due(url, (LEASES + 1) * LEASE_BATCH * LEASE_ROUNDS)
    contend(entries, lambda entry: {"ms": asyncio.run(_leased_ms(places[entry.side.name]))})
    for url in places.values():
        reading.remove_due(url)
    alone, beside = (entry.values("ms") for entry in entries)
    figure = cluster_row(f"lease of {LEASE_BATCH} jobs, {jobs:,} waiting", beside, "ms", entries[1])
    told = f"none waiting, {median(alone):.2f} ms"
    yield against(figure, told, paired(beside, alone), LEASE_RATIO_MAX)


async def _leased_ms(url: str) -> float:
    """The middle of a round; the first lease of a connection plans its statements."""
    database = await PostgresDatabase.open(url)
    taken = []
    try:
        for _ in range(LEASES + 1):
            now, begun = time.time_ns(), time.perf_counter()
            batch = await database.store.lease(
                now=now, until=now + _HOUR_NANOSECONDS, limit=LEASE_BATCH, pools=["default"]
            )
            taken.append(1000 * (time.perf_counter() - begun))
            assert len(batch.leases) == LEASE_BATCH
    finally:
        await database.close()
    return median(taken[1:])


def idle(server: Postgres, url: str, manner: Manner, *, jobs: int) -> Iterator[Row]:
    """CPU time of everyone while nothing happens."""
    name = f"idle, {jobs:,} waiting, server + {WORKERS} workers {manner} + PostgreSQL"
    if not cpu.is_told():
        yield {"name": f"cluster: {name}", "peer": "this system has no /proc"}
        return
    entry = Entry(Side("idle"), "idle", jobs, 1)
    with cluster(url, manner) as one:
        time.sleep(SETTLE_SECONDS)
        contend([entry], lambda _: _idle_sample(one, server))
    figure = cluster_row(name, entry.values("all"), "% of a core", entry)
    yield {**at_most(figure, IDLE_PERCENT_MAX, "%"), "spread": None, "peer": _parts(entry)}


def _parts(entry: Entry) -> str:
    found: dict[str, Any] = entry.samples[0]
    return ", ".join(f"{who} {found[who]:.2f} %" for who in found if who != "all")


def timers(url: str, jobs: int) -> Iterator[Row]:
    """How late a retry is called while all the others wait for their time."""
    entry = Entry(Side("workers HTTP"), "retries", TIMERS, 1)
    with cluster(url, "HTTP") as one:
        prepare(one)
        contend([entry], lambda _: retry_latencies(one, TIMERS))
    name = f"retry after 1.0 to 1.5 s is late by, workers HTTP, {jobs:,} waiting"
    yield from percentiles(name, entry, (99,), limits={99: LATE_P99_MS_MAX})


def _idle_sample(one: Cluster, server: Postgres) -> dict[str, float]:
    def used() -> dict[str, float]:
        return one.cpu_seconds() | {"PostgreSQL": server.cpu_seconds()}

    before, begun = used(), time.perf_counter()
    time.sleep(IDLE_SECONDS)
    after, seconds = used(), time.perf_counter() - begun
    parts = {who: 100 * (after[who] - before[who]) / seconds for who in before}
    return {"all": sum(parts.values()), **parts}
