"""Restate doing the durable workloads: `restate_side WORKLOAD SIZE FOLDER` prints JSON.

Starts its server, as it comes, and one process of the application, both on the loopback and with
free ports, asks for runs as clients do, and ends both. All of its files are in the folder.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from itertools import pairwise
from pathlib import Path
from threading import local
from time import process_time
from typing import Any, NamedTuple

from bench.asking import answers
from bench.peers import killing
from bench.peers.measuring import (
    BACKOFF_SECONDS,
    FAILURES,
    RUN_STEPS,
    Sample,
    one_by_one,
    play,
    say_begun,
    timed,
)
from bench.peers.serving import (
    NotServing,
    cpu_seconds,
    free_ports,
    running,
    wait_for_answer,
    wait_for_port,
)

CLIENTS = 32
WARM_RUNS = 100
ANSWER_SECONDS_MAX = 300.0
FAILURES_KEPT = (
    "SELECT count(*) AS kept FROM sys_journal_events WHERE event_type = 'TransientError'"
)

REASONS = {"cold": "is a server, which runs before anything is asked of it"}

threads = local()


class Refused(Exception):
    """Its answer was not what was asked for."""


class Restate(NamedTuple):
    """A server that runs, and where its application is to be."""

    folder: str
    ingress: int
    admin: int
    application: int
    server: subprocess.Popen[bytes]

    def call(self, handler: str, argument: object) -> Any:
        """The answer, when the run has ended."""
        return ask(self.ingress, f"/bench/{handler}", argument)

    def together(self, handler: str, arguments: Sequence[object], clients: int) -> list[Any]:
        with ThreadPoolExecutor(clients) as pool:
            return list(pool.map(lambda argument: self.call(handler, argument), arguments))

    def start(self) -> subprocess.Popen[bytes]:
        """The application, in a new process that listens."""
        words = ["bench.peers.restate_app", str(self.application), self.folder]
        process = killing.command([sys.executable, "-m", *words], self.folder)()
        try:
            wait_for_port(process, self.application)
        except NotServing:
            process.kill()
            raise
        return process

    def register(self) -> None:
        ask(self.admin, "/deployments", {"uri": f"http://127.0.0.1:{self.application}"})


def steps(size: int, place: str) -> Sample:
    with working(place) as (restate, cpu):
        return timed(lambda: restate.call("chain", size), cpu)


def runs(size: int, place: str) -> Sample:
    with working(place) as (restate, cpu):
        asked = {"number": size, "connections": CLIENTS}
        body = str(RUN_STEPS).encode()
        return timed(lambda: answers(restate.ingress, "/bench/chain", body, **asked), cpu)


def latency(size: int, place: str) -> Sample:
    with working(place) as (restate, _):
        return one_by_one(lambda: restate.call("chain", RUN_STEPS), size)


def items(size: int, place: str) -> Sample:
    with working(place) as (restate, cpu):
        say_begun()
        return timed(lambda: restate.call("loop", size), cpu)


def retries(size: int, place: str) -> Sample:
    names = [f"run {number}" for number in range(size)]
    with working(place) as (restate, cpu):
        sample = timed(lambda: restate.together("flaky", names, CLIENTS), cpu)
        kept = ask(restate.admin, "/query", {"query": FAILURES_KEPT})["rows"][0]["kept"]
        return {**sample, "attempts_in_log": kept >= size * FAILURES}


def backoff(size: int, place: str) -> Sample:
    names = [f"run {number}" for number in range(size)]
    with working(place) as (restate, _):
        called_at = restate.together("slow", names, size)
    waits = [later - earlier for calls in called_at for earlier, later in pairwise(calls)]
    return {"late_ms": [(wait - BACKOFF_SECONDS) * 1000 for wait in waits]}


def resume(size: int, place: str) -> Sample:
    """The application is killed and started again; the server goes on with the run by itself."""
    with serving(place) as restate:

        def begin() -> subprocess.Popen[bytes]:
            process = restate.start()
            restate.register()
            ask(restate.ingress, "/bench/noted/send", size)
            return process

        return {**killing.resumed(begin, restate.start, size, place), "is_automatic": True}


@contextmanager
def working(place: str) -> Iterator[tuple[Restate, Any]]:
    """A warm server and its application; and what tells the CPU time of both and of the clients."""
    with serving(place) as restate, ExitStack() as stack:
        application = restate.start()
        stack.callback(application.wait)
        stack.callback(application.kill)
        restate.register()
        # Its partitions are slow the first time.
        restate.together("chain", [RUN_STEPS] * WARM_RUNS, CLIENTS)
        pids = (restate.server.pid, application.pid)
        yield restate, lambda: process_time() + sum(map(cpu_seconds, pids))


@contextmanager
def serving(place: str) -> Iterator[Restate]:
    fabric, ingress, admin, application = free_ports(4)
    setting = {
        "RESTATE_BASE_DIR": f"{place}/restate",
        "RESTATE_NODE_NAME": "bench",
        "RESTATE_LISTEN_MODE": "tcp",
        "RESTATE_BIND_IP": "127.0.0.1",
        "RESTATE_BIND_ADDRESS": f"127.0.0.1:{fabric}",
        "RESTATE_INGRESS__BIND_ADDRESS": f"127.0.0.1:{ingress}",
        "RESTATE_ADMIN__BIND_ADDRESS": f"127.0.0.1:{admin}",
        "RESTATE_DISABLE_TELEMETRY": "true",
        "RESTATE_LOG_FILTER": "error",
    }
    with running([program(), "--no-logo"], place, setting) as server:
        wait_for_answer(server, ingress, "/restate/health")
        wait_for_answer(server, admin, "/health")
        yield Restate(place, ingress, admin, application, server)


def program() -> str:
    """From the package for this kind of machine, in this environment."""
    packages = Path(sys.prefix) / "node_modules" / "@restatedev"
    for found in packages.glob("restate-server-*/bin/restate-server"):
        return str(found)
    raise NotServing("its package has no program for this kind of machine")


def ask(port: int, path: str, body: object) -> Any:
    """A connection for each thread and port, kept open."""
    kept = threads.__dict__.setdefault(
        str(port), HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS_MAX)
    )
    headers = {"content-type": "application/json", "accept": "application/json"}
    kept.request("POST", path, json.dumps(body), headers)
    response = kept.getresponse()
    said = response.read()
    if response.status >= 400:
        raise Refused(f"{path} answered {response.status}: {said[:200]!r}")
    return json.loads(said)


WORKLOADS = {
    work.__name__: work for work in (steps, runs, latency, items, retries, backoff, resume)
}

if __name__ == "__main__":
    play(WORKLOADS, REASONS)
