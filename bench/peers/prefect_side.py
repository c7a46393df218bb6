"""Prefect doing the durable workloads: `prefect_side [SERVER] WORKLOAD SIZE FOLDER` prints JSON.

Its own server on SQLite, and flows whose tasks are called in this process. The server takes long to
start: `server 0 FOLDER` starts one, prints its address and stops it when the input ends, and that
address before the workload is the server to use. Without one, each sample starts its own. Tasks do
not wait until the server has written their states, and CPU time is that of this process alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.peers.measuring import RUN_STEPS, Sample, one_by_one, play, timed
from bench.peers.serving import free_ports, running, wait_for_answer

FLOWS_AT_ONCE = 4
SETTING = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
}

TOO_SLOW = "not measured: a run takes it a second"
REASONS = {
    "items": TOO_SLOW,
    "retries": TOO_SLOW,
    "backoff": TOO_SLOW,
    "cold": "is a server, which takes many seconds to start",
    "resume": "not measured: it keeps no step before the next starts",
}


def steps(size: int, place: str) -> Sample:
    with flow(place) as chain:
        return timed(lambda: chain(size))


def runs(size: int, place: str) -> Sample:
    with flow(place) as chain, ThreadPoolExecutor(FLOWS_AT_ONCE) as pool:
        return timed(lambda: list(pool.map(lambda _: chain(RUN_STEPS), range(size))))


def latency(size: int, place: str) -> Sample:
    with flow(place) as chain:
        return one_by_one(lambda: chain(RUN_STEPS), size)


def server(size: int, place: str) -> Sample:
    del size
    with serving(place) as address:
        print(address, flush=True)
        sys.stdin.read()
    return {}


@contextmanager
def flow(place: str) -> Iterator[Callable[[int], None]]:
    """Calls a flow of so many tasks, once it has been called."""
    with serving(place) as address:
        os.environ.update(SETTING, PREFECT_HOME=place, PREFECT_API_URL=address)
        prefect: Any = import_module("prefect")

        @prefect.task  # type: ignore[untyped-decorator]
        def noop(number: int) -> int:
            return number

        @prefect.flow  # type: ignore[untyped-decorator]
        def chain(tasks: int) -> None:
            for number in range(tasks):
                noop(number)

        chain(RUN_STEPS)
        yield chain


@contextmanager
def serving(place: str) -> Iterator[str]:
    """The address of the server that was told, or of one that is started for this."""
    if told:
        yield told[0]
        return
    (port,) = free_ports(1)
    program = str(Path(sys.executable).parent / "prefect")
    words = [program, "server", "start", "--host", "127.0.0.1", "--port", str(port), "--no-ui"]
    with running(words, place, SETTING | {"PREFECT_HOME": place}) as process:
        wait_for_answer(process, port, "/api/health")
        yield f"http://127.0.0.1:{port}/api"


told = [sys.argv.pop(1)] if sys.argv[1:] and sys.argv[1].startswith("http:") else []

if __name__ == "__main__":
    play({work.__name__: work for work in (steps, runs, latency, server)}, REASONS)
