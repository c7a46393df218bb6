"""Many short runs: all asked for at once, and one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench.contest import ANEW, Entry, contend
from bench.durable.documents import RUN_STEPS
from bench.figures import Workload, compared, figure, percentile
from bench.stage import Stage

RUNS = 500
# The slower ones do less of the same: it is rates that are compared.
PEER_RUNS = {
    "restate": 150,
    "dbos": 40,
    "burr": 100,
    "langgraph": 80,
    "prefect": 2,
    "noetl": 40,
}
CALM_RUNS = 50
# Those that have each step on disk before the next one starts.
PEER_CALM_RUNS = {"dbos": 25, "burr": 40, "langgraph": 40, "restate": 40}

RESTATE_RATIO = "≥ 3"
DBOS_RATIO = "≥ 10"
CALM_RATIO = "< 1"


def runs(stage: Stage) -> Iterator[Workload]:
    ours = stage.entry(ANEW, "runs", RUNS)
    entries = {"anew": ours, **stage.entries("runs", PEER_RUNS)}
    tuned = entries["dbos-wal"] = stage.entry("dbos", "runs-wal", PEER_RUNS["dbos"])
    contend(entries.values())
    work = compared(
        "durable.runs",
        f"{RUNS} runs of {RUN_STEPS} steps, SQLite embedded",
        "steps/s",
        entries=entries,
        values=lambda entry: entry.rates(RUN_STEPS),
    )
    name = f"{tuned.side.name} (write-ahead log)"
    work.figures["dbos-wal"] = figure(tuned, tuned.rates(RUN_STEPS), name)
    work.alone().beside("restate", RESTATE_RATIO).beside("dbos", DBOS_RATIO)
    yield work.beside_each("burr langgraph prefect noetl dbos-wal")


def latency(stage: Stage) -> Iterator[Workload]:
    """At low load: no run begins before the one before has ended."""
    ours = stage.entry(ANEW, "latency", CALM_RUNS)
    entries = {"anew": ours, **stage.entries("latency", PEER_CALM_RUNS)}
    contend(entries.values())
    for hundredth in (50, 95):
        work = compared(
            f"durable.latency-p{hundredth}",
            f"a run of {RUN_STEPS} steps at low load, SQLite embedded, p{hundredth}",
            "ms",
            entries=entries,
            values=partial(_percentiles, hundredth),
        ).alone()
        for key in PEER_CALM_RUNS:
            work.beside(key, CALM_RATIO if hundredth == 50 else None)
        yield work


def _percentiles(hundredth: int, entry: Entry) -> list[float]:
    return [percentile(one, hundredth) for one in entry.values("taken_ms")]
