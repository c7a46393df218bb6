"""Processes are killed from outside, wherever they happen to be, several runs in one database."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.crash.kit import Forkers, World, outcome_of
from tests.crash.scattered import scatter, told
from tests.crash.scenarios import SCENARIOS, Scenario
from tests.crash.soak import trial
from tests.crash.test_every_commit_point import calm_run
from tests.suites import daily

SEEDS = range(12)
GENERATED_SEEDS = range(100, 112)
# Of the longest of these runs, about; a process that ends before was not killed.
EVENTS_MAX = 40


@pytest.mark.parametrize("seed", daily(SEEDS))
def test_runs_survive_kills_at_random_moments(seed: int, folder: Path, forkers: Forkers) -> None:
    chance = Random(seed)
    chosen = chance.sample(SCENARIOS, 2)
    calm = [calm_run(folder / scenario.name, scenario, forkers).outcome[0] for scenario in chosen]
    world = World(folder / "world", forkers)
    starts = [_start(world, scenario) for scenario in chosen]
    scatter(world, [*starts, ["resume"], ["resume"]], chance, events_max=EVENTS_MAX)
    for start in starts:  # the same key is the same run, whether or not it had begun
        assert world.anew(*start).status in (0, 1)
    found = world.bring_to_end()
    attempts = {task: n for scenario in chosen for task, n in scenario.attempts.items()}
    assert world.complaints(found, attempts) == [], f"seed {seed}\n{told(found)}"
    assert outcome_of(found) == sorted(calm, key=lambda x: x["program"]), f"seed {seed}"


def _start(world: World, scenario: Scenario) -> list[str]:
    for name, text in scenario.files.items():
        world.write(name, text)
    document = world.write(f"{scenario.name}.yaml", scenario.document)
    return ["run", document, "--key", scenario.name]


@pytest.mark.parametrize("seed", daily(GENERATED_SEEDS))
def test_generated_runs_survive_kills_at_random_moments(
    seed: int, folder: Path, forkers: Forkers
) -> None:
    done = trial(folder, forkers, seed)
    assert done.wrong == [], done.story
