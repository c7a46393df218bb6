"""A worker is killed: whoever asks for the run is told which one, and when others get its work."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anew.runtime.databases import open_database
from tests.cluster.kit import Cluster
from tests.cluster.scenarios import finish, held, release
from tests.cluster.spawning import Spawner
from tests.postgres_server import Database

# A third of it passes between the end of a lease and the moment its job is handed out again.
LEASE_SECONDS = 6.0


@pytest.fixture
def cluster(folder: Path, spawner: Spawner, database: Database) -> Iterator[Cluster]:
    made = Cluster(folder, spawner, dsn=database.dsn, lease_seconds=LEASE_SECONDS)
    yield made
    made.close()


def told_jobs(cluster: Cluster) -> bool:
    """Whether a worker has said that it has a job."""

    async def look() -> bool:
        async with open_database(cluster.url, read_only=True) as database:
            return any(one.jobs for one in await database.roster.workers())

    return asyncio.run(look())


@pytest.mark.daily
def test_a_lost_worker_is_named_until_its_work_is_handed_out_again(cluster: Cluster) -> None:
    cluster.server("server-1", "--no-workers")
    lost = cluster.worker("worker-1")
    run = cluster.start(held(cluster, "long"), "long")
    cluster.until_seen(1)
    cluster.soon(lambda: told_jobs(cluster), "the worker to say what it has")
    cluster.kill("worker-1")

    def named() -> Any:
        return cluster.run(run).get("lost_workers")

    (found,) = cluster.soon(named, "the worker to be missed")
    assert (found["process"], found["steps"]) == (lost.pid, ["first"])
    assert found["seen_at"] < found["handed_out_at"]
    cluster.worker("worker-2")
    cluster.until_seen(2)
    assert "lost_workers" not in cluster.run(run)
    release(cluster, "long")
    cluster.until(run, "done")
    finish(cluster)
