"""One run whose items both workers do: every commit is for the same run."""

from __future__ import annotations

from collections.abc import Iterator

from bench.cluster.plays import loop_played
from bench.cluster.scene import MANNERS, Scene
from bench.contest import Entry, contend
from bench.figures import Workload, compared

ITEMS = 500


def loops(scene: Scene) -> Iterator[Workload]:
    entries = scene.ours("items", ITEMS, loop_played)
    contend(entries.values())
    work = compared(
        "cluster.loops",
        f"parallel loop of {ITEMS} items, PostgreSQL",
        "items/s",
        entries=entries,
        values=Entry.rates,
    )
    for key in MANNERS:
        work.of(key).alone()
    yield work
