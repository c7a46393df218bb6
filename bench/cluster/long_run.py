"""One run of many steps on PostgreSQL, and what PostgreSQL gives without an engine."""

from __future__ import annotations

from collections.abc import Iterator

from bench.cluster.plays import LONG_STEPS, long_run_played
from bench.cluster.scene import Scene
from bench.contest import Entry, contend
from bench.figures import Workload, compared

DBOS_STEPS = 300
RAW_ROWS = 1_000
CLIENTS = (1, 8)
ROWS_PER_CLIENT = 500

DBOS_RATIO = "≥ 3"
RAW_RATIO = "≥ 0.5"


def steps(scene: Scene) -> Iterator[Workload]:
    entries = {
        **scene.ours("steps", LONG_STEPS, long_run_played),
        "raw": scene.raw(1, RAW_ROWS),
        "dbos": scene.peer("dbos", "steps", DBOS_STEPS, processes=1),
    }
    contend(entries.values())
    work = compared(
        "cluster.steps",
        f"one run of {LONG_STEPS:,} steps, PostgreSQL",
        "steps/s",
        entries=entries,
        values=Entry.rates,
    )
    work.of("http").alone().beside("dbos", DBOS_RATIO).beside("raw")
    work.of("db").alone().beside("raw", RAW_RATIO).beside("dbos")
    yield work


def limits(scene: Scene) -> Iterator[Workload]:
    """Single rows committed by several clients at once."""
    entries = {str(one): scene.raw(one, one * ROWS_PER_CLIENT) for one in CLIENTS}
    contend(entries.values())
    for key, entry in entries.items():
        yield compared(
            "cluster.limits",
            f"machine: PostgreSQL, {entry.side.name}",
            "commits/s",
            entries={key: entry},
            values=Entry.rates,
        ).alone()
