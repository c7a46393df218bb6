"""The report: one object per run, from one look at its log."""

from __future__ import annotations

import json

from anew.engine import events as e
from anew.engine.fold import fold
from anew.views.report import report
from tests.play import simulated
from tests.views.recorded import DOWN, LOOP, RETRY, SECOND, upto

KEYS = ["run", "program", "status", "error", "result", "ctx", "seconds", "events", "steps"]


def of(run, log=None, *, now: int | None = None):
    log = run.log if log is None else log
    made = report(run.program, log, fold(log), now=log[-1].at if now is None else now)
    return json.loads(json.dumps(made))


def statuses(run, log) -> dict[str, str]:
    return {name: step["status"] for name, step in of(run, log)["steps"].items()}


def test_a_done_run_has_exactly_the_keys_of_the_contract() -> None:
    run = simulated(RETRY, outcomes={"page": [{**DOWN, "times": 2}, {"result": {"n": 1}}]})
    made = of(run)
    assert list(made) == KEYS
    assert made["status"] == "done"
    assert made["seconds"] == 4.0
    assert made["events"] == len(run.log)
    assert made["steps"] == {
        "fetch": {"status": "done", "visits": 1, "attempts": 3, "result": {"n": 1}},
        "store": {"status": "done", "visits": 1, "attempts": 1, "result": {}},
    }


def test_a_failed_run_has_the_error_of_its_step() -> None:
    made = of(simulated(RETRY, outcomes={"page": [DOWN]}))
    assert made["status"] == "failed"
    assert made["error"]["kind"] == "server_error"
    assert made["error"]["retry"] == {"attempts": 4, "exhausted": True}
    assert made["steps"]["fetch"] == {
        "status": "failed",
        "visits": 1,
        "attempts": 4,
        "result": None,
    }
    assert "store" not in made["steps"]


def test_each_status_word_is_used_for_what_it_says() -> None:
    run = simulated(RETRY, outcomes={"page": [DOWN, {"result": 1}]})
    assert statuses(run, upto(run, e.StepScheduled)) == {"fetch": "scheduled"}
    assert statuses(run, upto(run, e.TaskStarted)) == {"fetch": "running"}
    assert statuses(run, upto(run, e.TaskRetryScheduled)) == {"fetch": "retrying"}
    assert statuses(run, upto(run, e.TaskStarted, 2)) == {"fetch": "running"}
    log = upto(run, e.TaskRetryScheduled)
    log = [*log, e.RunCancelled(seq=len(log) + 1, at=log[-1].at)]
    assert statuses(run, log) == {"fetch": "cancelled"}
    assert of(run, log)["error"]["kind"] == "cancelled"


def test_a_sleep_and_a_child_are_waiting() -> None:
    document = """
workflow:
  - step: nap
    tool: {kind: sleep, seconds: 9}
    next: [{step: sub}]
  - step: sub
    tool: {kind: playbook, path: other}
"""
    run = simulated(document)
    assert statuses(run, upto(run, e.TaskStarted)) == {"nap": "waiting"}
    assert statuses(run, upto(run, e.TaskStarted, 2)) == {"nap": "done", "sub": "waiting"}


def test_a_step_dropped_by_the_failure_of_another_is_skipped() -> None:
    document = """
workflow:
  - step: start
    next: [a, b]
  - step: a
    tool: {kind: noop}
  - step: b
    tool: {kind: noop}
    next: [{step: c}]
  - step: c
    tool: {kind: noop}
    spec: {policy: {admit: {rules: [{else: {then: {allow: false}}}]}}}
"""
    failed = {"error": {"kind": "auth", "message": "no"}, "takes": 5}
    run = simulated(document, outcomes={"a": [failed]})
    assert statuses(run, run.log) == {
        "start": "done",
        "a": "failed",
        "b": "done",
        "c": "skipped",
    }


def test_a_lost_worker_does_not_cost_an_attempt() -> None:
    run = simulated(RETRY)
    log = upto(run, e.TaskStarted)
    place = {"step": "fetch", "visit": 1}
    at, number = log[-1].at, len(log)
    log = [
        *log,
        e.StepRedelivered(**place, seq=number + 1, at=at, delivery=2),
        e.TaskStarted(**place, seq=number + 2, at=at, task="page", attempt=1, task_visit=1),
    ]
    assert of(run, log)["steps"]["fetch"]["attempts"] == 1


def test_a_loop_is_one_visit_with_all_its_executions() -> None:
    run = simulated(LOOP % 5, outcomes={"one": [DOWN, {"result": 7}]})
    each = of(run)["steps"]["each"]
    assert (each["visits"], each["attempts"]) == (1, 6)
    assert each["result"] == {"results": [7] * 5, "total": 5, "done": 5, "failed": 0}


def test_time_goes_on_while_the_run_does() -> None:
    run = simulated(RETRY, outcomes={"page": [DOWN]})
    log = upto(run, e.TaskRetryScheduled)
    assert of(run, log, now=log[-1].at + 90 * SECOND)["seconds"] == 90.0
    assert of(run, now=run.log[-1].at + 90 * SECOND)["seconds"] == 6.0
