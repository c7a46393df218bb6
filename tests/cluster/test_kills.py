"""Two servers, four workers, and each of them killed in turn while runs go on."""

from __future__ import annotations

from random import Random

import pytest

from tests.cluster.kit import Cluster
from tests.cluster.scenarios import MIX, Load, finish, start

SEEDS = range(3)
SERVERS = ("server-1", "server-2")
WORKERS = ("worker-1", "worker-2", "worker-3", "worker-4")


def begin(cluster: Cluster) -> None:
    """Workers of both kinds: at either server, and at the database itself."""
    for name in SERVERS:
        cluster.server(name, "--no-workers")
    for name, server in zip(WORKERS, ("server-1", "server-2", "server-1"), strict=False):
        cluster.worker(name, "--server", cluster.address(server), "--slots", "4")
    cluster.worker("worker-4", "--slots", "4")


def test_every_scenario_ends_as_it_should_when_nothing_breaks(cluster: Cluster) -> None:
    begin(cluster)
    for number, scenario in enumerate(MIX):
        start(cluster, scenario, number)
    finish(cluster)


@pytest.mark.parametrize("seed", SEEDS)
def test_runs_survive_the_kill_of_every_process_in_turn(cluster: Cluster, seed: int) -> None:
    begin(cluster)
    chance, load = Random(seed), Load(cluster, seed)
    for victim in chance.sample([*SERVERS, *WORKERS], len(SERVERS) + len(WORKERS)):
        load.start(4)
        load.go_on(chance.randint(1, 4))
        cluster.kill(victim)
        load.start(1)
        cluster.restart(victim)
    finish(cluster)


@pytest.mark.daily
def test_runs_survive_the_kill_of_all_workers_at_once(cluster: Cluster) -> None:
    begin(cluster)
    load = Load(cluster, 7)
    load.start(10)
    load.go_on(3)
    for name in WORKERS:
        cluster.kill(name)
    load.start(2)
    for name in WORKERS:
        cluster.restart(name)
    finish(cluster)


def test_runs_survive_the_kill_of_both_servers_at_once(cluster: Cluster) -> None:
    begin(cluster)
    load = Load(cluster, 8)
    load.start(10)
    load.go_on(3)
    for name in SERVERS:
        cluster.kill(name)
    for name in SERVERS:
        cluster.restart(name)
    load.start(2)
    finish(cluster)
