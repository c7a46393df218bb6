"""Connections that are cut, that swallow everything, and that lose answers: once healed, all goes on.

Between a worker and its server, between a server and PostgreSQL, and between a worker and PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cluster.asking import UNREACHED
from tests.cluster.kit import Cluster, lose, through
from tests.cluster.proxy import Proxy
from tests.cluster.scenarios import Load, finish, held, release
from tests.suites import daily

LOST_MIN = 10
LOST_MAX = 40
CUTS = 5


def via_server(cluster: Cluster) -> Proxy:
    """A worker whose way to its server is the proxy."""
    cluster.server("server-1", "--no-workers")
    proxy = cluster.proxy(cluster.address("server-1"))
    cluster.worker("cut-off", "--server", through(proxy, "http:"), "--slots", "4")
    return proxy


def via_database(cluster: Cluster) -> Proxy:
    """A worker whose way to PostgreSQL is the proxy; clients use a server that has none."""
    cluster.server("server-1", "--no-workers")
    proxy = cluster.proxy(cluster.url)
    cluster.worker("cut-off", "--db", through(proxy, cluster.url), "--slots", "4")
    return proxy


def behind_server(cluster: Cluster) -> Proxy:
    """A server whose way to PostgreSQL is the proxy, and a worker that knows only this server."""
    proxy = cluster.proxy(cluster.url)
    cluster.server("server-1", "--no-workers", db=through(proxy, cluster.url))
    cluster.worker("cut-off", "--server", cluster.address("server-1"), "--slots", "4")
    return proxy


Place = Callable[[Cluster], Proxy]
PLACES: dict[str, Place] = {
    "worker-server": via_server,
    "worker-database": via_database,
    "server-database": behind_server,
}


@pytest.mark.parametrize("place", daily(PLACES))
def test_connections_that_are_cut_again_and_again_lose_nothing(
    cluster: Cluster, place: str
) -> None:
    proxy = PLACES[place](cluster)
    load = Load(cluster, 1)
    for _ in range(CUTS):
        load.start(3)
        load.go_on(2)
        cluster.faults += 1
        proxy.cut_once()
    finish(cluster)


@pytest.mark.parametrize("place", PLACES)
def test_runs_go_on_when_a_connection_that_was_down_is_back(cluster: Cluster, place: str) -> None:
    proxy = PLACES[place](cluster)
    load = Load(cluster, 2)
    load.start(6)
    load.go_on(2)
    cluster.faults += 1
    cluster.has_stalled = True
    proxy.cut()
    before = proxy.accepted
    cluster.soon(lambda: proxy.accepted >= before + 3, "someone to try again")
    proxy.heal()
    finish(cluster)


@pytest.mark.parametrize(
    ("place", "ways"),
    [
        ("worker-server", ("up", "down")),
        ("worker-database", ("up", "down")),
        ("worker-database", ("down",)),
    ],
    ids=["worker-server", "worker-database", "worker-database, answers only"],
)
def test_another_worker_goes_on_for_one_in_a_black_hole(
    cluster: Cluster, place: str, ways: tuple[str, ...]
) -> None:
    proxy = PLACES[place](cluster)
    run = cluster.start(held(cluster, "long"), "long")
    cluster.until_seen(1, by="cut-off")
    cluster.faults += 1
    cluster.has_stalled = True
    proxy.blackhole(*ways)  # type: ignore[arg-type]
    cluster.worker("other", "--server", cluster.address("server-1"))
    cluster.until_seen(1, by="other")
    release(cluster, "long")
    cluster.until(run, "done")
    before = cluster.events(run)
    proxy.heal()
    # What it held comes through now, the report of a call that it had lost among it.
    cluster["other"].kill()
    load = Load(cluster, 3)
    load.start(3)
    cluster.until_seen(2, by="cut-off")
    assert cluster.events(run) == before
    finish(cluster)


def test_a_worker_that_hears_no_answers_keeps_its_job_and_its_report_counts_once(
    cluster: Cluster,
) -> None:
    """What it says arrives: that it is alive, and in the end its report, again and again."""
    proxy = PLACES["worker-server"](cluster)
    run = cluster.start(held(cluster, "long"), "long")
    cluster.until_seen(1, by="cut-off")
    proxy.blackhole("down")
    cluster.worker("other", "--server", cluster.address("server-1"))
    release(cluster, "long")

    def reports() -> list[object]:
        rows = cluster.events(run)
        return [row for row in rows if (row["name"], row["step"]) == ("task.processed", "first")]

    cluster.soon(reports, "its report")
    proxy.heal()
    finish(cluster)
    assert len(reports()) == 1


@pytest.mark.parametrize("place", ["worker-server", "worker-database"])
def test_a_worker_whose_connections_fell_silent_keeps_its_lease(
    cluster: Cluster, place: str
) -> None:
    """New ones would be carried: what says that it is alive must not wait long for an answer."""
    proxy = PLACES[place](cluster)
    run = cluster.start(held(cluster, "long"), "long")
    cluster.until_seen(1, by="cut-off")
    proxy.silence()
    # Jobs that are lost meanwhile, one after the other, show that there was time to lose this one.
    for number in range(2):
        name = f"lost{number}"
        cluster.worker("victim", "--pool", "victims")
        document = held(cluster, name).replace("first\n", "first\n    spec: {pool: victims}\n")
        lost = cluster.start(document, name)
        cluster.until_seen(1, by="victim", run=lost)
        cluster.kill("victim")
        cluster.soon(lambda run=lost: is_lost(cluster, run), "the job to be taken over")
    assert not is_lost(cluster, run)
    proxy.cut_once()
    for name in ("long", "lost0", "lost1"):
        release(cluster, name)
    cluster.worker("victim", "--pool", "victims")
    found = finish(cluster)
    assert not any(row["name"] == "step.redelivered" for row in found["logs"][run])


def is_lost(cluster: Cluster, run: str) -> bool:
    return any(row["name"] == "step.redelivered" for row in cluster.events(run))


def test_a_server_in_a_black_hole_answers_once_it_is_healed(cluster: Cluster) -> None:
    proxy = behind_server(cluster)
    load = Load(cluster, 4)
    load.start(5)
    load.go_on(2)
    cluster.faults += 1
    cluster.has_stalled = True
    proxy.blackhole()
    assert _is_unanswered(cluster)
    proxy.heal()
    load.start(2)
    finish(cluster)


def _is_unanswered(cluster: Cluster) -> bool:
    try:
        return cluster.ask("/api/v1/runs", server="server-1", seconds=3.0).status >= 500
    except UNREACHED:
        return True


@pytest.mark.parametrize("place", PLACES)
def test_a_transition_whose_answer_got_lost_happens_once(cluster: Cluster, place: str) -> None:
    """Whoever did not hear that it is on record says it again, and it is on record once."""
    proxy = PLACES[place](cluster)
    lose(proxy, is_http=place == "worker-server", times=LOST_MAX)
    load = Load(cluster, 5)
    load.start(12)
    found = finish(cluster)
    assert proxy.lost >= LOST_MIN
    # It cost nobody anything: no worker was lost, and so no call was made twice.
    names = [row["name"] for log in found["logs"].values() for row in log]
    assert "step.redelivered" not in names


def test_a_slow_network_changes_nothing_but_the_time_it_takes(cluster: Cluster) -> None:
    proxy = via_server(cluster)
    proxy.slow(0.05)
    load = Load(cluster, 6)
    load.start(6)
    finish(cluster)
