"""The auditor notices each broken guarantee: a good story, spoiled in one way at a time."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import pytest

from tests.crash.auditor import CHECKS, Row, Story, complaints
from tests.crash.kit import KEY, Forkers, World, small_folder
from tests.crash.scenarios import CHILD, LOOP, RETRIES

pytestmark = pytest.mark.daily

ATTEMPTS = {**RETRIES.attempts, **LOOP.attempts}


@pytest.fixture(scope="module")
def good(forkers: Forkers) -> Story:
    """Three runs, each killed once in the middle."""
    with small_folder() as folder:
        world = World(folder, forkers)
        for number, scenario in enumerate((RETRIES, LOOP, CHILD)):
            for name, text in scenario.files.items():
                world.write(name, text)
            document = world.write(f"{scenario.name}.yaml", scenario.document)
            assert world.killed_at(9, "run", document, "--key", f"{KEY}{number}").was_killed
        found = world.bring_to_end()
        runs, logs, replays = found["runs"], found["logs"], found["replays"]
        return Story(runs, logs, replays, world.effects(), world.kills, ATTEMPTS)


def rows_of(story: Story, name: str, program: str = "retries") -> list[Row]:
    """The rows of that name in the log of a program's run."""
    return [row for row in log_of(story, program) if row["name"] == name]


def log_of(story: Story, program: str) -> list[Row]:
    return next(log for log in story.logs.values() if log[0]["data"]["program"] == program)


def lose_an_event(story: Story) -> None:
    del log_of(story, "retries")[5]


def end_twice(story: Story) -> None:
    log = log_of(story, "retries")
    log.append({**log[-1], "seq": log[-1]["seq"] + 1})


def go_back_in_time(story: Story) -> None:
    rows_of(story, "step.done")[-1]["at"] = "2001-01-01T00:00:00.000000Z"


def disagree(story: Story) -> None:
    run = next(iter(story.replays))
    story.replays[run] = "Difference(seq=3)"


def spend_an_attempt(story: Story) -> None:
    rows_of(story, "task.started")[0]["attempt"] = 2


def start_what_has_an_outcome(story: Story) -> None:
    log = log_of(story, "loop")
    started = next(row for row in log if row["name"] == "task.started")
    log.insert(len(log) - 2, dict(started))


def go_beyond_the_limit(story: Story) -> None:
    story.attempts["wait"] = 1


def start_early(story: Story) -> None:
    scheduled = rows_of(story, "task.retry_scheduled")[-1]
    scheduled["data"]["not_before"] = "2999-01-01T00:00:00.000000Z"


def decide_a_delay_again(story: Story) -> None:
    log = log_of(story, "retries")
    scheduled = next(row for row in log if row["name"] == "task.retry_scheduled")
    log.insert(log.index(scheduled), dict(scheduled))


def end_an_iteration_twice(story: Story) -> None:
    log = log_of(story, "loop")
    done = next(row for row in log if row["name"] == "loop.iteration.done")
    log.insert(log.index(done), dict(done))


def lose_more_than_was_killed(story: Story) -> None:
    log = log_of(story, "retries")
    lost = {**log[4], "name": "step.redelivered"}
    log[4:4] = [{**lost, "data": {"delivery": n + 2}} for n in range(story.kills + 1)]


def execute_what_is_not_on_record(story: Story) -> None:
    story.effects[0]["key"] += ":other"


def execute_after_the_outcome(story: Story) -> None:
    story.effects[0]["at"] += 10**12


def execute_more_often_than_was_killed(story: Story) -> None:
    story.effects.extend([story.effects[0]] * (story.kills + 1))


def bear_a_second_child(story: Story) -> None:
    child = next(row for row in story.runs if row["parent"] is not None)
    story.runs.append({**child, "run": "1"})


def bear_a_child_of_nobody(story: Story) -> None:
    child = next(row for row in story.runs if row["parent"] is not None)
    child["key"] = child["key"][:-1] + "7"


def start_more_calls_than_a_guard_allows(story: Story) -> None:
    log = log_of(story, "loop")
    started = next(row for row in log if row["name"] == "task.started")
    data = {**started["data"], "dependency": "api"}
    log.extend({**started, "iteration": 100 + n, "data": data} for n in range(3))


SPOILED: dict[Callable[[Story], None], str] = {
    lose_an_event: "no_gaps",
    end_twice: "one_ending",
    go_back_in_time: "time_goes_on",
    disagree: "the_engine_agrees",
    spend_an_attempt: "attempts_in_order",
    start_what_has_an_outcome: "attempts_in_order",
    go_beyond_the_limit: "attempts_within_limits",
    start_early: "delays_kept",
    decide_a_delay_again: "delays_kept",
    end_an_iteration_twice: "iterations_end_once",
    lose_more_than_was_killed: "losses_are_kills",
    execute_what_is_not_on_record: "effects_are_in_the_log",
    execute_after_the_outcome: "effects_are_in_the_log",
    execute_more_often_than_was_killed: "no_more_is_repeated_than_was_lost",
    bear_a_second_child: "one_child_per_attempt",
    bear_a_child_of_nobody: "one_child_per_attempt",
    start_more_calls_than_a_guard_allows: "guards_let_no_more_start",
}


def test_a_good_story_has_no_complaints(good: Story) -> None:
    assert complaints(good) == []


@pytest.mark.parametrize("spoil", SPOILED, ids=lambda spoil: spoil.__name__)
def test_a_broken_guarantee_is_noticed(good: Story, spoil: Callable[[Story], None]) -> None:
    story = deepcopy(good)
    spoil(story)
    assert SPOILED[spoil] in {line.partition(":")[0] for line in complaints(story)}


def test_every_check_is_seen_to_fail() -> None:
    assert {check.__name__ for check in CHECKS} == set(SPOILED.values())
