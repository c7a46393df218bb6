"""One run of many steps, each of which is one commit: how near to the machine's own is that?

The machine's limits are measured in the same turns.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.contest import ANEW, MACHINE, Entry, contend
from bench.figures import Workload, compared, figure, percentile
from bench.stage import Stage

STEPS = 1_000
# The slower ones do less of the same: it is rates that are compared.
PEER_STEPS = {
    "dbos": 250,
    "burr": 500,
    "langgraph": 500,
    "restate": 250,
    "prefect": 40,
    "noetl": 200,
}
FSYNCS, ENCODINGS, EVALUATIONS = 500, 50_000, 50_000

RAW_RATIO = "≥ 0.6"
DBOS_RATIO = "≥ 5"
BEST_PYTHON_RATIO = "≥ 2.5"


def steps(stage: Stage) -> Iterator[Workload]:
    ours = stage.entry(ANEW, "steps", STEPS)
    raw = stage.entry(MACHINE, "commits", STEPS)
    others = stage.entries("steps", PEER_STEPS)
    # What they reach on a file with a write-ahead log, which is not how they open theirs.
    tuned = {
        f"{key}-wal": stage.entry(key, "steps-wal", PEER_STEPS[key]) for key in ("dbos", "burr")
    }
    others |= tuned
    contend([ours, raw, *others.values()])
    work = compared(
        "durable.steps",
        f"one run of {STEPS:,} steps, SQLite embedded",
        "steps/s",
        entries={"anew": ours, "raw": raw, **others},
        values=Entry.rates,
    )
    work.figures["raw"] = figure(raw, raw.rates(), "raw commits of one row")
    for key, entry in tuned.items():
        work.figures[key] = figure(entry, entry.rates(), f"{entry.side.name} (write-ahead log)")
    work.alone().beside("raw", RAW_RATIO).beside("dbos", DBOS_RATIO)
    work.beside("burr langgraph", BEST_PYTHON_RATIO)
    yield work.beside_each("burr langgraph restate prefect noetl dbos-wal burr-wal")
    cpu = [1e6 * seconds / STEPS for seconds in ours.values("cpu_seconds")]
    figures = {"anew": figure(ours, cpu)}
    yield Workload(
        "durable.steps-cpu", "CPU time of a step, SQLite embedded", "µs", figures
    ).alone()


def limits(stage: Stage) -> Iterator[Workload]:
    """What the disk and the interpreter give without an engine."""
    pages = stage.entry(MACHINE, "fsyncs", FSYNCS)
    rates = {
        "durable SQLite commits of one row": stage.entry(MACHINE, "commits", STEPS),
        "JSON, 850 bytes encoded and decoded": stage.entry(MACHINE, "json", ENCODINGS),
        "templates evaluated": stage.entry(MACHINE, "templates", EVALUATIONS),
    }
    contend([pages, *rates.values()])
    for hundredth in (50, 95):
        taken = [percentile(one, hundredth) for one in pages.values("taken_ms")]
        yield _limit(f"fsync of 4 KiB, p{hundredth}", "ms", pages, taken)
    for name, entry in rates.items():
        yield _limit(name, "1/s", entry, entry.rates())


def _limit(name: str, unit: str, entry: Entry, values: list[float]) -> Workload:
    figures = {"machine": figure(entry, values)}
    return Workload("durable.limits", f"machine: {name}", unit, figures).alone()
