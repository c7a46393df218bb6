"""Whoever asks or answers is killed: a question is answered once, and no answer is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.crash.kit import Forkers, World, soon
from tests.crash.scenarios import GATES_GRAPH, QUESTION, Scenario

# More than the command passes until the run has ended.
POINTS = 14
WAITING = 3


def begun(folder: Path, scenario: Scenario, forkers: Forkers) -> World:
    """A world whose run waits for a person."""
    world = World(folder, forkers)
    ended = world.anew("run", world.write(scenario.file, scenario.document))
    assert ended.status == WAITING, ended.err
    return world


def answers_in(found: dict[str, Any]) -> list[str]:
    (log,) = found["logs"].values()
    return [row["data"]["by"] for row in log if row["name"] == "human.answered"]


def case(world: World, point: int) -> list[str]:
    """Answer, be killed, and answer again if nobody has heard it; what is wrong then."""
    killed = world.killed_at(point, "answer", "last", "yes", "--by", "first")
    assert killed.was_killed or killed.status == 0, killed.err
    again = world.anew("answer", "last", "yes", "--by", "second")
    was_heard = bool(answers_in(world.read())) and again.status == 2
    assert again.status == 0 or was_heard, again.err
    found = world.bring_to_end()
    heard = answers_in(found)
    wrong = world.complaints(found, {})
    if heard != (["first"] if was_heard else ["second"]):
        wrong.append(f"heard {heard}, and the second was {'refused' if was_heard else 'taken'}")
    if [row["status"] for row in found["runs"]] != ["done"]:
        wrong.append(f"ended as {found['runs']}")
    return [f"point {point}: {one}" for one in wrong]


@pytest.mark.parametrize("scenario", [QUESTION, GATES_GRAPH], ids=lambda one: one.name)
def test_an_answer_is_kept_or_asked_for_again_wherever_its_command_is_killed(
    scenario: Scenario, folder: Path, forkers: Forkers
) -> None:
    def work(point: int) -> list[str]:
        return case(begun(folder / str(point), scenario, forkers), point)

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(work, range(1, POINTS + 1)))
    assert [wrong for one in found for wrong in one] == []


@pytest.mark.daily
def test_an_owner_killed_at_a_question_leaves_it_open_for_the_next(world: World) -> None:
    going = world.begin("run", world.write(QUESTION.file, QUESTION.document), "--wait")
    soon(lambda: "waits for a person" in going.out(), "the question")
    going.kill()
    world.kills += 1
    resumed = world.anew("resume")
    assert resumed.status == WAITING, resumed.err
    answered = world.anew("answer", "last", "n", "--by", "ann")
    assert answered.status == 0, answered.err
    found = world.read()
    assert world.complaints(found, {}) == []
    assert [row["result"] for row in found["shown"].values()] == ["[N] No"]


def test_an_owner_killed_while_another_terminal_waits_for_the_answer_is_taken_over(
    world: World,
) -> None:
    file = world.write(QUESTION.file, QUESTION.document)
    owner = world.begin("run", file, "--wait", "--key", "one")
    soon(lambda: "waits for a person" in owner.out(), "the question")
    guest = world.begin("run", file, "--wait", "--key", "one", "--json")
    owner.kill()
    world.kills += 1

    def is_answered() -> bool:
        return world.anew("answer", "last", "y", "--by", "ann", "--no-wait").status == 0

    soon(is_answered, "someone who hears the answer")
    ended = guest.wait()
    assert (ended.status, '"status": "done"' in ended.out) == (0, True), ended.err
    assert answers_in(world.read()) == ["ann"]
