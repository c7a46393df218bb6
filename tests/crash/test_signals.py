"""Whoever sends or takes a signal is killed: it counts once, and none that was accepted is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.crash.kit import Forkers, World, soon
from tests.crash.scenarios import PATIENT

# More than either command passes.
SEND_POINTS = 4
RESUME_POINTS = 10
WAITING = 3
DOCUMENT = f"""
metadata: {{name: signals}}
{PATIENT}
workflow:
  - step: before
    tool: {{kind: effect, result: 1}}
    next: [{{step: gate}}]
  - step: gate
    tool:
      - {{name: one, kind: wait, signal: paid}}
      - {{name: two, kind: wait, signal: paid}}
      - {{name: both, kind: noop, result: "{{{{ [one, two] }}}}"}}
    next: [{{step: after}}]
  - step: after
    tool: {{kind: effect, result: "{{{{ gate }}}}"}}
"""


def begun(folder: Path, forkers: Forkers) -> World:
    """A world whose run waits for two signals."""
    world = World(folder, forkers)
    ended = world.anew("run", world.write("signals.yaml", DOCUMENT))
    assert ended.status == WAITING, ended.err
    return world


def came(found: dict[str, Any]) -> list[Any]:
    (log,) = found["logs"].values()
    return [row["data"].get("id") for row in log if row["name"] == "signal.received"]


def send(world: World, number: int, *more: str) -> tuple[str, ...]:
    return ("signal", "last", "paid", "--payload", str(number), "--id", f"s{number}", *more)


def wrong_of(world: World, *, where: str) -> list[str]:
    found = world.bring_to_end()
    wrong = world.complaints(found, {})
    served = [one for one in came(found) if one is not None]
    if served != ["s1", "s2"]:
        wrong.append(f"came: {served}")
    results = [row["result"] for row in found["shown"].values()]
    if results != [[1, 2]]:
        wrong.append(f"ended as {results}")
    return [f"{where}: {one}" for one in wrong]


def killed_sender(world: World, point: int) -> list[str]:
    """Send, be killed, and send again with the same id, as senders do that got no answer."""
    killed = world.killed_at(point, *send(world, 1))
    assert killed.was_killed or killed.status == 0, killed.err
    for number in (1, 2):
        sent = world.anew(*send(world, number))
        assert sent.status == 0, sent.err
    return wrong_of(world, where=f"sender at {point}")


def killed_worker(world: World, point: int) -> list[str]:
    """Keep both signals, and be killed on the way to the end."""
    for number in (1, 2):
        assert world.anew(*send(world, number)).status == 0
    killed = world.killed_at(point, "resume")
    assert killed.was_killed or killed.status == 0, killed.err
    return wrong_of(world, where=f"worker at {point}")


def test_a_signal_counts_once_wherever_its_command_is_killed(
    folder: Path, forkers: Forkers
) -> None:
    def work(point: int) -> list[str]:
        return killed_sender(begun(folder / str(point), forkers), point)

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(work, range(1, SEND_POINTS + 1)))
    assert [wrong for one in found for wrong in one] == []


def test_a_signal_that_was_accepted_is_not_lost_wherever_the_worker_is_killed(
    folder: Path, forkers: Forkers
) -> None:
    def work(point: int) -> list[str]:
        return killed_worker(begun(folder / str(point), forkers), point)

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(work, range(1, RESUME_POINTS + 1)))
    assert [wrong for one in found for wrong in one] == []


@pytest.mark.daily
def test_an_owner_killed_while_it_waits_leaves_the_wait_for_the_next(world: World) -> None:
    going = world.begin("run", world.write("signals.yaml", DOCUMENT), "--wait")
    soon(lambda: "waits for a signal: paid" in going.out(), "the wait")
    assert world.anew(*send(world, 1)).status == 0
    going.kill()
    world.kills += 1
    assert world.anew(*send(world, 2)).status == 0
    assert wrong_of(world, where="owner") == []
