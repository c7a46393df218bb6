"""A rule jumps as often, and for as long, as it says; then the rules after it decide."""

from __future__ import annotations

import pytest

from anew.lab.bounds import bounds_of
from anew.languages import load_text
from tests.play import play, rows

ASK = """
workflow:
- step: a
  tool:
  - ask: {kind: noop, spec: {policy: {rules: [{when: "{{ not outcome.result.ready }}", then: {do: jump, to: ask, %s}}, {when: "{{ not outcome.result.ready }}", then: {do: fail, message: never}}, {else: {then: {do: continue}}}]}}}
"""
WAITING = {"result": {"ready": False}, "takes": 1}


def asked(report):
    return len(rows(report, "task.started"))


@pytest.mark.parametrize(
    ("limit", "calls"),
    [
        ("most: 3", 4),
        ("delay: 30, max_elapsed: 5m", 10),
        ("delay: 30, most: 2, max_elapsed: 5m", 3),
    ],
)
def test_a_rule_that_has_jumped_enough_does_not_match(limit, calls):
    report = play(ASK % limit, outcomes={"ask": WAITING})
    assert (report["status"], report["error"]["message"]) == ("failed", "never")
    assert asked(report) == calls


def test_each_step_run_counts_its_own_jumps():
    looped = (ASK % "most: 2").replace("  tool:", "  loop: {in: [1, 2], iterator: n}\n  tool:")
    assert asked(play(looped, outcomes={"ask": WAITING})) == 6


def test_a_limit_that_is_not_reached_changes_nothing():
    ready = [{**WAITING, "times": 2}, {"result": {"ready": True}}]
    report = play(ASK % "most: 2", outcomes={"ask": ready})
    assert (report["status"], asked(report)) == ("done", 3)


@pytest.mark.parametrize(("limit", "calls"), [("most: 3", 4), ("delay: 30, max_elapsed: 5m", 11)])
def test_bounds_count_a_cycle_that_is_limited(limit, calls):
    found = bounds_of(load_text(ASK % limit, "a.yaml").program)
    assert (found.executions.at_most, found.executions.is_bounded) == (calls, True)


def test_bounds_are_open_where_one_of_two_cycles_is():
    open_too = (ASK % "most: 3").replace("do: fail, message: never", "do: jump, to: ask")
    assert not bounds_of(load_text(open_too, "a.yaml").program).executions.is_bounded
