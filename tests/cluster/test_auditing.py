"""The cluster's auditor notices each broken guarantee: a good account, spoiled in one way at a time."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.cluster.auditing import CHECKS, Account, complaints
from tests.crash.auditor import Row, Story

pytestmark = pytest.mark.daily

SECOND = 1_000_000_000
START = 1_900_000_000 * SECOND
KEY = "7:fetch:1:0:1"


def text(moment: int) -> str:
    seconds, rest = divmod(moment, SECOND)
    at = datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest // 1000)
    return at.isoformat(timespec="microseconds")


class Writing:
    """A log that is written event by event; a `step` may be given with its task and attempt."""

    def __init__(self) -> None:
        self.log: list[Row] = []

    def add(self, name: str, seconds: float, *, attempt: int | None = None, **data: Any) -> None:
        step = data.pop("step", None)
        row = {"seq": len(self.log) + 1, "at": text(START + int(seconds * SECOND)), "name": name}
        place = {"step": step, "visit": step and 1, "iteration": None, "task": step}
        self.log.append({**row, **place, "attempt": attempt, "data": data})


def written() -> list[Row]:
    """A retry after an error, with a worker lost on the way, and a sleep."""
    fetch: dict[str, Any] = {"step": "fetch"}
    writing, nap = Writing(), {**fetch, "step": "nap"}
    writing.add("run.started", 0)
    writing.add("task.started", 0, attempt=1, task_visit=1, **fetch)
    writing.add("step.redelivered", 2, delivery=2, **fetch)
    writing.add("task.started", 2, attempt=1, task_visit=1, **fetch)
    writing.add("task.processed", 3, attempt=1, outcome={"result": None}, **fetch)
    due = text(START + 5 * SECOND)
    writing.add("task.retry_scheduled", 3, attempt=1, not_before=due, **fetch)
    writing.add("task.started", 5, attempt=2, task_visit=1, **fetch)
    writing.add("task.processed", 6, attempt=2, outcome={"result": 1}, **fetch)
    writing.add("task.started", 6, attempt=1, task_visit=1, **nap)
    writing.add("task.processed", 8, attempt=1, outcome={"result": {"slept": 2.0}}, **nap)
    writing.add("run.done", 8)
    return writing.log


def effect(seconds: float, attempt: int) -> Row:
    place = {"run": "7", "step": "fetch", "iteration": None, "task": "fetch", "attempt": attempt}
    return {"key": KEY, "at": START + int(seconds * SECOND), **place}


def good(*, has_stalled: bool = False) -> Account:
    row = {"run": "7", "key": "k", "parent": None, "status": "done"}
    effects = [effect(0.1, 1), effect(2.1, 1), effect(5.1, 2)]
    story = Story([row], {"7": written()}, {"7": ""}, effects, 1, {"fetch": 2})
    return Account(story, {"k": "7"}, has_stalled, {"worker": "anew: stopping"})


def log_row(account: Account, name: str, number: int = 0) -> Row:
    return [row for row in account.story.logs["7"] if row["name"] == name][number]


def retry_a_moment_early(account: Account) -> None:
    log_row(account, "task.started", 2)["at"] = text(START + 5 * SECOND - 1000)


def reach_the_world_early(account: Account) -> None:
    account.story.effects[2]["at"] = START + 4 * SECOND


def wake_early(account: Account) -> None:
    log_row(account, "task.processed", 2)["at"] = text(START + 7 * SECOND)


def execute_what_was_not_started(account: Account) -> None:
    account.story.effects.append(effect(5.2, 2))


def execute_after_the_outcome(account: Account) -> None:
    account.story.effects[1]["at"] = START + 4 * SECOND


def execute_twice_without_a_loss(account: Account) -> None:
    account.story.logs["7"].remove(log_row(account, "step.redelivered"))


def change_the_key(account: Account) -> None:
    account.story.effects[1]["key"] = "7:fetch:1:0:2"


def lose_an_acknowledged_start(account: Account) -> None:
    account.story.runs[0]["key"] = "another"


def start_twice(account: Account) -> None:
    account.story.runs.append({**account.story.runs[0], "run": "8"})


def show_a_traceback(account: Account) -> None:
    said = account.said
    assert isinstance(said, dict)
    said["worker"] += "Traceback (most recent call last)"


SPOILED: dict[Callable[[Account], None], str] = {
    retry_a_moment_early: "retries_wait_in_the_log",
    reach_the_world_early: "retries_wait_in_the_world",
    wake_early: "sleeps_last",
    execute_what_was_not_started: "effects_are_on_record",
    execute_after_the_outcome: "effects_are_on_record",
    execute_twice_without_a_loss: "one_effect_unless_a_worker_was_lost",
    change_the_key: "one_key_for_all_executions",
    lose_an_acknowledged_start: "acknowledged_starts_exist",
    start_twice: "acknowledged_starts_exist",
    show_a_traceback: "no_traceback_reaches_anyone",
}


def test_a_good_account_has_no_complaints() -> None:
    assert complaints(good()) == []


@pytest.mark.parametrize("spoil", SPOILED, ids=lambda spoil: spoil.__name__)
def test_a_broken_guarantee_is_noticed(spoil: Callable[[Account], None]) -> None:
    account = deepcopy(good())
    spoil(account)
    assert SPOILED[spoil] in {line.partition(":")[0] for line in complaints(account)}


def test_a_worker_that_stood_still_may_reach_the_world_late() -> None:
    account = good(has_stalled=True)
    execute_after_the_outcome(account)
    assert complaints(account) == []


def test_every_check_is_seen_to_fail() -> None:
    assert {check.__name__ for check in CHECKS} == set(SPOILED.values())
