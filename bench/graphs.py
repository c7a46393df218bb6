"""Whether loading and checking a DOT graph grows with its size and no faster.

Each shape stresses something else: long ways, wide forks, many cycles, long failure routes. The
ratio is the cost of a node in the large graph to that in the small one.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator

from anew.languages import load_text
from bench.figures import Row, row

SMALL, LARGE = 1_000, 10_000
ROUNDS = 5
RATIO_MAX = 1.5
# The largest of these graphs is past the default of a document.
_ROOM = {"ANEW_DOCUMENT_BYTES_MAX": str(64 * 1024 * 1024)}


def measure() -> list[Row]:
    """One row per shape."""
    before = {key: os.environ.get(key) for key in _ROOM}
    os.environ.update(_ROOM)
    try:
        return [_row(name, shape) for name, shape in SHAPES.items()]
    finally:
        for key, value in before.items():
            os.environ.pop(key, None)
            if value is not None:
                os.environ[key] = value


def _row(name: str, shape: Callable[[int], Iterator[str]]) -> Row:
    small, large = _seconds(shape, SMALL), _seconds(shape, LARGE)
    ratio = (statistics.median(large) / LARGE) / (statistics.median(small) / SMALL)
    return row(
        f"graphs: load and check {LARGE:,} nodes, {name}",
        large,
        "s",
        peer=f"a node among {SMALL:,}",
        ratio=round(ratio, 2),
        target=f"ratio ≤ {RATIO_MAX:g}",
        met=ratio <= RATIO_MAX,
    )


def _seconds(shape: Callable[[int], Iterator[str]], nodes: int) -> list[float]:
    text = "\n".join(["digraph g {", "s [shape=ellipse]", "x [shape=ellipse]", *shape(nodes), "}"])
    taken = []
    for _ in range(ROUNDS):
        before = time.process_time()
        loaded = load_text(text, "graph.dot")
        taken.append(time.process_time() - before)
        assert loaded.program is not None, loaded.findings[:3]
    return taken


def _chain(nodes: int) -> Iterator[str]:
    for n in range(nodes):
        yield f'n{n} [goal="step {n}" max_retries=2]'
        yield f"n{n - 1} -> n{n}" if n else "s -> n0"
    yield f"n{nodes - 1} -> x"


def _cycles(nodes: int) -> Iterator[str]:
    for n in range(nodes):
        yield f'n{n} [goal="step {n}" retry_target=n{max(n - 1, 0)}]'
        back = f"n{n} -> n{n // 2} [condition=\"status == 'FAILURE'\"]"
        yield from (f"n{n - 1} -> n{n}" if n else "s -> n0", back)
    yield f"n{nodes - 1} -> x"


def _wide(nodes: int) -> Iterator[str]:
    yield from ("f [shape=hexagon]", "j [shape=invhouse]", "s -> f", "j -> x")
    for n in range(nodes):
        yield from (f'n{n} [goal="branch {n}"]', f"f -> n{n}", f"n{n} -> j")


def _forks(nodes: int) -> Iterator[str]:
    """Many small forks, one after the other."""
    last = "s"
    for n in range(nodes // 4):
        yield f"f{n} [shape=hexagon] j{n} [shape=invhouse] a{n} [goal=a] b{n} [goal=b]"
        yield f"{last} -> f{n}; f{n} -> a{n} -> j{n}; f{n} -> b{n} -> j{n}"
        last = f"j{n}"
    yield f"{last} -> x"


def _gates(nodes: int) -> Iterator[str]:
    for n in range(nodes):
        yield f'n{n} [goal="step {n}" goal_gate=true max_retries=1]'
        yield f"n{n - 1} -> n{n}" if n else "s -> n0"
    yield f"n{nodes - 1} -> x"


SHAPES: dict[str, Callable[[int], Iterator[str]]] = {
    "one chain": _chain,
    "a cycle at every node": _cycles,
    "one wide fork": _wide,
    "many forks in a row": _forks,
    "every node a gate": _gates,
}
