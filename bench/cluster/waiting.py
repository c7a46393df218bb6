"""What a million jobs that wait cost: leases, those who wait for work, and timers that are due."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from statistics import fmean, median

from anew.stores.postgres import PostgresDatabase
from bench.cluster import cpu, reading
from bench.cluster.cluster import WORKERS, Cluster, cluster
from bench.cluster.plays import prepare, retry_latencies
from bench.cluster.postgres import Postgres
from bench.cluster.scene import MANNERS, Scene
from bench.cluster.timers import late
from bench.contest import Side, contend
from bench.figures import Workload, compared, figure
from bench.stage import Stage

JOBS = 1_000_000
LEASE_BATCH = 32
LEASES = 20
IDLE_SECONDS = 3.0
# Whoever has just started connects, compiles and looks around.
SETTLE_SECONDS = 4.0
TIMERS = 100

LEASE_RATIO = "≤ 1.5"
IDLE_PERCENT = "< 2"
LATE_P99_MS = "≤ 250"
_HOUR_NANOSECONDS = 3600 * reading.NANOSECONDS


def waiting(scene: Scene, jobs: int = JOBS) -> Iterator[Workload]:
    """In turns with a database that is the same, but empty."""
    server, stage = scene.server, scene.stage
    few, many = asyncio.run(_tables(server)), asyncio.run(_tables(server))
    reading.add_waiting(many, jobs)
    yield leasing(stage, few, many, jobs=jobs)
    if cpu.is_told():
        yield idle(stage, server, many, jobs=jobs)
    yield timers(stage, many, jobs=jobs)


async def _tables(server: Postgres) -> str:
    """A new database with Anew's tables."""
    url = server.database()
    await (await PostgresDatabase.open(url)).close()
    return url


def leasing(stage: Stage, few: str, many: str, *, jobs: int) -> Workload:
    """How long taking what is due takes, with and without the others."""
    places = {f"Anew, {jobs:,} waiting": many, "none waiting": few}
    for url in places.values():
        # One lease more in each round, which does not count.
        reading.add_due(url, (LEASES + 1) * LEASE_BATCH * stage.rounds)
    entries = {
        name: stage.entry(
            Side(name, is_ours=True),
            "leases",
            LEASES,
            play=lambda entry: {"ms": asyncio.run(_leased_ms(places[entry.side.name]))},
        )
        for name in places
    }
    contend(entries.values())
    for url in places.values():
        reading.remove_due(url)
    return compared(
        "cluster.waiting-lease",
        f"lease of {LEASE_BATCH} jobs, {jobs:,} waiting, PostgreSQL",
        "ms",
        entries={"many": entries[f"Anew, {jobs:,} waiting"], "few": entries["none waiting"]},
        values=lambda entry: entry.values("ms"),
    ).beside("few", LEASE_RATIO)


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


def idle(stage: Stage, server: Postgres, url: str, *, jobs: int) -> Workload:
    """CPU time of everyone while nothing happens; one cluster after the other, not in turns."""
    title = f"idle, {jobs:,} waiting timers, server + {WORKERS} workers + PostgreSQL"
    figures, parts = {}, {}
    for key, manner in MANNERS.items():
        with cluster(url, manner) as one:
            time.sleep(SETTLE_SECONDS)
            entry = stage.entry(
                Side(f"Anew, workers {manner}", is_ours=True),
                "idle",
                jobs,
                play=lambda _, one=one: _idle_sample(one, server),
            )
            contend([entry])
        # What is done now and then is in few of the rounds: their mean, not their median.
        figures[key] = figure(entry, [fmean(entry.values("all"))])
        parts[key] = ", ".join(
            f"{who} {fmean(entry.values(who)):.2f} %" for who in entry.samples[0] if who != "all"
        )
    work = Workload("cluster.waiting-idle", title, "% of a core", figures)
    for key, told in parts.items():
        work.of(key).alone(IDLE_PERCENT)
        work.rows[-1]["peer"] = told
    return work


def timers(stage: Stage, url: str, *, jobs: int) -> Workload:
    """How late a retry is called while all the others wait for their time."""
    with cluster(url, "HTTP") as one:
        prepare(one)
        entry = stage.entry(
            Side("Anew, workers HTTP", is_ours=True),
            "retries",
            TIMERS,
            play=lambda entry: retry_latencies(one, entry.size),
        )
        contend([entry])
    title = f"due timers are late by, {jobs:,} others waiting"
    return late("cluster.waiting-timers", title, {"http": entry}, 99).of("http").alone(LATE_P99_MS)


def _idle_sample(one: Cluster, server: Postgres) -> dict[str, float]:
    def used() -> dict[str, float]:
        return one.cpu_seconds() | {"PostgreSQL": server.cpu_seconds()}

    before, begun = used(), time.perf_counter()
    time.sleep(IDLE_SECONDS)
    after, seconds = used(), time.perf_counter() - begun
    parts = {who: 100 * (after[who] - before[who]) / seconds for who in before}
    return {"all": sum(parts.values()), **parts}
