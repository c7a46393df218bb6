"""Whoever ends a wait, or goes on after it, is killed: what was ended stays so, and nothing is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.crash.kit import Forkers, World, soon
from tests.suites import daily

# More than the commands pass until the run has ended.
POINTS = 8
DOCUMENT = """
metadata: {name: skips}
workflow:
  - step: fetch
    tool:
      kind: shell
      command: test -f mended
      spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 2, delay: 3600}}]}}
    next: [{step: nap}]
  - step: nap
    tool: {kind: sleep, seconds: 3600}
"""


def begun(folder: Path, forkers: Forkers) -> World:
    """A world whose owner died while its run waited for a retry."""
    world = World(folder, forkers)
    owner = world.begin("run", world.write("skips.yaml", DOCUMENT))
    soon(lambda: "will retry after" in owner.out(), "the retry")
    owner.kill()
    world.kills += 1
    world.write("mended", "")
    return world


def case(world: World, point: int) -> list[str]:
    """Skip, go on, and be killed at both; nobody waits for an hour."""
    killed = world.killed_at(point, "skip", "last", "fetch")
    assert killed.was_killed or killed.status == 0, killed.err
    again = world.anew("skip", "last", "fetch")
    assert again.status == 0, again.err
    owner = world.begin("resume", env={"ANEW_CRASH_AT": str(point)})

    def is_done() -> bool:
        nonlocal owner
        if owner.has_ended():
            world.kills += owner.wait().was_killed
            owner = world.begin("resume")
        world.anew("skip", "last", "nap")
        return "run.done" in world.anew("events", "last").out

    soon(is_done, "the end of the run")
    return [f"point {point}: {one}" for one in wrong_of(world)]


def wrong_of(world: World) -> list[str]:
    found: dict[str, Any] = world.read()
    wrong = world.complaints(found, {"fetch": 2})
    (log,) = found["logs"].values()
    ended = [row["step"] for row in log if row["name"] == "wait.skipped"]
    if ended != ["fetch", "nap"]:
        wrong.append(f"ended the waits of {ended}")
    (told,) = found["shown"].values()
    if not told["result"]["slept"] < 3600:
        wrong.append(f"slept {told['result']}")
    return wrong


@pytest.mark.parametrize(
    "points", daily([range(1, 3), range(3, POINTS + 1)]), ids=["first", "others"]
)
def test_a_wait_that_was_ended_stays_so_wherever_somebody_is_killed(
    points: range, folder: Path, forkers: Forkers
) -> None:
    def work(point: int) -> list[str]:
        return case(begun(folder / str(point), forkers), point)

    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(work, points))
    assert [wrong for one in found for wrong in one] == []
