"""`anew events`: rows of the log, in any of its words."""

from __future__ import annotations

import json

import pytest

from anew.engine.events import to_row
from anew.surfaces.cli import events as command
from tests.surfaces.cli.recorded import DOWN, RETRIES, played

KEYS = ["seq", "at", "name", "step", "visit", "iteration", "task", "attempt", "data"]


@pytest.fixture
def run(shelf):
    simulation = played(RETRIES, outcomes={"page": [DOWN, {"result": 1}]})
    shelf.put(simulation)
    return simulation


def test_json_rows_are_those_of_the_contract(run, anew) -> None:
    rows = [json.loads(line) for line in anew("events", "last", "--json").lines]
    assert [list(row) for row in rows] == [KEYS] * len(run.log)
    assert rows[1:] == [to_row(event) for event in run.log[1:]]


def test_after_and_limit_cut_a_piece_out(run, anew, monkeypatch) -> None:
    monkeypatch.setattr(command, "PAGE_EVENTS", 2)
    rows = anew("events", "last", "--json", "--after", "3", "--limit", "5").lines
    assert [json.loads(row)["seq"] for row in rows] == [4, 5, 6, 7, 8]


def test_a_log_of_many_pages_is_printed_whole(run, anew, monkeypatch) -> None:
    monkeypatch.setattr(command, "PAGE_EVENTS", 3)
    assert len(anew("events", "last").lines) == len(run.log)


def test_the_words_of_actions_are_a_view_of_the_same_log(run, anew) -> None:
    lines = anew("events", "last", "--words", "actions").lines
    assert [line.split()[3] for line in lines][:3] == [
        "action_started",
        "action_error",
        "step_retry",
    ]


def test_a_number_past_the_end_gives_nothing(run, anew) -> None:
    assert anew("events", "last", "--after", "9" * 30).lines == []
    assert anew("events", "last", "--after", "-1").status == 2
