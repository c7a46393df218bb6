"""A process is killed before and after each of its commits, and the run goes on as if it had not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from tests.crash.kit import KEY, Forkers, World, outcome_of
from tests.crash.scenarios import GRAPHS, NEWER, SCENARIOS, Scenario
from tests.suites import daily

# Most of a case is waiting, for a disk or for a delay.
CASES_AT_ONCE = 4
MARCHES = 3
KILLS_PER_MARCH = 12
# What a process can pass in one go, from nothing to a few tasks.
MARCH_POINTS_MAX = 8


class Calm(NamedTuple):
    """The run as it goes when nobody is killed."""

    points: int
    outcome: Any


def prepared(folder: Path, scenario: Scenario, forkers: Forkers) -> tuple[World, list[str]]:
    world = World(folder, forkers)
    for name, text in scenario.files.items():
        world.write(name, text)
    document = world.write(scenario.file, scenario.document)
    return world, ["run", document, "--key", KEY, *scenario.options]


def calm_run(folder: Path, scenario: Scenario, forkers: Forkers) -> Calm:
    world, start = prepared(folder / "calm", scenario, forkers)
    count = world.folder / "points"
    ended = world.anew(*start, env={"ANEW_CRASH_COUNT_FILE": str(count)})
    assert ended.status in (0, 1), ended.err
    found = world.read()
    assert world.complaints(found, scenario.attempts) == []
    assert len(world.effects()) == len({(x["key"], x["attempt"]) for x in world.effects()})
    return Calm(int(count.read_text()), outcome_of(found))


def verdict(world: World, start: list[str], scenario: Scenario, calm: Calm) -> list[str]:
    """Let the run end, and say what is wrong with it."""
    found = world.bring_to_end(*start, options=scenario.options)
    wrong = world.complaints(found, scenario.attempts)
    if outcome_of(found) != calm.outcome:
        wrong.append(f"it ended as {outcome_of(found)} and not as {calm.outcome}")
    return wrong


@pytest.mark.parametrize(
    "scenario", daily([*SCENARIOS, *NEWER, *GRAPHS]), ids=lambda scenario: scenario.name
)
def test_a_run_survives_a_kill_at_every_commit_point(
    scenario: Scenario, folder: Path, forkers: Forkers
) -> None:
    calm = calm_run(folder, scenario, forkers)

    def case(point: int) -> tuple[bool, list[str]]:
        world, start = prepared(folder / str(point), scenario, forkers)
        was_killed = world.killed_at(point, *start).was_killed
        return was_killed, [f"point {point}: {x}" for x in verdict(world, start, scenario, calm)]

    with ThreadPoolExecutor(CASES_AT_ONCE) as threads:
        cases = list(threads.map(case, range(1, calm.points + 1)))
    assert [wrong for _, found in cases for wrong in found] == []
    # Work that arrives together may share a commit, so the last points are not always reached.
    assert sum(was_killed for was_killed, _ in cases) >= calm.points * 0.7


@pytest.mark.parametrize(
    "scenario", daily([*SCENARIOS, *NEWER]), ids=lambda scenario: scenario.name
)
def test_a_run_survives_when_whoever_resumes_it_is_killed_as_well(
    scenario: Scenario, folder: Path, forkers: Forkers
) -> None:
    calm = calm_run(folder, scenario, forkers)

    def march(seed: int) -> tuple[int, list[str]]:
        chance = Random(f"{scenario.name}:{seed}")
        world, start = prepared(folder / str(seed), scenario, forkers)
        words = start
        for _ in range(KILLS_PER_MARCH):
            ended = world.killed_at(chance.randint(1, MARCH_POINTS_MAX), *words)
            # With a key, to run it again is to go on with it.
            words = start if chance.random() < 0.5 else ["resume", *scenario.options]
            assert ended.was_killed or ended.found_nothing or ended.status in (0, 1), ended.err
        found = verdict(world, start, scenario, calm)
        return world.kills, [f"seed {scenario.name}:{seed}: {wrong}" for wrong in found]

    with ThreadPoolExecutor(CASES_AT_ONCE) as threads:
        marches = list(threads.map(march, range(MARCHES)))
    assert [wrong for _, found in marches for wrong in found] == []
    assert sum(kills for kills, _ in marches) >= 3 * MARCHES
