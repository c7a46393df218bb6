"""A server on a database file: its workers on the same machine keep what holds on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.kit import Cluster
from tests.cluster.scenarios import QUICK, Load, finish, held, release
from tests.cluster.spawning import Spawner

WORKERS = ("worker-1", "worker-2")


@pytest.fixture
def cluster(folder: Path, spawner: Spawner) -> Iterator[Cluster]:
    made = Cluster(folder, spawner, dsn=str(folder / "anew.db"))
    yield made
    made.close()


def begin(cluster: Cluster, *words: str) -> None:
    cluster.server("server-1", *words)
    for name in WORKERS:
        cluster.worker(name, "--server", cluster.address("server-1"), "--slots", "4")


@pytest.mark.parametrize("words", [(), ("--no-workers",)], ids=["working", "serving only"])
def test_runs_survive_the_kill_of_every_process_on_one_machine(
    cluster: Cluster, words: tuple[str, ...]
) -> None:
    begin(cluster, *words)
    load = Load(cluster, 1)
    for victim in ("worker-1", "server-1", "worker-2"):
        load.start(4)
        load.go_on(3)
        cluster.kill(victim)
        cluster.restart(victim)
    finish(cluster)


@pytest.mark.daily
def test_another_worker_goes_on_for_one_that_was_killed(cluster: Cluster) -> None:
    begin(cluster, "--no-workers")
    run = cluster.start(held(cluster, "long"), "long")
    (first,) = cluster.until_seen(1)
    cluster.kill(first["by"])
    (other,) = {*WORKERS} - {first["by"]}
    cluster.until_seen(1, by=other, run=run)
    release(cluster, "long")
    cluster.until(run, "done")
    finish(cluster)


def test_a_server_that_works_and_its_workers_share_a_run(cluster: Cluster) -> None:
    begin(cluster, "--slots", "4")
    load = Load(cluster, 2)
    load.start(12)
    runs = [cluster.start(QUICK, f"quick-{n}") for n in range(12)]
    found = finish(cluster)
    assert {found["shown"][run]["status"] for run in runs} == {"done"}
    names = [row["name"] for log in found["logs"].values() for row in log]
    assert "step.redelivered" not in names
