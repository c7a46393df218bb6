"""A run on PostgreSQL is forked through one server while workers of another go on with it."""

from __future__ import annotations

import pytest

from tests.cluster.kit import Cluster
from tests.cluster.scenarios import finish, held, release


@pytest.mark.daily
def test_a_run_at_work_is_moved_through_a_server(cluster: Cluster) -> None:
    cluster.server("server-1", "--no-workers")
    cluster.worker("worker-1", "--server", cluster.address("server-1"), "--slots", "4")
    run = cluster.start(held(cluster, "long"), "long")
    cluster.until_seen(1)
    path = f"/api/v1/runs/{run}/fork"
    answer = cluster.ask(path, method="POST", body={"cancel": True, "key": "moved"})
    assert answer.status == 201
    new = answer.body["run"]
    cluster.until(run, "cancelled")
    cluster.until_seen(1, run=new)
    release(cluster, "long")
    cluster.until(new, "done")
    assert (
        cluster.ask(path, method="POST", body={"cancel": True, "key": "moved"}).body["run"] == new
    )
    finish(cluster)
