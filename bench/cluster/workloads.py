"""Which workloads a cluster does, how large, how often, and what is asked of their figures."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from msgspec.structs import replace

from bench.cluster import cpu, waiting
from bench.cluster.cluster import Cluster, Manner, cluster
from bench.cluster.plays import (
    RUN_STEPS,
    loop_played,
    peer_played,
    prepare,
    retry_latencies,
    runs_played,
    start_latencies,
)
from bench.cluster.postgres import Postgres, postgres
from bench.cluster.rows import at_least, cluster_row, percentiles
from bench.durable.contest import Entry, Sample, Side, contend
from bench.durable.figures import Row, beside
from bench.peers.environments import peer

MANNERS: tuple[Manner, ...] = ("HTTP", "--db")
PEER_RATIO_MIN = 8.0
LATE_P95_MS_MAX = 30.0

# Peers do less of the same because they are slower, so that all of it stays within minutes.
RUNS, DBOS_RUNS, PROCRASTINATE_RUNS = 500, 100, 200
ITEMS = 500
STARTS = 300
RETRIES = 200
ROUNDS = 3


def measure() -> Iterator[Row]:
    """Every row. What is going on is said on standard error, because it takes minutes."""
    peers = [peer("dbos", "DBOS"), peer("procrastinate", "Procrastinate", "psycopg-binary")]
    _say("PostgreSQL; a server and two workers over HTTP, and the same with workers --db")
    with postgres() as server:
        with ExitStack() as stack:
            ours = {
                _side(manner).name: stack.enter_context(cluster(server.database(), manner))
                for manner in MANNERS
            }
            for one in ours.values():
                prepare(one)
            yield from _compared(ours, server, peers)
        _say(f"{waiting.JOBS:,} waiting jobs")
        yield from waiting.measure(server)


def _compared(ours: dict[str, Cluster], server: Postgres, peers: Sequence[Side]) -> Iterator[Row]:
    _say("starts")
    yield from first_tasks(ours)
    _say("retries")
    yield from retries(ours)
    _say("many runs")
    yield from many_runs(ours, server, peers)
    _say("wide loop")
    yield from wide_loop(ours)


def first_tasks(ours: dict[str, Cluster]) -> Iterator[Row]:
    """From the request that starts a run until its first task is called, at low load."""
    entries = [Entry(_side(one.manner), "starts", STARTS, 1) for one in ours.values()]
    contend(entries, lambda entry: start_latencies(ours[entry.side.name], entry.size))
    for entry in entries:
        yield from percentiles(f"start to first task, {entry.side.name}", entry, (50, 99))


def retries(ours: dict[str, Cluster]) -> Iterator[Row]:
    """How long after it was due a retry is called."""
    entries = [Entry(_side(one.manner), "retries", RETRIES, 1) for one in ours.values()]
    contend(entries, lambda entry: retry_latencies(ours[entry.side.name], entry.size))
    for entry in entries:
        name = f"retry after 1.0 to 1.5 s is late by, {entry.side.name}"
        yield from percentiles(name, entry, (50, 95, 99), limits={95: LATE_P95_MS_MAX})


def many_runs(ours: dict[str, Cluster], server: Postgres, peers: Sequence[Side]) -> Iterator[Row]:
    """Many short runs, beside the peers on the same PostgreSQL."""

    def play(entry: Entry) -> Sample:
        one = ours.get(entry.side.name)
        return runs_played(one, entry.size, server) if one else peer_played(entry, server)

    mine = [Entry(_side(one.manner), "runs", RUNS, ROUNDS) for one in ours.values()]
    dbos, procrastinate = peers
    others = [
        Entry(dbos, "runs", DBOS_RUNS, ROUNDS),
        Entry(procrastinate, "runs", PROCRASTINATE_RUNS, ROUNDS),
    ]
    # What it is made for: single jobs. It shows how much of the difference is the steps' order.
    jobs = Entry(
        replace(procrastinate, name=f"{procrastinate.name}, single jobs"),
        "jobs",
        PROCRASTINATE_RUNS,
        ROUNDS,
    )
    contend([*mine, *others, jobs], play)
    for entry in mine:
        name = f"{RUNS} runs of {RUN_STEPS} steps, {entry.side.name}"
        figure = cluster_row(name, entry.rates(RUN_STEPS), "steps/s", entry)
        yield figure
        for other in others:
            row = beside(figure, other, other.rates(RUN_STEPS), more_is_better=True)
            yield at_least(row, PEER_RATIO_MIN)
        yield beside(figure, jobs, jobs.rates(RUN_STEPS), more_is_better=True)
        yield from _cpu_rows(entry, others)


def _cpu_rows(entry: Entry, others: Sequence[Entry]) -> Iterator[Row]:
    """Who spends how much on a step: wall time depends on whoever else uses the machine."""
    if not cpu.is_told():
        return
    name = f"CPU time of a step, {entry.side.name}"
    figure = cluster_row(f"{name}, all", _spent(entry), "µs", entry)
    yield figure
    for other in others:
        yield beside(figure, other, _spent(other), more_is_better=False)
    for who in ("client", "server", "workers", "PostgreSQL"):
        yield cluster_row(f"{name}, {who}", _spent(entry, who), "µs", entry)


def _spent(entry: Entry, who: str | None = None) -> list[float]:
    """Microseconds of a step in each round; of everyone, unless one is named."""
    sums = [sum(one.values()) if who is None else one[who] for one in entry.values("cpu")]
    return [1e6 * seconds / entry.size / RUN_STEPS for seconds in sums]


def wide_loop(ours: dict[str, Cluster]) -> Iterator[Row]:
    """One run whose items both workers do: every commit is for the same run."""
    entries = [Entry(_side(one.manner), "items", ITEMS, ROUNDS) for one in ours.values()]
    contend(entries, lambda entry: loop_played(ours[entry.side.name], entry.size))
    for entry in entries:
        name = f"parallel loop of {ITEMS} items, {entry.side.name}"
        yield cluster_row(name, entry.rates(), "items/s", entry)


def _side(manner: Manner) -> Side:
    return Side(f"workers {manner}")


def _say(text: str) -> None:
    print(f"cluster: {text}", file=sys.stderr, flush=True)
