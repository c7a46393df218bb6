"""A DOT graph of many nodes, each answered by the simulate backend."""

from __future__ import annotations

from collections.abc import Iterator

from bench.contest import ANEW, Entry, contend
from bench.figures import Workload, compared
from bench.stage import Stage

NODES = 1_000
ATTRACTOR_RATIO = "≥ 2"


def nodes(stage: Stage) -> Iterator[Workload]:
    """The peer keeps nothing that it could go on from; we keep everything."""
    sizes = {"attractor": NODES}
    entries = {"anew": stage.entry(ANEW, "nodes", NODES), **stage.entries("nodes", sizes)}
    contend(entries.values())
    work = compared(
        "durable.nodes",
        f"DOT graph of {NODES:,} nodes, simulate backend, SQLite embedded",
        "nodes/s",
        entries=entries,
        values=Entry.rates,
    )
    yield work.alone().beside("attractor", ATTRACTOR_RATIO)
