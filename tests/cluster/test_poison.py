"""A task that kills its worker is given up after so many deaths, and takes nobody else with it."""

from __future__ import annotations

import pytest

from tests.cluster.kit import Cluster
from tests.cluster.scenarios import QUICK, held, release
from tests.crash.scenarios import KILL_WORKER

DELIVERIES = 3  # the default
POISON = """
metadata: {name: poison}
workflow:
  - step: deadly
    tool: {kind: effect, is_deadly: true}
    next: {arcs: [{step: mourn, when: "{{ event.name == 'step.failed' }}", args: {kind: "{{ event.error.kind }}"}}]}
  - step: mourn
    tool: {kind: noop, result: "{{ args.kind }}"}
"""


def keep_up(cluster: Cluster, workers: tuple[str, ...]) -> None:
    """Somebody always comes in place of a worker that was killed."""
    for name in workers:
        if cluster[name].has_ended:
            cluster.restart(name)


def wait_for_the_end(cluster: Cluster, run: str, workers: tuple[str, ...]) -> None:
    def has_ended() -> bool:
        keep_up(cluster, workers)
        return bool(cluster.run(run)["status"] == "done")

    cluster.soon(has_ended, "the poisonous run to be given up")


def wait_for_deaths(cluster: Cluster, run: str, workers: tuple[str, ...], *, deaths: int) -> None:
    def are_dead() -> bool:
        keep_up(cluster, workers)
        calls = [row for row in cluster.effects() if str(row["run"]) == run]
        return len(calls) >= deaths

    cluster.soon(are_dead, f"{deaths} deaths")


def check(cluster: Cluster, run: str) -> None:
    assert cluster.run(run)["result"] == "worker_lost"
    cluster.faults += DELIVERIES
    cluster.until_all_ended()
    found = cluster.read()
    assert cluster.complaints(found) == []
    tries = [row for row in found["logs"][run] if row["name"] == "task.started"]
    assert [row["attempt"] for row in tries if row["step"] == "deadly"] == [1] * DELIVERIES
    failed = [
        (row["step"], row["data"]["error"]["kind"])
        for log in found["logs"].values()
        for row in log
        if row["name"] == "step.failed"
    ]
    assert failed == [("deadly", "worker_lost")]


@pytest.mark.daily
def test_a_task_that_kills_its_worker_is_given_up_and_others_are_not(cluster: Cluster) -> None:
    cluster.server("server-1", "--no-workers")
    workers = ("worker-1", "worker-2", "worker-3")
    for name in workers:
        cluster.worker(name, "--server", cluster.address("server-1"), "--slots", "4")
    innocent = [cluster.start(held(cluster, f"long{n}"), f"long{n}") for n in range(3)]
    cluster.until_seen(len(innocent))
    run = cluster.start(POISON, "poison")
    quick = [cluster.start(QUICK, f"quick{n}") for n in range(3)]
    # The last chance is given with nothing beside it, so the others must be able to end.
    wait_for_deaths(cluster, run, workers, deaths=DELIVERIES - 1)
    for number in range(len(innocent)):
        release(cluster, f"long{number}")
    wait_for_the_end(cluster, run, workers)
    for one in (*innocent, *quick):
        cluster.until(one, "done")
    check(cluster, run)


def test_a_fleet_begins_a_new_process_for_each_that_was_killed(cluster: Cluster) -> None:
    cluster.server("server-1", "--no-workers")
    cluster.worker("fleet", "--server", cluster.address("server-1"), "--processes", "2")
    run = cluster.start(POISON, "poison")
    wait_for_the_end(cluster, run, ())
    check(cluster, run)
    assert not cluster["fleet"].has_ended


def test_user_code_that_kills_its_worker_is_given_up_too(cluster: Cluster) -> None:
    cluster.server("server-1", "--no-workers")
    cluster.worker("worker-1", "--server", cluster.address("server-1"))
    document = POISON.replace(
        "kind: effect, is_deadly: true", f'kind: python, code: "{KILL_WORKER}"'
    )
    run = cluster.start(document, "poison")
    wait_for_the_end(cluster, run, ("worker-1",))
    check(cluster, run)
