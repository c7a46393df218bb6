"""`anew bulk`: one action on many runs, once somebody has seen how many."""

from __future__ import annotations

import io
import json
import sys

import pytest

from anew.engine.state import StepRunKey
from anew.store import NewJob, WaitReason
from tests.surfaces.cli.recorded import DOWN, RETRIES, RUN, played


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def three(shelf):
    """One that is done, one that failed, and one that waits for a retry."""
    shelf.put(played(RETRIES), run=RUN)
    shelf.put(played(RETRIES, outcomes={"page": [DOWN]}), run=RUN + 1)
    job = NewJob(StepRunKey("fetch", 1), due_at=2**62, reason=WaitReason.RETRY)
    shelf.put(played(RETRIES, outcomes={"page": [DOWN]}), run=RUN + 2, upto=7, jobs=[job])


def statuses(anew) -> list[str]:
    return [json.loads(line)["status"] for line in anew("runs", "--json").lines]


def test_a_dry_run_says_how_many(three, anew) -> None:
    told = anew("bulk", "cancel", "--program", "flaky", "--dry-run")
    assert (told.status, told.out) == (0, "cancel can change 1 of 3 runs\n")
    told = anew("bulk", "retry", "--state", "failed", "--dry-run", "--json")
    assert json.loads(told.out) == {"count": 1, "able": 1, "refused": []}
    assert statuses(anew) == ["running", "failed", "done"]


def test_where_nobody_can_be_asked_yes_is_needed(three, anew) -> None:
    told = anew("bulk", "cancel", "--program", "flaky")
    assert told.status == 2
    assert "cancel can change 1 of 3 runs. There is no terminal to ask on: give --yes" in told.err
    assert statuses(anew) == ["running", "failed", "done"]


def test_with_yes_it_is_done_and_told(three, anew) -> None:
    told = anew("bulk", "cancel", "--program", "flaky", "--yes", "--reason", "wrong region")
    first, *refused = told.lines
    assert first == "cancel: 1 run changed, 2 refused"
    assert f"  {RUN}  it is done: there is nothing to cancel" in refused
    assert statuses(anew) == ["cancelled", "failed", "done"]


@pytest.mark.parametrize(
    ("said", "status"), [("y\n", "paused"), ("\n", "running"), ("", "running")]
)
def test_somebody_at_a_terminal_is_asked(three, anew, monkeypatch, said, status) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(said))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    told = anew("bulk", "pause", str(RUN + 2))
    assert "pause can change 1 of 1 run. Continue? [y/N]" in told.err
    assert statuses(anew)[0] == status
    assert ("nothing was done" in told.err) == (status == "running")


def test_a_run_is_retried_once_however_often_it_is_asked(three, anew) -> None:
    told = anew("bulk", "retry", "--state", "failed", "--yes", "--json")
    assert json.loads(told.out) == {"changed": [str(RUN + 1)], "refused": []}
    told = anew("bulk", "retry", str(RUN + 1), "--yes", "--json")
    [refused] = json.loads(told.out)["refused"]
    assert refused["detail"] == f"it was retried before, as run {refused['retried_as']}"
    assert told.status == 1
    assert len(statuses(anew)) == 4


@pytest.mark.parametrize(
    "words", [[], ["--state", "failed", str(RUN)], ["--state", "gone"], ["--version", "1"]]
)
def test_it_must_be_said_which_runs(three, anew, words) -> None:
    told = anew("bulk", "cancel", *words, "--yes")
    assert told.status == 2
    assert statuses(anew) == ["running", "failed", "done"]


def test_no_run_that_fits_is_no_trouble(three, anew) -> None:
    told = anew("bulk", "cancel", "--program", "other")
    assert (told.status, told.out) == (0, "cancel can change 0 of 0 runs\n")


def test_runs_that_are_not_there_are_refused_and_do_not_stop_the_others(three, anew) -> None:
    told = anew("bulk", "cancel", "12345", str(RUN + 2), "--yes")
    assert told.status == 0
    assert told.lines[0] == "cancel: 1 run changed, 1 refused"
    assert "12345  there is no run 12345" in told.lines[1]
    told = anew("bulk", "cancel", "12345", "--yes")
    assert (told.status, told.lines[0]) == (1, "cancel: 0 runs changed, 1 refused")


def test_it_fails_when_every_run_refuses(three, anew) -> None:
    assert anew("bulk", "cancel", str(RUN), str(RUN + 1), "--yes").status == 1
    assert anew("bulk", "cancel", str(RUN), str(RUN + 2), "--yes").status == 0


def test_the_log_tells_why_it_was_cancelled(three, anew) -> None:
    assert anew("bulk", "cancel", str(RUN + 2), "--reason", "wrong", "--yes").status == 0
    events = [json.loads(line) for line in anew("events", str(RUN + 2), "--json").lines]
    assert [one["data"]["reason"] for one in events if one["name"] == "run.cancelled"] == ["wrong"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["resume", "--reason", "x"],
            "resume takes no reason: omit it. cancel and pause take",
        ),
        (["retry", "--reason", "x"], "retry takes no reason"),
        (["skip", "--reason", "x"], "skip takes no reason"),
        (["cancel", "--by", "x"], "cancel takes no name: omit `by`. skip takes one."),
    ],
)
def test_what_no_log_would_keep_is_refused(three, anew, words, said) -> None:
    told = anew("bulk", *words, "--program", "flaky", "--yes")
    assert told.status == 2
    assert said in told.err
    assert statuses(anew) == ["running", "failed", "done"]
