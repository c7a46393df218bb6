"""`anew show`: what a person reads about one run."""

from __future__ import annotations

import json

from anew.engine.state import StepRunKey
from anew.runtime.ownership import Ownership
from anew.store import NewJob, WaitReason
from tests.surfaces.cli.recorded import DOWN, RETRIES, RUN, hostile, played


def twice():
    return played(RETRIES, outcomes={"page": [{**DOWN, "times": 2}, {"result": {"n": 1}}]})


def test_a_finished_run_is_told_with_its_steps_and_result(shelf, anew) -> None:
    shelf.put(twice())
    told = anew("show", "last")
    assert told.status == 0
    assert told.lines[0].startswith(f"run {RUN}  done  flaky  started ")
    assert told.lines[2:] == [
        "Done in 4.8 s: 2 steps, 2 retries",
        "",
        "fetch  done       3 attempts",
        "store  done       1 attempt",
        "",
        "result: {}",
    ]


def test_a_failed_run_says_where_and_what_to_do(shelf, anew) -> None:
    shelf.put(played(RETRIES, outcomes={"page": [DOWN]}))
    told = anew("show", str(RUN))
    assert "Failed in step fetch after 3 attempts: server_error: 503" in told.lines
    assert f"`anew retry {RUN} --from fetch`" in told.out
    assert "error: 503" in told.lines


def test_a_run_nobody_works_on_says_how_to_go_on(shelf, anew) -> None:
    job = NewJob(StepRunKey("fetch", 1), due_at=0, reason=WaitReason.RETRY)
    shelf.put(twice(), upto=7, jobs=[job])
    told = anew("show", "last")
    assert told.lines[0].startswith(f"run {RUN}  interrupted  flaky  started ")
    assert told.lines[2].startswith("Interrupted: no process has worked on it for ")
    assert (
        "it was at this: Waiting to retry fetch (attempt 2 of 3), due now: HTTP 503"
        in told.lines[2]
    )
    assert f"`anew resume {RUN}`" in told.out
    report = json.loads(anew("show", "last", "--json").out)
    assert report["interrupted"]["process"] is None
    (shelf.path.parent / "runs.db.lock").write_text("4711")
    assert "Interrupted: process 4711 died, and no other" in anew("show", "last").lines[2]


def test_a_job_that_nobody_takes_is_told_where_a_process_is_there(shelf, anew) -> None:
    job = NewJob(StepRunKey("fetch", 1), due_at=0, reason=WaitReason.RETRY)
    shelf.put(twice(), upto=7, jobs=[job])
    with Ownership(shelf.path):
        told = anew("show", "last")
        assert "interrupted" not in json.loads(anew("show", "last", "--json").out)
    assert told.lines[2].startswith("No worker has taken fetch, which has been due for ")
    assert f"`anew resume {RUN}`" in told.out


def test_a_wait_says_until_when_and_why(shelf, anew) -> None:
    """A job that is due far in the future is not overdue, so the wait itself is told."""
    job = NewJob(StepRunKey("fetch", 1), due_at=2**62, reason=WaitReason.RETRY)
    shelf.put(twice(), upto=7, jobs=[job])
    with Ownership(shelf.path):
        told = anew("show", "last")
    assert told.lines[2].startswith("Waiting to retry fetch (attempt 2 of 3), due now: HTTP 503")
    # It was due on another day.
    assert told.lines[2].endswith("(at 2000-01-01 00:00:02)")
    assert "(rule 1, line 11)" in told.lines[2]
    assert "fetch  retrying   1 attempt · last: HTTP 503" in told.lines


def test_json_is_the_report_and_nothing_else(shelf, anew) -> None:
    shelf.put(twice())
    report = json.loads(anew("show", "last", "--json").out)
    assert report["run"] == str(RUN)
    assert report["steps"]["fetch"] == {
        "status": "done",
        "visits": 1,
        "attempts": 3,
        "result": {"n": 1},
    }
    assert report["seconds"] == 4.8


def test_names_cannot_move_the_cursor(shelf, anew) -> None:
    shelf.put(hostile(), document="workflow: [{step: a}]")
    for word in ("show", "timeline", "events"):
        told = anew(word, "last")
        assert told.status == 0
        assert "\x1b" not in told.out
        assert "�[2J�b漢字" in told.out


def test_an_unknown_run_is_refused_with_a_hint(shelf, anew) -> None:
    shelf.put(twice())
    for said in ("123456", "9" * 26, "9" * 5000, "nonsense", "12", "-1x", "²²²", ""):
        told = anew("show", "--", said)
        assert told.status == 2, said
        assert "`anew runs`" in told.err
        assert told.err.count("\n") == 1


def test_a_run_is_found_by_its_last_or_first_digits(shelf, anew) -> None:
    shelf.put(twice())
    shelf.put(twice(), run=RUN + 1)
    assert anew("show", "043").lines[0].startswith(f"run {RUN + 1} ")
    assert anew("show", "last").lines[0].startswith(f"run {RUN + 1} ")
    told = anew("show", "7351")
    assert told.status == 2
    assert "fits 2 runs" in told.err


def test_a_database_that_is_not_there_is_unreachable(anew) -> None:
    told = anew("show", "last")
    assert told.status == 4
    assert told.out == ""
    assert told.err.startswith("anew: ")
    assert told.err.count("\n") == 1


RELAYED = """digraph g { start [shape=Mdiamond]; exit [shape=Msquare]; ok [shape=diamond];
  build [shape=parallelogram, tool_command="false"]; fix [shape=parallelogram, tool_command="true"];
  start -> build -> ok; ok -> exit [condition="outcome=success"];
  ok -> fix [condition="outcome=fail"]; fix -> exit }"""


def test_a_diamond_that_passes_a_failure_on_is_no_failure(anew, tmp_path) -> None:
    document = tmp_path / "relayed.dot"
    document.write_text(RELAYED)
    told = anew("run", str(document))
    assert told.status == 0
    assert any(line.endswith("ok: passes on the failure of build") for line in told.lines)
    assert "ok: failed" not in told.out
    shown = anew("show", "last")
    assert "ok     done       1 attempt · passes on the failure of build" in shown.lines
