"""PostgreSQL dies and comes back, ends connections, and tells nobody: nothing is lost by it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.kit import Cluster
from tests.cluster.scenarios import Load, finish, held, release, start
from tests.cluster.spawning import Spawner
from tests.crash.scenarios import CHILD, LINEAR, LOOP, RETRIES
from tests.postgres_server import Database, OwnServer, own_server

RESTARTS = 3
TERMINATIONS = 4
# Ends the connections that wait for notices; a row for each.
LISTENERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND query ILIKE 'LISTEN%'
"""


@pytest.fixture(scope="module")
def lasting() -> Iterator[OwnServer]:
    """A PostgreSQL that keeps its promises: what it said is on disk outlives it."""
    with own_server(is_durable=True) as made:
        yield made


@pytest.fixture
def fragile(folder: Path, spawner: Spawner, lasting: OwnServer) -> Iterator[Cluster]:
    """A cluster on that server."""
    with lasting.database() as dsn:
        made = Cluster(folder, spawner, dsn=dsn)
        yield made
        made.close()


def begin(cluster: Cluster) -> None:
    for name in ("server-1", "server-2"):
        cluster.server(name, "--no-workers")
        place = ("--server", cluster.address(name))
        cluster.worker(f"worker-at-{name}", *place, "--slots", "4")
    cluster.worker("worker-3", "--slots", "4")


def test_nothing_is_lost_when_the_database_dies_and_comes_back(
    fragile: Cluster, lasting: OwnServer
) -> None:
    begin(fragile)
    load = Load(fragile, 1)
    for _ in range(RESTARTS):
        load.start(4)
        load.go_on(3)
        fragile.faults += 1
        lasting.restart(mode="immediate")
    load.start(2)
    finish(fragile)


def test_a_call_at_work_outlives_a_restart_of_the_database(
    fragile: Cluster, lasting: OwnServer
) -> None:
    """Its worker was never lost, so it is neither made again nor counted again."""
    begin(fragile)
    run = fragile.start(held(fragile, "long"), "long")
    fragile.until_seen(1)
    lasting.restart(mode="immediate")
    release(fragile, "long")
    fragile.until(run, "done")
    found = finish(fragile)
    assert not any(row["name"] == "step.redelivered" for row in found["logs"][run])
    assert len(fragile.effects()) == 2


@pytest.mark.daily
def test_connections_that_the_database_ends_are_made_again(
    cluster: Cluster, database: Database
) -> None:
    begin(cluster)
    load = Load(cluster, 2)
    for _ in range(TERMINATIONS):
        load.start(3)
        load.go_on(2)
        cluster.faults += 1
        assert database.terminate_backends() > 0
    finish(cluster)


def test_work_is_found_although_nobody_listens_any_more(
    cluster: Cluster, database: Database
) -> None:
    begin(cluster)
    cluster.soon(lambda: database.execute(LISTENERS), "someone to listen")
    load = Load(cluster, 3)
    for _ in range(TERMINATIONS):
        database.execute(LISTENERS)
        load.start(3)
        load.go_on(2)
    finish(cluster)


@pytest.mark.parametrize("way", ["server", "db"])
def test_work_is_found_behind_a_pooler_that_carries_no_notices(
    cluster: Cluster, database: Database, way: str
) -> None:
    pooler = {"ANEW_POSTGRES_POOLER": "transaction"}
    cluster.server("server-1", "--no-workers", **pooler)
    cluster.server("server-2", "--no-workers", **pooler)
    # Clients speak to the one, the worker to the other: nothing but the database joins them.
    place = ("--server", cluster.address("server-2")) if way == "server" else ("--db", cluster.url)
    cluster.worker("worker-1", *place, **pooler)
    cluster.soon(lambda: "ready" in cluster["worker-1"].said(), "the worker to be there")
    assert database.execute(LISTENERS) == []
    for scenario in (LINEAR, RETRIES, LOOP, CHILD):
        start(cluster, scenario, 1, server="server-1")
    finish(cluster)
