"""The contests on SQLite, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack

from bench.contest import say
from bench.durable.code import code
from bench.durable.long_run import limits, steps
from bench.durable.loops import loops
from bench.durable.nodes import nodes
from bench.durable.processes import cold, recovery, resume
from bench.durable.retries import backoff, retries
from bench.durable.short_runs import latency, runs
from bench.figures import Workload
from bench.stage import Stage

PARTS: Mapping[str, Callable[[Stage], Iterator[Workload]]] = {
    part.__name__: part
    for part in (
        limits,
        steps,
        runs,
        latency,
        loops,
        retries,
        backoff,
        cold,
        resume,
        recovery,
        nodes,
        code,
    )
}


def measure(names: Sequence[str], rounds: int) -> Iterator[Workload]:
    """These parts, one after the other."""
    with ExitStack() as stack:
        stage = Stage(stack, rounds)
        for name in names:
            say(f"durable: {name}")
            yield from PARTS[name](stage)
