"""Kill generated runs at random for as long as asked: `python -m tests.crash.soak [--seed N]`.

Prints how far it is, and the seed of whatever goes wrong; the same seed makes the same document and
the same intentions to kill.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.crash.generating import document, generated
from tests.crash.kit import KEY, Forkers, World, small_folder
from tests.crash.scattered import scatter, told

SOAK_SECONDS = 600.0
PROGRESS_SECONDS = 10.0
TRIALS_AT_ONCE = 4
KILLS_MAX = 8
EVENTS_MAX = 20
POINTS_MAX = 16


class Trial(NamedTuple):
    """One document, killed and resumed until it ended. `wrong` is empty when all was well."""

    seed: int
    kills: int
    wrong: list[str]
    story: str


def trial(folder: Path, forkers: Forkers, seed: int) -> Trial:
    """What became of this seed, also when a process hung or said what it should not."""
    try:
        return _tried(folder, forkers, seed)
    except AssertionError as error:
        return Trial(seed, 0, [f"seed {seed}: {error}"], document(generated(seed)))


def _tried(folder: Path, forkers: Forkers, seed: int) -> Trial:
    scenario = generated(seed)
    calm, start = _prepared(folder / f"{seed}-calm", forkers, seed)
    ended = calm.anew(*start)
    if ended.status not in (0, 1):
        return Trial(seed, 0, [ended.err], document(scenario))
    expected = calm.read()
    wrong = calm.complaints(expected, scenario.attempts)
    world, start = _prepared(folder / f"{seed}-killed", forkers, seed)
    _kill_at_random(world, start, Random(f"kills of {seed}"))
    found = world.bring_to_end(*start)
    wrong += world.complaints(found, scenario.attempts)
    if _ending(found) != _ending(expected):
        wrong.append(f"it ended as {_ending(found)} and not as {_ending(expected)}")
    story = f"{document(scenario)}\n{told(found)}"
    return Trial(seed, world.kills, [f"seed {seed}: {line}" for line in wrong], story)


def _prepared(folder: Path, forkers: Forkers, seed: int) -> tuple[World, list[str]]:
    scenario = generated(seed)
    world = World(folder, forkers)
    for name, text in scenario.files.items():
        world.write(name, text)
    return world, ["run", world.write("random.yaml", scenario.document), "--key", KEY]


def _kill_at_random(world: World, start: list[str], chance: Random) -> None:
    for _ in range(chance.randint(1, KILLS_MAX)):
        words = start if chance.random() < 0.5 else ["resume"]
        if chance.random() < 0.5:
            world.killed_at(chance.randint(1, POINTS_MAX), *words)
        else:
            scatter(world, [words], chance, events_max=EVENTS_MAX)


def _ending(found: dict[str, Any]) -> Any:
    """What must not depend on the order in which branches happen to end."""
    (shown,) = [found["shown"][row["run"]] for row in found["runs"] if row["parent"] is None]
    return shown["status"], shown["steps"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--first", type=int, default=int(time.time()), help="the first seed")
    asked = parser.parse_args()
    with small_folder() as folder:
        forkers = Forkers()
        try:
            if asked.seed is not None:
                return _report(trial(folder, forkers, asked.seed), always=True)
            return _soak(folder, forkers, asked.first)
        finally:
            forkers.close()


def _soak(folder: Path, forkers: Forkers, first: int) -> int:
    begun = told_at = time.monotonic()
    until = begun + float(os.environ.get("SOAK_SECONDS", SOAK_SECONDS))
    seed, kills = first, 0
    with ThreadPoolExecutor(TRIALS_AT_ONCE) as threads:
        while time.monotonic() < until:
            with small_folder() as place:
                seeds = range(seed, seed + TRIALS_AT_ONCE)
                trials = list(threads.map(lambda one: trial(place, forkers, one), seeds))
            for done in trials:
                if _report(done):
                    return 1
            seed, kills = seed + TRIALS_AT_ONCE, kills + sum(done.kills for done in trials)
            if time.monotonic() - told_at > PROGRESS_SECONDS:
                told_at = time.monotonic()
                _say(f"{told_at - begun:5.0f} s  {seed - first} runs, {kills} kills, nothing wrong")
    _say(f"done: {seed - first} runs from seed {first}, {kills} kills, nothing wrong")
    return 0


def _report(done: Trial, *, always: bool = False) -> int:
    if done.wrong or always:
        _say(done.story)
    for line in done.wrong:
        _say(line)
    if done.wrong:
        _say(f"again: python -m tests.crash.soak --seed {done.seed}")
    return 1 if done.wrong else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
