"""Parallel loops of three sizes: their rate, and what an item costs in each of them."""

from __future__ import annotations

from collections.abc import Iterator

from bench.contest import ANEW, Entry, contend
from bench.figures import Workload, compared, figure, holds, rounded
from bench.stage import Stage

SIZES = (500, 5_000, 50_000)
COMPARED = 5_000
# More than a few hundred items at once fail there, or take minutes.
PEER_ITEMS = {"dbos": 100, "burr": 200, "noetl": 3, "attractor": 3}
# These are asked for as many items as we are, and stopped after a while.
CUT_SECONDS = 18.0

CUT_RATIO = "≥ 20"
GROWTH = "≤ 1.3"


def loops(stage: Stage) -> Iterator[Workload]:
    ours = {size: stage.entry(ANEW, "items", size) for size in SIZES}
    cut = {
        key: stage.entry(key, "items", COMPARED, seconds_max=CUT_SECONDS, is_cut=True)
        for key in ("langgraph", "restate")
    }
    others = cut | stage.entries("items", PEER_ITEMS)
    contend([*ours.values(), *others.values()])
    for size, entry in ours.items():
        named = {"anew": entry} | (others if size == COMPARED else {})
        work = compared(
            f"durable.loops-{size}",
            f"parallel loop of {size:,} items, SQLite embedded",
            "items/s",
            entries=named,
            values=Entry.rates,
        ).alone()
        if size == COMPARED:
            work.beside("langgraph", CUT_RATIO).beside("restate", CUT_RATIO)
            work.beside_each(" ".join(PEER_ITEMS))
        yield work
    yield _costs(ours)
    many = ours[SIZES[-1]]
    memory = {"anew": figure(many, many.values("peak_mib"))}
    title = f"peak memory, loop of {many.size:,} items"
    yield Workload("durable.loops-memory", title, "MiB", memory).alone()


def _costs(ours: dict[int, Entry]) -> Workload:
    """What an item costs may not depend on how many there are."""
    figures = {}
    for size, entry in ours.items():
        cpu = [1e6 * seconds / size for seconds in entry.values("cpu_seconds")]
        figures[str(size)] = figure(entry, cpu, f"Anew, {size:,} items")
    work = Workload("durable.loops-cost", "CPU time of an item, the three sizes", "µs", figures)
    middles = [one.middle() for one in figures.values()]
    grown = max(middles) / min(middles)
    told = ", ".join(f"{one.side}: {rounded(one.middle()):g} µs" for one in figures.values())
    work.alone()
    work.rows[-1] |= {
        "peer": told,
        "ratio": rounded(grown),
        "target": f"largest / smallest {GROWTH}",
        "met": holds(GROWTH, grown),
    }
    return work
