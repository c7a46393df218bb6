"""Processes that are asked to stop, and runs that are cancelled: what follows does so at once.

Leases here last so long that nothing which waits for one to run out could end in time.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.auditing import outcomes
from tests.cluster.kit import Cluster
from tests.cluster.scenarios import QUICK, finish, held, release
from tests.cluster.spawning import Spawner
from tests.postgres_server import Database

# A heartbeat every 40 seconds, far beyond every wait of these tests.
LONG_LEASE_SECONDS = 120.0
SERVERS = ("server-1", "server-2")


@pytest.fixture
def cluster(folder: Path, spawner: Spawner, database: Database) -> Iterator[Cluster]:
    made = Cluster(folder, spawner, dsn=database.dsn, lease_seconds=LONG_LEASE_SECONDS)
    yield made
    made.close()


def begin(cluster: Cluster) -> None:
    for number, name in enumerate(SERVERS, start=1):
        cluster.server(name, "--no-workers")
        place = ("--server", cluster.address(name))
        cluster.worker(f"worker-{number}", *place, "--slots", "1")


def stop_twice(cluster: Cluster, name: str) -> None:
    """Asked once more, it waits no longer for the calls at work."""
    process = cluster[name]
    process.send(signal.SIGTERM)
    # Of two signals that come too close, the system delivers one.
    cluster.soon(lambda: "stopping" in process.err(), f"{name} to stop")
    process.send(signal.SIGTERM)


@pytest.mark.parametrize("way", ["server", "db"])
def test_a_worker_that_is_stopped_hands_back_what_it_has(cluster: Cluster, way: str) -> None:
    cluster.server("server-1", "--no-workers")
    place = ("--server", cluster.address("server-1")) if way == "server" else ("--db", cluster.url)
    run = cluster.start(held(cluster, "long"), "long")
    # Leased together with the first and not begun, because there is one slot.
    ahead = [cluster.start(QUICK, f"quick{n}") for n in range(3)]
    cluster.worker("leaving", *place, "--slots", "1")
    cluster.until_seen(1, by="leaving", run=run)
    cluster["leaving"].send(signal.SIGTERM)
    cluster.worker("staying", *place)
    for one in ahead:
        cluster.until(one, "done")
    # Asked once more, it waits no longer for the call at work.
    cluster["leaving"].send(signal.SIGTERM)
    cluster.until_seen(1, by="staying", run=run)
    ended = cluster["leaving"].wait()
    assert ended.status == 0, ended.err
    release(cluster, "long")
    found = finish(cluster)
    assert outcomes(found["logs"][run], "first") == [1]
    assert {row["by"] for row in cluster.effects() if str(row["run"]) in ahead} == {"staying"}


def test_a_server_that_is_stopped_ends_well_and_the_other_goes_on(cluster: Cluster) -> None:
    begin(cluster)
    run = cluster.start(held(cluster, "long"), "long")
    cluster.until_seen(1)
    cluster["server-1"].send(signal.SIGTERM)
    ended = cluster["server-1"].wait()
    assert ended.status == 0, ended.err
    release(cluster, "long")
    other = cluster.start(QUICK, "quick", server="server-2")
    cluster.until(other, "done")
    cluster.restart("server-1")
    cluster.until(run, "done")
    finish(cluster)


@pytest.mark.daily
def test_a_server_with_workers_hands_back_what_they_have(cluster: Cluster) -> None:
    cluster.server("server-1")
    run = cluster.start(held(cluster, "long"), "long")
    cluster.until_seen(1, by="server-1")
    cluster.server("server-2")
    stop_twice(cluster, "server-1")
    cluster.until_seen(1, by="server-2", run=run)
    assert cluster["server-1"].wait().status == 0
    release(cluster, "long")
    cluster.until(run, "done")
    finish(cluster)


@pytest.mark.parametrize("way", ["server", "db"])
def test_a_cancel_stops_a_call_wherever_it_is_at_work(cluster: Cluster, way: str) -> None:
    for name in SERVERS:
        cluster.server(name, "--no-workers")
    place = ("--server", cluster.address("server-2")) if way == "server" else ("--db", cluster.url)
    cluster.worker("worker-1", *place)
    run = cluster.start(held(cluster, "long"), "long", server="server-1")
    cluster.until_seen(1)
    answer = cluster.ask(f"/api/v1/runs/{run}/cancel", server="server-1", method="POST")
    assert answer.body["status"] == "cancelled", answer
    cluster.soon(lambda: cluster.effects("cancelled", by="worker-1"), "the call to be stopped")
    other = cluster.start(QUICK, "quick")
    cluster.until(other, "done")
    found = finish(cluster)
    assert found["shown"][run]["status"] == "cancelled"
