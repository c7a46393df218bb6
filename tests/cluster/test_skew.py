"""Machines whose clocks are wrong: what counts is the time of the database, the same for all."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

import pytest

from tests.cluster.kit import Cluster
from tests.cluster.scenarios import Load, finish, held, release, start
from tests.crash.scenarios import RETRIES, SLEEP

HOUR_SECONDS = 3600.0
TEN_MINUTES_SECONDS = 600.0
# Far below every shift, far above what this machine may take.
NEAR_SECONDS = 60.0


def begin(cluster: Cluster) -> None:
    cluster.server("server-1", "--no-workers", skew=TEN_MINUTES_SECONDS)
    server = ("--server", cluster.address("server-1"))
    cluster.worker("early", *server, "--slots", "4", skew=-HOUR_SECONDS)
    cluster.worker("late", *server, "--slots", "4", skew=HOUR_SECONDS)
    cluster.worker("early-db", "--slots", "4", skew=-HOUR_SECONDS)
    cluster.worker("late-db", "--slots", "4", skew=HOUR_SECONDS)


def moments(found: dict[str, Any]) -> list[float]:
    rows = [row for log in found["logs"].values() for row in log]
    return [datetime.fromisoformat(row["at"]).timestamp() for row in rows]


def test_retries_and_sleeps_are_on_time_and_the_log_tells_true_moments(cluster: Cluster) -> None:
    began = time.time()
    begin(cluster)
    for number in range(3):
        start(cluster, RETRIES, number)
        start(cluster, SLEEP, number)
    Load(cluster, 1).start(8)
    found = finish(cluster)
    assert min(moments(found)) > began - NEAR_SECONDS
    assert max(moments(found)) < time.time() + NEAR_SECONDS
    # All of them had a share, so that all clocks were used.
    assert {row["by"] for row in cluster.effects()} == {"early", "late", "early-db", "late-db"}
    assert not any(
        row["name"] == "step.redelivered" for log in found["logs"].values() for row in log
    )


@pytest.mark.daily
def test_a_worker_from_the_future_takes_nothing_from_one_of_the_past(cluster: Cluster) -> None:
    """By its own clock every lease of the others has run out an hour ago."""
    begin(cluster)
    runs = {name: cluster.start(held(cluster, name), name) for name in ("a", "b", "c", "d")}
    cluster.until_seen(len(runs))
    # A worker that dies meanwhile shows that enough time has passed for others to look around.
    cluster.worker("victim", "--pool", "victims", skew=-HOUR_SECONDS)
    document = held(cluster, "lost").replace("first\n", "first\n    spec: {pool: victims}\n")
    lost = cluster.start(document, "lost")
    cluster.until_seen(1, by="victim")
    cluster.kill("victim")

    def is_taken_over() -> bool:
        return any(row["name"] == "step.redelivered" for row in cluster.events(lost))

    cluster.soon(is_taken_over, "the lost job to be taken over")
    assert len(cluster.effects()) == len(runs) + 1
    for name in (*runs, "lost"):
        release(cluster, name)
    cluster.worker("victim", "--pool", "victims", skew=HOUR_SECONDS)
    found = finish(cluster)
    redelivered = {
        run
        for run, log in found["logs"].items()
        if any(row["name"] == "step.redelivered" for row in log)
    }
    assert redelivered == {lost}
