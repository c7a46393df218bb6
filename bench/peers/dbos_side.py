"""DBOS doing the durable workloads: `dbos_side WORKLOAD SIZE PLACE [NUMBER]` prints JSON.

A folder is the place of a SQLite file with its own settings: a rollback journal, synchronous=FULL.
At a PostgreSQL address it is one of several processes, begun together. Steps and workflows as its
guide writes them; workflows started directly, without its queue (which polls once a second); plain
functions, which it runs faster than coroutines.
"""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module
from typing import Any

from bench.peers import killing
from bench.peers.measuring import (
    BACKOFF_SECONDS,
    FAILURES,
    RUN_STEPS,
    Attempts,
    Sample,
    is_address,
    one_by_one,
    play,
    timed,
    wait_for_word,
)

dbos: Any = import_module("dbos")
DBOS = dbos.DBOS

# Its pool has 20 connections; more steps at once fail when they have waited 30 s for one.
AT_ONCE = 20
KILLED = "killed"
FILE = "dbos.sqlite"

attempts = Attempts()
retried = {"retries_allowed": True, "max_attempts": FAILURES + 1, "backoff_rate": 1.0}


def _noop(number: int) -> int:
    return number


async def _noop_async(number: int) -> int:
    return number


# Two functions, because a step is known by its function's name.
def _fail_at_once(run: str) -> None:
    attempts.call(run)


def _fail_slowly(run: str) -> None:
    attempts.call(run)


def _note(folder: str, number: int) -> None:
    killing.step(folder, number)


noop, noop_async, note = (DBOS.step()(one) for one in (_noop, _noop_async, _note))
fail_at_once = DBOS.step(**retried, interval_seconds=0.0)(_fail_at_once)
fail_slowly = DBOS.step(**retried, interval_seconds=BACKOFF_SECONDS)(_fail_slowly)


def _chain(steps: int) -> None:
    for number in range(steps):
        noop(number)


async def _loop(items: int) -> None:
    for first in range(0, items, AT_ONCE):
        await asyncio.gather(*(noop_async(n) for n in range(first, min(first + AT_ONCE, items))))


def _flaky(run: str) -> None:
    fail_at_once(run)


def _slow(run: str) -> None:
    fail_slowly(run)


def _noted(folder: str, steps: int) -> None:
    for number in range(steps):
        note(folder, number)


chain, loop, flaky, slow, noted = (
    DBOS.workflow()(one) for one in (_chain, _loop, _flaky, _slow, _noted)
)


def steps(size: int, place: str) -> Sample:
    _warm(place)
    return timed(lambda: chain(size))


def runs(size: int, place: str) -> Sample:
    _warm(place)
    return timed(lambda: _together(chain, [RUN_STEPS] * size))


def latency(size: int, place: str) -> Sample:
    _warm(place)
    return one_by_one(lambda: chain(RUN_STEPS), size)


def items(size: int, place: str) -> Sample:
    _warm(place)
    return timed(lambda: asyncio.run(loop(size)))


def retries(size: int, place: str) -> Sample:
    _warm(place)
    started: list[Any] = []
    sample = timed(lambda: started.extend(_together(flaky, [f"run {n}" for n in range(size)])))
    kept = sum(len(DBOS.list_workflow_steps(one.get_workflow_id())) for one in started)
    return {**sample, "attempts_in_log": kept >= size * (FAILURES + 1)}


def backoff(size: int, place: str) -> Sample:
    _warm(place)
    _together(slow, [f"run {n}" for n in range(size)])
    return {"late_ms": attempts.late_ms()}


def cold(size: int, place: str) -> Sample:
    _launch(place)
    return timed(lambda: chain(size))


def resume(size: int, place: str) -> Sample:
    """A process that is started again goes on with what its executor had begun."""
    wait_for_word(place)
    sample = killing.resumed_side("bench.peers.dbos_side", size, place, "recovered")
    return {**sample, "is_automatic": True}


def begun(size: int, place: str) -> Sample:
    _launch(place)
    with dbos.SetWorkflowID(KILLED):
        noted(sys.argv[-1], size)
    return {}


def recovered(size: int, place: str) -> Sample:
    del size
    _launch(place)
    DBOS.retrieve_workflow(KILLED).get_result()
    return {}


def _together(workflow: Any, inputs: list[Any]) -> list[Any]:
    started = [DBOS.start_workflow(workflow, one) for one in inputs]
    for one in started:
        one.get_result()
    return started


def _warm(place: str) -> None:
    """The first workflow of a process is slower."""
    _launch(place)
    chain(RUN_STEPS)
    wait_for_word(place)


def _launch(place: str) -> None:
    DBOS(
        config={
            "name": "bench",
            "system_database_url": place if is_address(place) else f"sqlite:///{place}/{FILE}",
            "log_level": "CRITICAL",
            "application_version": "1",
            # By its number, so that none recovers another's workflows.
            "executor_id": sys.argv[4] if len(sys.argv) > 4 else "0",
        }
    )
    DBOS.launch()


WORKLOADS = {
    work.__name__: work
    for work in (steps, runs, latency, items, retries, backoff, cold, resume, begun, recovered)
}

if __name__ == "__main__":
    play(WORKLOADS, {}, file=FILE)
