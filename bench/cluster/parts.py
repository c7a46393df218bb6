"""The contests on PostgreSQL, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack

from bench.cluster.long_run import limits, steps
from bench.cluster.loops import loops
from bench.cluster.postgres import postgres
from bench.cluster.scene import Scene
from bench.cluster.short_runs import runs
from bench.cluster.timers import backoff, starts
from bench.cluster.waiting import waiting
from bench.contest import say
from bench.figures import Workload
from bench.stage import Stage

# Waiting is last, and without the clusters of the others beside it.
PARTS: Mapping[str, Callable[[Scene], Iterator[Workload]]] = {
    part.__name__: part for part in (limits, steps, runs, starts, backoff, loops, waiting)
}


def measure(names: Sequence[str], rounds: int) -> Iterator[Workload]:
    """These parts, one after the other, on one PostgreSQL."""
    with postgres() as server, ExitStack() as peers:
        stage = Stage(peers, rounds)
        for together in (
            [n for n in names if n != "waiting"],
            [n for n in names if n == "waiting"],
        ):
            with ExitStack() as clusters:
                scene = Scene(clusters, stage, server)
                for name in together:
                    say(f"cluster: {name}")
                    yield from PARTS[name](scene)
