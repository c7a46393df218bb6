"""`anew runs`: which runs are listed, and how."""

from __future__ import annotations

import json

import pytest

from anew.engine.state import StepRunKey
from anew.runtime.ownership import Ownership
from anew.store import NewJob, WaitReason
from tests.surfaces.cli.recorded import DOWN, RETRIES, RUN, hostile, played


@pytest.fixture
def three(shelf):
    shelf.put(played(RETRIES), run=RUN, labels={"team": "a"})
    shelf.put(played(RETRIES, outcomes={"page": [DOWN]}), run=RUN + 1)
    waiting = played(RETRIES, outcomes={"page": [DOWN]})
    job = NewJob(StepRunKey("fetch", 1), due_at=2**62, reason=WaitReason.RETRY)
    shelf.put(waiting, run=RUN + 2, upto=7, jobs=[job])


def listed(told) -> list[str]:
    assert told.status == 0, told.err
    return [line.split()[0] for line in told.lines]


def test_runs_are_listed_newest_first_with_their_error(three, anew) -> None:
    told = anew("runs")
    assert listed(told) == [str(RUN + 2), str(RUN + 1), str(RUN)]
    assert [line.split()[1] for line in told.lines] == ["interrupted", "failed", "done"]
    assert "server_error: 503" in told.lines[1]
    assert all(len(line) <= 100 for line in told.lines)


def test_a_run_is_interrupted_while_no_process_works_on_the_file(three, shelf, anew) -> None:
    rows = [json.loads(line) for line in anew("runs", "--json").lines]
    assert [row.get("interrupted") for row in rows] == [True, None, None]
    with Ownership(shelf.path):
        assert [line.split()[1] for line in anew("runs").lines] == ["retrying", "failed", "done"]
        assert "interrupted" not in anew("runs", "--json").out


def test_a_run_that_also_asks_a_person_is_interrupted_as_its_own_first_line_says(
    shelf, anew
) -> None:
    retries = NewJob(StepRunKey("fetch", 1), due_at=2**62, reason=WaitReason.RETRY)
    asks = NewJob(StepRunKey("ask", 1), due_at=None, reason=WaitReason.PERSON)
    shelf.put(played(RETRIES), run=RUN, upto=7, jobs=[retries, asks])
    assert "  interrupted  " in anew("show", "last").lines[0]
    assert [line.split()[1] for line in anew("runs").lines] == ["interrupted"]
    with Ownership(shelf.path):
        assert [line.split()[1] for line in anew("runs").lines] == ["person"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--status", "failed"], [1]),
        (["--status", "failed", "--status", "done"], [1, 0]),
        (["--retrying"], [2]),
        (["--program", "flaky"], [2, 1, 0]),
        (["--program", "other"], []),
        (["--label", "team=a"], [0]),
        (["--limit", "1"], [2]),
        (["--since", "1h"], []),
        (["--since", "1999-12-31"], [2, 1, 0]),
        (["--since", "9999-12-31T23:00Z"], []),
        (["--since", "999999d"], [2, 1, 0]),
        (["--limit", "9" * 30], [2, 1, 0]),
        (["--state", "retrying"], [2]),
        (["--running-longer-than", "1h"], [2]),
        (["--running-longer-than", "1h", "--status", "failed", "--status", "running"], [2]),
        (["--running-longer-than", "999999d"], []),
        (["--state", "failed", "--state", "done"], [1, 0]),
        (["--attempt", "1"], [2]),
        (["--attempt", "2"], []),
        (["--due-within", "1h"], []),
        (["--error-kind", "server_error"], [1]),
        (["--error-kind", "auth"], []),
        (["--fingerprint", "x"], []),
        (["--text", "FLAK"], [2, 1, 0]),
        (["--text", "503"], [1]),
        (["--until", "1h"], [2, 1, 0]),
        (["--until", "1999-12-31"], []),
        (["--program", "flaky", "--version", "1"], [2, 1, 0]),
    ],
)
def test_filters_narrow_the_list(three, anew, words: list[str], found: list[int]) -> None:
    assert listed(anew("runs", *words)) == [str(RUN + n) for n in found]


def test_a_list_says_how_many_more_there_are(three, anew) -> None:
    told = anew("runs", "--limit", "1")
    assert told.err == "and 2 more; `--limit N` shows more of them\n"
    assert anew("runs", "--limit", "3").err == ""
    assert anew("runs", "--status", "failed", "--limit", "1").err == ""
    assert anew("runs", "--limit", "1", "--json").err == ""


def test_json_has_one_object_per_line_with_ids_as_text(three, anew) -> None:
    rows = [json.loads(line) for line in anew("runs", "--json").lines]
    assert [row["run"] for row in rows] == [str(RUN + 2), str(RUN + 1), str(RUN)]
    assert rows[2]["created_at"] == "2000-01-01T00:00:00.000000Z"
    assert rows[2]["labels"] == {"team": "a"}
    assert rows[1]["error"]["kind"] == "server_error"


@pytest.mark.parametrize(
    "words", [["--since", "soon"], ["--since", "1e999"], ["--label", "x"], ["--status", "odd"]]
)
def test_an_unusable_filter_is_refused(three, anew, words: list[str]) -> None:
    told = anew("runs", *words)
    assert told.status == 2
    assert told.out == ""


def test_an_empty_list_says_so_beside_the_output(three, anew) -> None:
    told = anew("runs", "--program", "other")
    assert (told.out, told.err) == ("", "no run fits\n")


def test_a_hostile_program_name_stays_in_its_column(shelf, anew) -> None:
    shelf.put(hostile(), document="workflow: [{step: a}]")
    told = anew("runs")
    assert len(told.lines) == 1
    assert "\x1b" not in told.out
