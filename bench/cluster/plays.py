"""One sample of each workload that a cluster does. What becomes of samples is decided elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable

from bench.cluster.cluster import Cluster
from bench.cluster.documents import STAMP, stamped_retry
from bench.cluster.postgres import Postgres
from bench.contest import Sample
from bench.durable.documents import LOOP, RUN_STEPS, chain

LONG_STEPS = 1_000
STARTS_PER_SECOND = 25.0
RETRIES_PER_SECOND = 50.0
# From a second on, a wait gives its slot back, and somebody has to be woken when it is over.
DELAYS_SECONDS = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5)
WARM_RUNS = 20


def prepare(one: Cluster) -> None:
    """Register the documents and play each once: a first run compiles and connects."""
    documents = {
        "stamp": STAMP,
        "chain": chain(RUN_STEPS),
        "long": chain(LONG_STEPS),
        "loop": LOOP,
    }
    documents |= {_retry_name(seconds): stamped_retry(seconds) for seconds in DELAYS_SECONDS}
    for name, text in documents.items():
        one.register(name, text)
    warm = one.start_many("chain", WARM_RUNS) + one.start_many("stamp", WARM_RUNS)
    one.finish([*warm, *map(one.start, documents.keys() - {"loop"})])
    one.finish([one.start("loop", {"items": [1, 2, 3]})])


def start_latencies(one: Cluster, number: int) -> Sample:
    """Milliseconds from each request until the call, at low load."""
    asked: dict[int, int] = {}

    def start(_: int) -> None:
        before = time.time_ns()
        asked[one.start("stamp")] = before

    _paced(start, number, STARTS_PER_SECOND)
    one.finish(list(asked))
    called = one.read(lambda reader: reader.called_at(list(asked)))
    return {"late_ms": [(called[run] - before) / 1e6 for run, before in asked.items()]}


def retry_latencies(one: Cluster, number: int) -> Sample:
    """Milliseconds from the moment each retry was due until the call."""
    runs: list[int] = []
    names = [_retry_name(seconds) for seconds in DELAYS_SECONDS]
    _paced(lambda n: runs.append(one.start(names[n % len(names)])), number, RETRIES_PER_SECOND)
    one.finish(runs)
    called = one.read(lambda reader: reader.called_at(runs))
    due = one.read(lambda reader: reader.due_at(runs))
    return {"late_ms": [(called[run] - due[run]) / 1e6 for run in runs]}


def runs_played(one: Cluster, number: int, server: Postgres) -> Sample:
    """Seconds from the first request until the last run has ended, and who used the CPU."""

    def used() -> dict[str, float]:
        mine = {"client": time.process_time(), "PostgreSQL": server.cpu_seconds()}
        return one.cpu_seconds() | mine

    before, begun = used(), time.time()
    seconds = one.finish(one.start_many("chain", number)) - begun
    after = used()
    return {"seconds": seconds, "cpu": {who: after[who] - before[who] for who in after}}


def long_run_played(one: Cluster, steps: int) -> Sample:
    """Seconds of one run of many steps."""
    assert steps == LONG_STEPS
    begun = time.time()
    return {"seconds": one.finish([one.start("long")]) - begun}


def loop_played(one: Cluster, items: int) -> Sample:
    """Seconds of one run whose items both workers do."""
    begun = time.time()
    return {"seconds": one.finish([one.start("loop", {"items": list(range(items))})]) - begun}


def _paced(act: Callable[[int], object], number: int, per_second: float) -> None:
    """So many times at an even pace; after one that took too long, the next comes at once."""
    begun = time.perf_counter()
    for n in range(number):
        time.sleep(max(0.0, begun + n / per_second - time.perf_counter()))
        act(n)


def _retry_name(seconds: float) -> str:
    return f"retry_{round(1000 * seconds)}"
