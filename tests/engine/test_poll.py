"""`poll` executes a task again until something holds, as durably as a jump waits."""

from __future__ import annotations

import pytest

from anew.lab.bounds import bounds_of
from anew.languages import load_text
from tests.play import BOOM, play, rows

TASK = 'workflow:\n- step: a\n  tool:\n  - ask: {kind: noop, %s poll: {until: "{{ outcome.result.ready }}", every: 30, %s}}\n'
WAITING, READY = {"result": {"ready": False}}, {"result": {"ready": True}}


def polled(more, outcomes, own=""):
    return play(TASK % (own, more), outcomes={"ask": outcomes})


def asked(report):
    return len(rows(report, "task.started"))


def test_a_task_is_executed_again_until_what_is_waited_for_is_there():
    report = polled("", [WAITING, WAITING, READY])
    assert (report["status"], report["elapsed"], asked(report)) == ("done", 60, 3)


def test_a_poll_that_takes_too_long_fails_the_step_and_says_so():
    report = polled("timeout: 5m", WAITING)
    assert (report["status"], report["elapsed"]) == ("failed", 300)
    assert report["error"]["message"].startswith("timeout: ask has not come to what")


def test_what_will_never_come_fails_the_step_at_once():
    more = 'fail_when: "{{ outcome.result.broken }}"'
    report = polled(more, [WAITING, {"result": {"broken": True}}])
    assert (report["status"], asked(report)) == ("failed", 2)


def test_an_error_fails_the_step_unless_a_rule_retries_it():
    assert polled("", [WAITING, BOOM])["status"] == "failed"
    retries = '{rules: [{when: "{{ outcome.error }}", then: {do: retry, attempts: 2, delay: 1}}, {else: {then: {do: continue}}}]}'
    report = polled("", [WAITING, BOOM, WAITING, BOOM, READY], f"spec: {{policy: {retries}}},")
    assert (report["status"], report["elapsed"]) == ("done", 62)


@pytest.mark.parametrize(
    "own",
    ["retry: 2,", "eval: [{expr: \"{{ outcome.status == 'error' }}\", do: retry, delay: 1}],"],
)
def test_older_dialects_poll_too(own):
    assert polled("", [WAITING, BOOM, READY], own)["status"] == "done"


def test_bounds_know_how_long_is_polled():
    assert not bounds_of(load_text(TASK % ("", ""), "a.yaml").program).executions.is_bounded
    found = bounds_of(load_text(TASK % ("", "timeout: 5m"), "a.yaml").program)
    assert (found.executions.is_bounded, found.executions.at_most) == (True, 11)


def test_a_poll_says_what_it_waits_for_and_how_often():
    text = "workflow:\n- step: a\n  tool: [{t: {kind: noop, poll: {until: ctx.x}}}]\n"
    loaded = load_text(text, "a.yaml")
    assert loaded.program is None
    assert any("does not say `every`" in found.message for found in loaded.findings)
