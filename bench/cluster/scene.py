"""What the contests of a cluster are played with: a PostgreSQL, two clusters on it, the stage.

The clusters, one for each way by which workers reach the runs, are started when they are first
asked for. Knows how a sample is played at a database, not what is made of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from msgspec.structs import replace

from bench.cluster.cluster import WORKERS, Cluster, Manner, cluster
from bench.cluster.peers import together
from bench.cluster.plays import prepare
from bench.cluster.postgres import Postgres
from bench.contest import Entry, Sample, Side, by_command
from bench.stage import Stage

MANNERS: dict[str, Manner] = {"http": "HTTP", "db": "--db"}
LIMITS = (sys.executable, "-m", "bench.cluster.limits")


class Scene:
    """Clusters stay up until the stack ends."""

    def __init__(self, stack: ExitStack, stage: Stage, server: Postgres) -> None:
        self.stage = stage
        self.server = server
        self._stack = stack
        self._clusters: dict[str, Cluster] = {}

    def cluster(self, key: str) -> Cluster:
        if key not in self._clusters:
            place = self.server.database()
            one = self._stack.enter_context(cluster(place, MANNERS[key]))
            prepare(one)
            self._clusters[key] = one
        return self._clusters[key]

    def ours(
        self, workload: str, size: int, play: Callable[[Cluster, int], Sample]
    ) -> dict[str, Entry]:
        """An entry for each of the two clusters."""
        return {key: self._entry(key, workload, size, play) for key in MANNERS}

    def _entry(
        self, key: str, workload: str, size: int, play: Callable[[Cluster, int], Sample]
    ) -> Entry:
        one = self.cluster(key)
        side = Side(f"Anew, workers {MANNERS[key]}", is_ours=True)
        return self.stage.entry(side, workload, size, play=lambda entry: play(one, entry.size))

    def raw(self, clients: int, size: int) -> Entry:
        """Rows that several clients commit one by one."""
        side = Side(f"raw commits, {_counted(clients, 'client')}", LIMITS, is_ours=True)
        return self.stage.entry(side, str(clients), size, play=self._at_a_database)

    def peer(
        self,
        key: str,
        workload: str,
        size: int,
        *,
        processes: int = WORKERS,
        is_split: bool = False,
    ) -> Entry:
        """A peer's processes on a database of their own, begun together.

        `is_split` means that each does its part of the size; else the first makes all of the work.
        """
        side = self.stage.peer(key)
        what = "single jobs, " if workload == "jobs" else ""
        name = f"{side.name} ({what}{_counted(processes, 'process', 'es')})"
        named = replace(side, name=name)
        shares = [size // processes] * processes if is_split else [size, *[0] * (processes - 1)]

        def play(entry: Entry) -> Sample:
            return self._together(entry, shares)

        return self.stage.entry(named, workload, size, play=play)

    def _together(self, entry: Entry, shares: list[int]) -> Sample:
        sample = together(entry, self.server.database(), shares, meter=self.server.cpu_seconds)
        if "reason" in sample:
            return sample
        parts: list[dict[str, Any]] = sample["parts"]
        reasons = [part["reason"] for part in parts if "reason" in part]
        if reasons:
            return {"reason": reasons[0]}
        spent = sum(part.get("cpu_seconds", 0.0) for part in parts)
        return {**sample, "cpu": {"processes": spent, "PostgreSQL": sample["metered"]}}

    def _at_a_database(self, entry: Entry) -> Sample:
        return by_command(entry, self.server.database())


def _counted(number: int, noun: str, ending: str = "s") -> str:
    return f"{number} {noun}{ending if number > 1 else ''}"
