"""py-attractor doing what it can: `attractor_side WORKLOAD SIZE FOLDER` prints JSON.

Graphs with its simulation backend, as its own command runs them. It writes a file of all that is
done after each node, flushes nothing, and never reads that file: a run that was killed begins
again. What it lacks is asked for and counted, so that a version that has it is seen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from itertools import count, pairwise
from pathlib import Path
from typing import Any

from bench.peers import killing
from bench.peers.measuring import RUN_STEPS, Attempts, Sample, one_by_one, play, repeat, timed

attractor: Any = import_module("attractor")
handlers: Any = import_module("attractor.handlers")
models: Any = import_module("attractor.models")

BRANCHES = 3

HEAD = """digraph bench {
    graph [goal="none"]
    start [shape=Mdiamond]
    exit [shape=Msquare]
"""

numbers = count()


def nodes(size: int, place: str) -> Sample:
    graph = _chain(size, place)
    _run(_chain(RUN_STEPS, place), place)
    return timed(lambda: _run(graph, place))


def runs(size: int, place: str) -> Sample:
    """One after the other: it has nothing that runs several, and threads are slower."""
    graph = _chain(RUN_STEPS, place)
    _run(graph, place)
    return timed(lambda: repeat(lambda: _run(graph, place), size))


def latency(size: int, place: str) -> Sample:
    graph = _chain(RUN_STEPS, place)
    _run(graph, place)
    return one_by_one(lambda: _run(graph, place), size)


def cold(size: int, place: str) -> Sample:
    return timed(lambda: _run(_chain(size, place), place))


def items(size: int, place: str) -> Sample:
    """Branches are written down in the graph: there is nothing that makes them from data."""
    del size
    names = [f"branch{number}" for number in range(BRANCHES)]
    lines = [f"fan -> {name}\n{name} -> join\n" for name in names]
    shapes = "fan [shape=component]\njoin [shape=tripleoctagon]\nstart -> fan\njoin -> exit\n"
    called: list[str] = []
    _run(_graph(shapes + "".join(lines), place), place, called.append)
    return {"reason": f"does not execute parallel branches: of {BRANCHES} it called {len(called)}"}


def retries(size: int, place: str) -> Sample:
    del size
    attempts = Attempts()

    def work(node: str) -> None:
        if node == "n0":
            attempts.call(node)

    _run(_chain(1, place, "max_retries=5"), place, work)
    waits = [f"{later - earlier:.1f} s" for earlier, later in pairwise(attempts.called_at["n0"])]
    return {"reason": f"its delays cannot be chosen: retries came after {' and '.join(waits)}"}


def resume(size: int, place: str) -> Sample:
    again = killing.resumed_side("bench.peers.attractor_side", size, place).get("again", "no")
    return {"reason": f"does not resume: started again, it did {again} of {size} steps twice"}


def begun(size: int, place: str) -> Sample:
    def work(node: str) -> None:
        if node.startswith("n"):
            killing.step(sys.argv[-1], int(node[1:]))

    _run(_chain(size, place), place, work)
    return {}


def _run(graph: Any, place: str, work: Callable[[str], None] | None = None) -> None:
    """With `work`, a handler that calls it with the node's name does what the simulation would."""
    registry = None if work is None else _registry(work)
    logs = f"{place}/run{next(numbers)}"
    ended = attractor.run_pipeline(graph, handler_registry=registry, logs_root=logs)
    assert ended.status == models.StageStatus.SUCCESS, ended


def _registry(work: Callable[[str], None]) -> Any:
    class Work(handlers.Handler):  # type: ignore[misc]
        def execute(self, node: Any, context: Any, graph: Any, logs_root: str) -> Any:
            del context, graph, logs_root
            work(node.id)
            return models.Outcome(status=models.StageStatus.SUCCESS)

    registry = handlers.HandlerRegistry()
    registry.set_default(Work())
    return registry


def _chain(size: int, place: str, attributes: str = 'prompt="nothing"') -> Any:
    names = ["start", *(f"n{number}" for number in range(size)), "exit"]
    declared = "".join(f"{name} [{attributes}]\n" for name in names[1:-1])
    arcs = "".join(f"{one} -> {to}\n" for one, to in pairwise(names))
    return _graph(declared + arcs, place)


def _graph(body: str, place: str) -> Any:
    file = Path(place) / f"graph{next(numbers)}.dot"
    file.write_text(HEAD + body + "}\n", encoding="utf-8")
    return attractor.parse_dot(str(file))


WORKLOADS = {
    "nodes": nodes,
    "steps": nodes,
    "runs": runs,
    "latency": latency,
    "items": items,
    "retries": retries,
    "backoff": retries,
    "cold": cold,
    "resume": resume,
    "begun": begun,
}

if __name__ == "__main__":
    play(WORKLOADS, {})
