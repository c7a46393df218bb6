"""`anew simulate --words actions` shows retries in action names (events.md#action-names)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anew.engine.events import TaskStarted
from anew.surfaces.cli.main import main
from anew.views.actions import actions
from tests.play import simulated

SEEDS = Path(__file__).resolve().parents[2] / "examples" / "seeds"
DOWN = "503 Service Unavailable"

BOTH_BEGIN = [
    ("action_started", {"attempt": 1, "max_attempts": 3, "is_retry": False}),
    ("action_error", {"attempt": 1, "error": DOWN}),
    (
        "step_retry",
        {"attempt": 1, "max_attempts": 3, "delay_seconds": 1.0, "last_error": DOWN},
    ),
    ("action_started", {"attempt": 2, "max_attempts": 3, "is_retry": True}),
    ("action_error", {"attempt": 2, "error": DOWN}),
    (
        "step_retry",
        {"attempt": 2, "max_attempts": 3, "delay_seconds": 2.0, "last_error": DOWN},
    ),
    ("action_started", {"attempt": 3, "max_attempts": 3, "is_retry": True}),
]
SUCCESS = [
    *BOTH_BEGIN,
    ("action_completed", {"attempt": 3, "success": True}),
    ("step_completed", {}),
]
EXHAUSTION = [
    *BOTH_BEGIN,
    ("action_error", {"attempt": 3, "error": DOWN}),
    ("step_retry_exhausted", {"attempts": 3, "max_attempts": 3, "final_error": DOWN}),
    ("step_failed_terminal", {"error": DOWN}),
    ("execution_failed", {"error": DOWN}),
]


def simulate(script: str, *words: str) -> int:
    document = str(SEEDS / "s4_three.yaml")
    return main(["simulate", document, "--script", str(SEEDS / script), *words])


def rows(script: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    simulate(script, "--words", "actions", "--json")
    events: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["events"]
    return events


@pytest.mark.parametrize(
    ("script", "timeline"),
    [("s4_three.script.yaml", SUCCESS), ("s4_three.exhausted.script.yaml", EXHAUSTION)],
)
def test_the_timeline_of_the_seed_in_its_order(
    script: str, timeline: list[tuple[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert [(row["name"], row["data"]) for row in rows(script, capsys)] == timeline


NO_RULE = "workflow: [{step: a, tool: {kind: noop}}]"
COUNTED = """
workflow:
- step: a
  tool:
    kind: noop
    spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: "{{ 1 + 1 }}"}}]}}
"""


@pytest.mark.parametrize(("document", "expected"), [(NO_RULE, [1]), (COUNTED, [None, 2])])
def test_a_start_says_how_often_the_task_may_be_executed(
    document: str, expected: list[int | None]
) -> None:
    played = simulated(document, outcomes={"a": [{"error": {"kind": "timeout"}}]})
    told = actions(played.log, played.program)
    started = [row["data"]["max_attempts"] for row in told if row["name"] == "action_started"]
    assert started == expected
    assert actions(played.log)[0]["data"]["max_attempts"] is None  # nobody knows the program


def test_an_attempt_that_starts_again_after_a_lost_worker_is_allowed_as_much() -> None:
    played = simulated(COUNTED, outcomes={"a": [{"error": {"kind": "timeout"}}]})
    starts = [event for event in played.log if isinstance(event, TaskStarted)]
    again = [one for event in played.log for one in ([event] * (2 if event is starts[-1] else 1))]
    started = [row["data"] for row in actions(again) if row["name"] == "action_started"]
    assert [(one["attempt"], one["max_attempts"]) for one in started] == [(1, None), (2, 2), (2, 2)]


def test_the_waits_pass_between_a_retry_and_the_next_start(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = rows("s4_three.script.yaml", capsys)
    seconds = [row["at"].removeprefix("2000-01-01T00:00:").removesuffix("Z") for row in told]
    assert seconds == ["00.000000"] * 3 + ["01.000000"] * 3 + ["03.000000"] * 3


def test_every_row_but_the_execution_says_where_it_happened(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = rows("s4_three.exhausted.script.yaml", capsys)
    assert {row["step"] for row in told[:-1]} == {"fetch_data"}
    assert told[-1]["step"] is None
    assert {row["visit"] for row in told[:-1]} == {1}


def test_the_text_form_has_the_same_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate("s4_three.exhausted.script.yaml", "--words", "actions") == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[3] for line in lines[:-1]] == [name for name, _ in EXHAUSTION]
    assert "attempt=1" in lines[2]
    assert f'max_attempts=3 delay_seconds=1.0 last_error="{DOWN}"' in lines[2]
