"""A worker stands still for longer than its lease: another goes on, and it is not heard any more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.auditing import outcomes
from tests.cluster.kit import LEASE_SECONDS, Cluster
from tests.cluster.scenarios import QUICK, finish, held, release
from tests.cluster.spawning import Spawner
from tests.postgres_server import Database
from tests.suites import daily

WAYS = ("server", "db")


@pytest.fixture
def patient(folder: Path, spawner: Spawner, database: Database) -> Iterator[Cluster]:
    """Leases that last long enough to stand still for a moment."""
    made = Cluster(folder, spawner, dsn=database.dsn, lease_seconds=2 * LEASE_SECONDS)
    yield made
    made.close()


def begin(cluster: Cluster, way: str) -> None:
    """A worker, and another that comes when the first has something to do."""
    cluster.server("server-1", "--no-workers")
    cluster.worker("slow", *words(cluster, way))


def words(cluster: Cluster, way: str) -> tuple[str, ...]:
    return ("--server", cluster.address("server-1")) if way == "server" else ("--db", cluster.url)


def stalled(cluster: Cluster, way: str) -> str:
    """A run whose call is at work at a worker that stands still, and at another as well."""
    begin(cluster, way)
    run = cluster.start(held(cluster, "long"), "long")
    cluster.until_seen(1, by="slow")
    cluster.freeze("slow")
    # One slot: while its call is at work it asks for nothing that it could not begin.
    cluster.worker("quick", *words(cluster, way), "--slots", "1")
    cluster.until_seen(1, by="quick")
    return run


@pytest.mark.parametrize("way", daily(WAYS))
def test_a_late_report_changes_nothing(cluster: Cluster, way: str) -> None:
    run = stalled(cluster, way)
    release(cluster, "long")
    cluster.until(run, "done")
    before = cluster.events(run)
    cluster["slow"].thaw()
    # What it does next shows that it has reported by now: its old call is over since long.
    cluster["quick"].kill()
    other = cluster.start(QUICK, "quick")
    cluster.until(other, "done")
    cluster.until_seen(1, by="slow", run=other)
    assert cluster.events(run) == before
    found = finish(cluster)
    assert outcomes(found["logs"][run], "first") == [1]
    assert [row["by"] for row in cluster.effects() if str(row["run"]) == run] == [
        "slow",
        "quick",
        "quick",
    ]


@pytest.mark.parametrize("way", WAYS)
def test_a_worker_that_comes_back_stops_the_call_it_has_lost(cluster: Cluster, way: str) -> None:
    run = stalled(cluster, way)
    cluster["slow"].thaw()
    cluster.soon(lambda: cluster.effects("cancelled", by="slow"), "the lost call to be stopped")
    release(cluster, "long")
    cluster.until(run, "done")
    found = finish(cluster)
    assert outcomes(found["logs"][run], "first") == [1]
    lost = [row for row in found["logs"][run] if row["name"] == "step.redelivered"]
    assert len(lost) == 1


@pytest.mark.parametrize("way", WAYS)
def test_a_late_report_is_refused_while_another_is_at_work(patient: Cluster, way: str) -> None:
    """Only the fence can tell: the step-run is at work, at this attempt, and the report fits it."""
    cluster = patient
    run = stalled(cluster, way)
    cluster.freeze("quick")  # not for long enough to lose its lease
    release(cluster, "long")
    cluster["slow"].thaw()
    # Its call ends at once; by the time it has done something else, it has reported.
    other = cluster.start(QUICK, "quick")
    cluster.until_seen(1, by="slow", run=other)
    cluster["quick"].thaw()
    cluster.until(run, "done")
    found = finish(cluster)
    assert outcomes(found["logs"][run], "first") == [1]
    # Whoever's report counts goes on with the next step.
    (second,) = [row for row in cluster.effects() if row["step"] == "second"]
    assert second["by"] == "quick"


def test_a_worker_that_is_at_work_keeps_its_lease(cluster: Cluster) -> None:
    """Nobody takes over what takes long, as long as its worker says that it is alive."""
    begin(cluster, "server")
    cluster.worker("quick", *words(cluster, "db"))
    run = cluster.start(held(cluster, "long"), "long")
    (first,) = cluster.until_seen(1)
    # Two jobs that are lost beside it show that enough time has passed to take over twice.
    for number in range(2):
        cluster.worker("victim", "--db", cluster.url, "--pool", "victims")
        document = held(cluster, f"lost{number}").replace(
            "first\n", "first\n    spec: {pool: victims}\n"
        )
        lost = cluster.start(document, f"lost{number}")
        cluster.until_seen(1, by="victim", run=lost)
        cluster.kill("victim")
        cluster.soon(lambda run=lost: _is_lost(cluster, run), "the job to be taken over")
    assert [row["by"] for row in cluster.effects() if str(row["run"]) == run] == [first["by"]]
    release(cluster, "long")
    for number in range(2):
        release(cluster, f"lost{number}")
    cluster.worker("victim", "--db", cluster.url, "--pool", "victims")
    found = finish(cluster)
    assert not any(row["name"] == "step.redelivered" for row in found["logs"][run])


def _is_lost(cluster: Cluster, run: str) -> bool:
    return any(row["name"] == "step.redelivered" for row in cluster.events(run))
