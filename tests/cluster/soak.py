"""Break a cluster at random for as long as asked: `python -m tests.cluster.soak [--seed N]`.

Prints how far it is, and the seed of whatever goes wrong; the same seed has the same intentions.
Every trial is a cluster of its own: two servers, four workers, faults one after the other, then
peace; everything must end, and the auditor must have nothing to say.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from uuid import uuid4

from psycopg.conninfo import make_conninfo

from tests.cluster.kit import Cluster, lose, through
from tests.cluster.proxy import Proxy
from tests.cluster.scenarios import ATTEMPTS, Load, wrong_ends
from tests.cluster.spawning import Spawner
from tests.crash.kit import small_folder
from tests.crash.scattered import told
from tests.postgres_server import server, terminate_backends

SOAK_SECONDS = 300.0
FAULTS = 12
RUNS_PER_FAULT = 4
CALLS_MAX = 5
STALL_SECONDS_MAX = 4.0
SKEWS_SECONDS = (0.0, 3600.0, -3600.0)
# Faults pile up behind each other's leases here, and nothing but time may be lost by it.
END_SECONDS_MAX = 60.0
SERVERS = ("server-1", "server-2")
WORKERS = ("worker-1", "worker-2", "worker-3", "worker-4")


class Trial:
    """A cluster, and the ways in which it is broken."""

    def __init__(self, cluster: Cluster, chance: Random) -> None:
        self.cluster = cluster
        self._chance = chance
        self._proxies: list[Proxy] = []
        self._http: set[Proxy] = set()

    def begin(self) -> None:
        cluster = self.cluster
        for name in SERVERS:
            cluster.server(name, "--no-workers", db=self._via(cluster.url))
        for number, name in enumerate(WORKERS[:3]):
            place = self._via(cluster.address(SERVERS[number % 2]))
            cluster.worker(name, "--server", place, "--slots", "4", skew=self._skew())
        place = self._via(cluster.url)
        cluster.worker(WORKERS[3], "--db", place, "--slots", "4", skew=self._skew())

    def _skew(self) -> float:
        return self._chance.choice(SKEWS_SECONDS)

    def _via(self, url: str) -> str:
        proxy = self.cluster.proxy(url)
        self._proxies.append(proxy)
        if url.startswith("http"):
            self._http.add(proxy)
        return through(proxy, url)

    def break_something(self) -> str:
        fault = self._chance.choice(FAULTS_KNOWN)
        self.cluster.faults += 1
        fault(self)
        return fault.__name__.strip("_")

    def _kill(self) -> None:
        name = self._chance.choice([*SERVERS, *WORKERS])
        self.cluster[name].kill()
        self.cluster.restart(name)

    def _stall(self) -> None:
        self.cluster.has_stalled = True
        name = self._chance.choice(WORKERS)
        self.cluster[name].freeze()
        time.sleep(self._chance.uniform(0, STALL_SECONDS_MAX))
        self.cluster[name].thaw()

    def _cut(self) -> None:
        self._chance.choice(self._proxies).cut_once()

    def _swallow(self) -> None:
        self.cluster.has_stalled = True
        proxy = self._chance.choice(self._proxies)
        proxy.blackhole(*self._chance.choice([("up",), ("down",), ("up", "down")]))
        time.sleep(self._chance.uniform(0, STALL_SECONDS_MAX))
        proxy.heal()

    def _end_connections(self) -> None:
        terminate_backends(self.cluster.url)

    def _lose_answers(self) -> None:
        proxy = self._chance.choice(self._proxies)
        lose(proxy, is_http=proxy in self._http, times=5)


FAULTS_KNOWN: tuple[Callable[[Trial], None], ...] = (
    Trial._kill,
    Trial._stall,
    Trial._cut,
    Trial._swallow,
    Trial._end_connections,
    Trial._lose_answers,
)


@contextmanager
def a_cluster(spawner: Spawner, folder: Path) -> Iterator[Cluster]:
    name = f"anew_soak_{uuid4().hex}"
    where = server()
    where.execute(f"CREATE DATABASE {name}")
    cluster = Cluster(folder, spawner, dsn=make_conninfo(where.dsn, dbname=name))
    try:
        yield cluster
    finally:
        cluster.close()
        where.execute(f"DROP DATABASE {name} WITH (FORCE)")


def trial(spawner: Spawner, seed: int, *, faults: int = FAULTS) -> list[str]:
    """What is wrong with a cluster that was broken as this seed says."""
    chance = Random(seed)
    with small_folder() as folder, a_cluster(spawner, folder) as cluster:
        done = Trial(cluster, chance)
        load, broken = Load(cluster, seed), []
        try:
            done.begin()
            for _ in range(faults):
                load.start(RUNS_PER_FAULT)
                load.go_on(chance.randint(1, CALLS_MAX))
                broken.append(done.break_something())
            cluster.until_all_ended(END_SECONDS_MAX)
        except AssertionError as error:
            logs = {row["run"]: cluster.events(row["run"]) for row in cluster.unfinished()}
            return [f"after {broken}: {error}", told({"logs": logs})]
        found = cluster.read()
        wrong = cluster.complaints(found, ATTEMPTS) + wrong_ends(found)
        return [f"after {broken}", told(found), *wrong] if wrong else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--first", type=int, default=int(time.time()), help="the first seed")
    asked = parser.parse_args()
    spawner = Spawner()
    try:
        if asked.seed is not None:
            return _report(asked.seed, trial(spawner, asked.seed))
        return _soak(spawner, asked.first)
    finally:
        spawner.close()


def _soak(spawner: Spawner, first: int) -> int:
    begun = time.monotonic()
    until = begun + float(os.environ.get("CLUSTER_SOAK_SECONDS", SOAK_SECONDS))
    seed = first
    while time.monotonic() < until:
        if _report(seed, trial(spawner, seed)):
            return 1
        seed += 1
        _say(f"{time.monotonic() - begun:5.0f} s  {seed - first} clusters, nothing wrong")
    return 0


def _report(seed: int, wrong: list[str]) -> int:
    for line in wrong:
        _say(line)
    if wrong:
        _say(f"again: python -m tests.cluster.soak --seed {seed}")
    return 1 if wrong else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
