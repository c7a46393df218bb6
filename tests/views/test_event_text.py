"""One text for each event, wherever it is shown."""

from __future__ import annotations

import re

import pytest

from anew.engine import events as e
from anew.views.words import EVENT_TEXT_CHARS_MAX, event_rows, rows_with_text
from tests.views.test_timeline import DECIDED, FETCH, START, scheduled

# What a timeline leaves out has a text all the same: a list of events shows every one.
ALONE = {
    "run.requested": "requested · program p",
    "step.scheduled": "step scheduled",
    "step.started": "step started",
    "task.retry_scheduled": "task page retry · attempt 2 of 3 in 2.0 s",
    "loop.iteration.done": "iteration done",
    "branch.forked": "split into branches · 2 tokens",
}


@pytest.mark.parametrize(("event", "line"), DECIDED, ids=[event.name for event, _ in DECIDED])
def test_a_row_says_what_the_timeline_says(event: e.Event, line: str | None) -> None:
    event.at = START
    (row,) = rows_with_text([event])
    text = row.pop("text")
    assert text == (ALONE[event.name] if line is None else re.sub(r"  +", " · ", line))
    assert [row] == event_rows([event])


def test_a_retry_says_when_it_comes_and_why() -> None:
    event = scheduled(60.0)
    event.retry_after_seconds, event.last_error, event.to = 60.0, "HTTP 429\nslow", "again"
    (row,) = rows_with_text([event])
    assert row["text"] == (
        "task page retry · attempt 2 of 3 in 60.0 s · Retry-After 60.0 s · by way of again"
        " · HTTP 429 slow"
    )


def test_a_visit_says_what_it_was_given() -> None:
    args = dict.fromkeys("ab", 1)
    (row,) = rows_with_text([e.StepScheduled(step="s", tokens=[1, 2], args=args)])
    assert row["text"] == "step scheduled · 2 tokens merged · args a, b"


def test_a_text_is_one_line_of_bounded_length() -> None:
    (cancelled,) = rows_with_text([e.RunCancelled(reason="so\nlong " * 1_000)])
    warned = e.TaskStarted(**FETCH, task_visit=1, warnings=("odd\n" * 50,) * 50)
    (started,) = rows_with_text([warned])
    for row in (cancelled, started):
        assert len(row["text"]) == EVENT_TEXT_CHARS_MAX
        assert "\n" not in row["text"]
