"""Burr doing the durable workloads on its SQLite persister: `burr_side WORKLOAD SIZE FOLDER`.

A step is an action, and the persister writes a row with the whole state after each of them. The
file is as it opens it: a rollback journal, synchronous=FULL. An item of a map is an application of
its own with a row of its own. Nobody resumes a run but its caller.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import count
from typing import Any, cast

from bench.peers import killing
from bench.peers.measuring import RUN_STEPS, Sample, one_by_one, play, repeat, timed

# It imports pydantic where that is installed, and only its map needs it: all else starts faster
# without.
if sys.argv[1:2] != ["items"]:
    sys.modules["pydantic"] = cast(Any, None)

core: Any = import_module("burr.core")
persistence: Any = import_module("burr.core.persistence")

KILLED = "killed"
FILE = "burr.sqlite"
# The connections of a map wait for each other.
BUSY_SECONDS_MAX = 60.0

numbers = count()

REASONS = {
    "retries": "has no retries: an action that raises ends its run",
    "backoff": "has no retries: an action that raises ends its run",
}


def steps(size: int, place: str) -> Sample:
    persister = _persister(place)
    _run(persister, RUN_STEPS)
    return timed(lambda: _run(persister, size))


def runs(size: int, place: str) -> Sample:
    """One after the other: its connection belongs to one thread, and one is the fastest."""
    persister = _persister(place)
    _run(persister, RUN_STEPS)
    return timed(lambda: repeat(lambda: _run(persister, RUN_STEPS), size))


def latency(size: int, place: str) -> Sample:
    persister = _persister(place)
    _run(persister, RUN_STEPS)
    return one_by_one(lambda: _run(persister, RUN_STEPS), size)


def items(size: int, place: str) -> Sample:
    # Each item gets a copy of the persister, opened in one thread and used in another.
    shared = {"check_same_thread": False, "timeout": BUSY_SECONDS_MAX}
    persister = persistence.SQLitePersister(f"{place}/{FILE}", connect_kwargs=shared)
    persister.initialize()
    application = _for_each(persister, size)
    ended: list[Any] = []
    sample = timed(lambda: ended.extend(application.run(halt_after=["each"])))
    assert len(ended[-1]["results"]) == size
    return sample


def cold(size: int, place: str) -> Sample:
    return timed(lambda: _run(_persister(place), size))


def resume(size: int, place: str) -> Sample:
    """The same program twice: it loads the last state that was kept under its id."""
    sample = killing.resumed_side("bench.peers.burr_side", size, place)
    return {**sample, "is_automatic": False}


def begun(size: int, place: str) -> Sample:
    _run(_persister(place), size, lambda number: killing.step(sys.argv[-1], number), name=KILLED)
    return {}


def _run(
    persister: Any,
    steps: int,
    work: Callable[[int], None] = lambda _: None,
    *,
    name: str | None = None,
) -> None:
    def step(state: Any) -> Any:
        work(state["done"])
        return state.update(done=state["done"] + 1)

    def end(state: Any) -> Any:
        return state

    application = (
        core.ApplicationBuilder()
        .with_actions(
            step=core.action(reads=["done"], writes=["done"])(step),
            end=core.action(reads=[], writes=[])(end),
        )
        .with_transitions(
            ("step", "end", core.expr(f"done >= {steps}")), ("step", "step", core.default)
        )
        .initialize_from(
            persister,
            resume_at_next_action=True,
            default_state={"done": 0},
            default_entrypoint="step",
        )
        .with_state_persister(persister)
        .with_identifiers(app_id=name or f"run {next(numbers)}", partition_key="bench")
        .build()
    )
    application.run(halt_after=["end"])


def _for_each(persister: Any, size: int) -> Any:
    def work(state: Any) -> Any:
        return state.update(result=state["item"])

    class Each(import_module("burr.core.parallelism").MapStates):  # type: ignore[misc]
        reads, writes = ["items"], ["results"]

        def action(self, state: Any, inputs: Any) -> Any:
            del state, inputs
            return core.action(reads=["item"], writes=["result"])(work)

        def states(self, state: Any, context: Any, inputs: Any) -> Iterator[Any]:
            del context, inputs
            return (core.State({"item": item}) for item in state["items"])

        def reduce(self, state: Any, states: Iterable[Any]) -> Any:
            return state.update(results=[one["result"] for one in states])

    return (
        core.ApplicationBuilder()
        .with_actions(each=Each())
        .with_state(items=list(range(size)))
        .with_entrypoint("each")
        .with_state_persister(persister)
        .with_identifiers(app_id="map", partition_key="bench")
        .build()
    )


def _persister(place: str) -> Any:
    persister = persistence.SQLitePersister.from_values(f"{place}/{FILE}")
    persister.initialize()
    return persister


WORKLOADS = {work.__name__: work for work in (steps, runs, latency, items, cold, resume, begun)}

if __name__ == "__main__":
    play(WORKLOADS, REASONS, file=FILE)
