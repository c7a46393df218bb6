"""Which curves there are: what grows, at which sizes, how often, and why one is not flat.

A table; nothing here measures. A reason is what a profile showed, and is told only where figures
say that the curve is not flat.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

Store: TypeAlias = Literal["SQLite", "PostgreSQL"]

ROUNDS = 5
# For `large`: every size is cheap enough to be measured in each round.
ALWAYS = 1 << 62

LENGTHS = (10, 100, 1_000, 10_000, 100_000)
# A document has 1 MiB at most, which is about so many steps.
CHAINS = (10, 100, 1_000, 10_000, 20_000)
ITEMS = (100, 1_000, 10_000, 100_000, 1_000_000)
ROWS = (0, 1_000, 10_000, 100_000, 1_000_000)
BYTES = (1_000, 10_000, 100_000, 1_000_000)
STEPS = (1, 10, 100, 1_000)

WRITTEN = (
    "grows with the value, because the value is what each step writes: it is weighed, encoded and "
    "hashed again (most of it is the weighing, `anew/weight.py`), though stored only once"
)
KEPT = (
    "every thousand events the whole state is kept as a snapshot, the context with it: what grows "
    "is the share of that in each step, not the step itself"
)
MANY_RUNS = (
    "more runs than are kept in memory (`LIVE_RUNS_MAX`) are read again when their turn comes, and "
    "each run that somebody waits for is looked at once a second; the rest is the garbage collector"
)


class Curve(Struct, frozen=True):
    """What grows, and the workload of `point.py` that tells what it costs.

    `filled`: rows of this kind (`filling.py`) lie in the database, as many as the size says. Sizes
    from `large` on are measured once. `unit` is of the costs.
    """

    name: str
    title: str
    x_label: str
    workload: str
    sizes: tuple[int, ...]
    large: int = ALWAYS
    store: Store = "SQLite"
    filled: str | None = None
    rounds: int = ROUNDS
    unit: str = "µs of CPU a step"
    reason: str = ""

    def rounds_of(self, size: int) -> int:
        return 1 if size >= self.large else self.rounds


CURVES: tuple[Curve, ...] = (
    Curve("chain", "run length, each step once", "steps of the run", "chained", CHAINS, 10_000),
    Curve("circle", "run length, one step again", "visits in the run", "circling", LENGTHS, 10_000),
    Curve(
        *("loop", "parallel loop", "items", "parallel", ITEMS, 100_000),
        unit="µs of CPU an item",
    ),
    Curve(
        *("sequence", "sequential loop", "items", "sequential", ITEMS[:-1], 100_000),
        unit="µs of CPU an item",
    ),
    Curve(
        *("finished", "finished runs, SQLite", "finished runs", "beside", ROWS),
        filled="finished",
    ),
    Curve(
        *("waiting", "waiting jobs, SQLite", "waiting jobs", "beside", ROWS),
        filled="waiting",
    ),
    Curve(
        *("pg-finished", "finished runs, PostgreSQL", "finished runs", "beside", ROWS),
        store="PostgreSQL",
        filled="finished",
        rounds=3,
    ),
    Curve(
        *("pg-waiting", "waiting jobs, PostgreSQL", "waiting jobs", "beside", ROWS),
        store="PostgreSQL",
        filled="waiting",
        rounds=3,
    ),
    Curve(
        *("runs", "runs at once", "runs", "at_once", (10, 100, 1_000, 10_000), 10_000),
        reason=MANY_RUNS,
    ),
    Curve(
        *("carried", "context that no step reads", "bytes", "carried", BYTES),
        reason=KEPT,
    ),
    Curve(
        *("read", "context that each step reads", "bytes", "read", BYTES),
        reason=KEPT,
    ),
    Curve(
        *("changed", "large context while each step writes", "bytes", "changed", BYTES),
        reason=KEPT,
    ),
    Curve(
        *("passed", "context that each call is given", "bytes", "passed", BYTES),
        rounds=3,
        reason=WRITTEN,
    ),
    Curve(
        *("rewritten", "context that each step writes", "bytes", "rewritten", BYTES),
        rounds=3,
        reason=WRITTEN,
    ),
    Curve("program", "steps of the program", "steps", "program", STEPS),
    Curve(
        *("loading", "compiling a program", "steps", "loaded", STEPS),
        unit="µs of CPU a step of the document",
    ),
)
