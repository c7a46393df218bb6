"""Many workers on one run: each decides on what is on record, never on what another made void."""

from __future__ import annotations

import pytest

from tests.cluster.kit import Cluster
from tests.cluster.scenarios import ATTEMPTS, WIDE
from tests.suites import daily

ITERATIONS = 120
RUNS = 3
WORKERS = 4
DOCUMENT = WIDE.document.replace("range(30)", f"range({ITERATIONS})").replace(": 12}", ": 24}")


@pytest.mark.parametrize("way", daily(["server", "db"]))
def test_workers_that_share_a_run_agree_on_what_happened(cluster: Cluster, way: str) -> None:
    cluster.server("server-1", "--no-workers")
    place = ("--server", cluster.address("server-1")) if way == "server" else ("--db", cluster.url)
    for number in range(WORKERS):
        cluster.worker(f"worker-{number}", *place, "--slots", "6")
    runs = [cluster.start(DOCUMENT, f"wide-{number}") for number in range(RUNS)]
    cluster.until_all_ended()
    found = cluster.read()
    assert cluster.complaints(found, ATTEMPTS) == []
    assert [found["shown"][run]["result"] for run in runs] == [sum(range(ITERATIONS))] * RUNS
    # Nobody was lost, so nothing was done twice; and all of them had a share.
    assert len(cluster.effects()) == RUNS * (ITERATIONS + ITERATIONS // 10 + 1)
    assert len({row["by"] for row in cluster.effects()}) == WORKERS
