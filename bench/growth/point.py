"""One point of a curve, in a process of its own: what a transition costs at one size.

`python -m bench.growth.point WORKLOAD SIZE PLACE` prints one JSON object; PLACE is that of
`engine.Site`. What a transition is, and what its size counts, the workload says.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from time import process_time
from typing import TypeAlias

from msgspec import Struct, field

from anew.engine.events import Event
from anew.languages import load_text
from anew.store import RunId
from anew.values import Object
from bench.growth.documents import (
    LOOP,
    MANNERS,
    SEQUENTIAL,
    WRITING,
    carrying,
    chain,
    circle,
    records,
)
from bench.growth.engine import Site, engine_at, play

# So many transitions at least, however small the size is.
TRANSITIONS = 1_000
CARRYING_STEPS = 500
WRITING_STEPS = 100
SHORT_RUN_STEPS = 5
SHORT_RUNS = 400
LOADED_STEPS = 2_000


class Cost(Struct, frozen=True):
    """CPU time of so many transitions."""

    seconds: float
    transitions: int


class Meter(Struct):
    """Reads the CPU time at two commits of each run: what is between them is the cost.

    The commit that begins a run is the first; of a run of single tasks, each other ends a task.
    """

    first: int
    last: int
    commits: dict[RunId, int] = field(default_factory=dict)
    seconds: float = 0.0

    def hear(self, run: RunId, events: Sequence[Event]) -> None:
        del events
        number = self.commits[run] = self.commits.get(run, 0) + 1
        if number == self.first:
            self.seconds -= process_time()
        elif number == self.last:
            self.seconds += process_time()

    def cost(self) -> Cost:
        assert all(commits >= self.last for commits in self.commits.values())
        return Cost(self.seconds, len(self.commits) * (self.last - self.first))


Measure: TypeAlias = Callable[[int, Site], Awaitable[Cost]]


async def chained(size: int, site: Site) -> Cost:
    """Steps of runs of that length, each another step of the program."""
    return await _metered(site, chain(size), Meter(1, size + 1), runs=_times(size, TRANSITIONS))


async def circling(size: int, site: Site) -> Cost:
    """Visits of one step, so many in a run."""
    meter, workload = Meter(1, size + 1), {"rounds": size}
    return await _metered(site, circle(2), meter, runs=_times(size, TRANSITIONS), workload=workload)


async def program(size: int, site: Site) -> Cost:
    """Visits of one step, in a program of so many steps."""
    meter, workload = Meter(1, TRANSITIONS + 1), {"rounds": TRANSITIONS}
    return await _metered(site, circle(size), meter, workload=workload)


async def carried(size: int, site: Site, *, manner: str) -> Cost:
    """Steps of a run with so many bytes in its context, from the one after they came there."""
    steps = WRITING_STEPS if manner in WRITING else CARRYING_STEPS
    meter, workload = Meter(2, steps + 2), {"big": records(size)}
    return await _metered(site, carrying(manner, steps), meter, workload=workload)


async def loaded(size: int, site: Site) -> Cost:
    """Compiling a program of so many steps: a transition is a step of it."""
    del site
    text, times = chain(size), _times(size, LOADED_STEPS)
    load_text(text, "warm.yaml")
    before = process_time()
    for _ in range(times):
        load_text(text, "bench.yaml")
    return Cost(process_time() - before, size * times)


async def looped(size: int, site: Site, *, text: str) -> Cost:
    """Items of a loop, with all that begins and ends it."""
    document, workload = site.compiled(text), {"items": list(range(size))}
    async with engine_at(site) as engine:
        before = site.cpu_seconds()
        for _ in range(_times(size, TRANSITIONS)):
            await play(engine, document, workload=workload)
        return Cost(site.cpu_seconds() - before, _times(size, TRANSITIONS) * size)


async def beside(size: int, site: Site) -> Cost:
    """Steps of short runs that are asked for at once, where so many rows lie already."""
    del size
    return await _short_runs(SHORT_RUNS, site)


async def at_once(size: int, site: Site) -> Cost:
    """Steps of so many short runs that are asked for at once."""
    return await _short_runs(size, site, times=_times(size, SHORT_RUNS))


async def _short_runs(runs: int, site: Site, *, times: int = 1) -> Cost:
    """With the beginning and the end of each run: those touch the indexes that have grown."""
    document = site.compiled(chain(SHORT_RUN_STEPS))
    async with engine_at(site, works_on_all=True) as engine:
        before = site.cpu_seconds()
        for _ in range(times):
            await play(engine, document, runs=runs)
        return Cost(site.cpu_seconds() - before, times * runs * SHORT_RUN_STEPS)


WORKLOADS: dict[str, Measure] = {
    **{work.__name__: work for work in (chained, circling, program, loaded, beside, at_once)},
    **{manner: partial(carried, manner=manner) for manner in MANNERS},
    "parallel": partial(looped, text=LOOP),
    "sequential": partial(looped, text=SEQUENTIAL),
}


async def _metered(
    site: Site, text: str, meter: Meter, *, runs: int = 1, workload: Object | None = None
) -> Cost:
    document = site.compiled(text)
    async with engine_at(site) as engine:
        engine.listen(meter.hear)
        for _ in range(runs):
            await play(engine, document, workload=workload)
    return meter.cost()


def _times(size: int, least: int) -> int:
    return -(-least // size)


async def _cost(workload: str, size: int, site: Site) -> Cost:
    return await WORKLOADS[workload](size, site)


def main(words: Sequence[str]) -> None:
    workload, size, place = words
    cost = asyncio.run(_cost(workload, int(size), Site(place)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sample = {"cpu_us": 1e6 * cost.seconds / cost.transitions, "peak_mib": peak}
    print(json.dumps({**sample, "transitions": cost.transitions}))


if __name__ == "__main__":
    main(sys.argv[1:])
