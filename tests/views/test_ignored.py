"""Errors that a policy passed over are counted, by the rule that did so."""

from __future__ import annotations

import pytest

from anew.engine.fold import fold
from anew.views.progress import progress_of
from anew.views.report import report
from tests.play import simulated
from tests.views.recorded import DOWN, told

RULES = """
workflow:
  - step: fetch
    tool:
      - page:
          kind: noop
          spec:
            policy:
              rules:
                - when: "{{ outcome.error.kind == 'rate_limit' }}"
                  then: {do: retry, attempts: 2, delay: 1, on_exhausted: {do: continue}}
                - when: "{{ outcome.error.kind == 'server_error' }}"
                  then: {do: %s}
                - when: "{{ outcome.error.kind == 'auth' }}"
                  then: {do: fail}
      - end: {kind: noop}
"""
BUSY = {"error": {"kind": "rate_limit", "message": "slow down"}}


def errors_of(outcomes: list[object], then: str = "continue") -> list[str]:
    return progress_of(simulated(RULES % then, outcomes={"page": outcomes}).log).ignored.sentences()


@pytest.mark.parametrize("then", ["continue", "break", "jump, to: end"])
def test_an_error_that_a_rule_passes_over_is_counted(then: str) -> None:
    run = simulated(RULES % then, outcomes={"page": [DOWN]})
    assert told(run, run.log) == ["Done in 0 s: 1 step, 1 error ignored by rule 2 of fetch.page"]


def test_an_error_that_fails_its_step_or_is_retried_is_not_ignored() -> None:
    assert errors_of([{"error": {"kind": "auth", "message": "no"}}]) == []
    assert errors_of([BUSY, {"result": 1}]) == []


def test_an_error_that_no_rule_covers_is_ignored_too() -> None:
    assert errors_of([{"error": {"kind": "not_found", "message": "x"}}]) == [
        "1 error ignored: no rule of fetch.page covers it"
    ]


def test_attempts_that_are_spent_on_an_error_count_once() -> None:
    assert errors_of([BUSY]) == ["1 error ignored by on_exhausted of rule 1 of fetch.page"]


@pytest.mark.parametrize("asks", ["", ', retry_when: "{{ error != None }}"'])
def test_a_retry_block_that_gives_up_is_named_without_the_rules_it_became(asks: str) -> None:
    block = f"{{max_attempts: 2, on_exhausted: {{do: continue}}{asks}}}"
    steps = f"workflow: [{{step: fetch, tool: noop, retry: {block}}}]"
    run = simulated(steps, outcomes={"fetch": [DOWN]})
    assert progress_of(run.log).ignored.sentences() == ["1 error ignored by on_exhausted of fetch"]


def test_several_rules_are_told_as_details_and_in_the_report() -> None:
    loop = (RULES % "continue").replace(
        "    tool:", "    loop: {in: [1, 2, 3], iterator: n}\n    tool:"
    )
    run = simulated(loop, outcomes={"page": [DOWN, {"error": {"kind": "x", "message": "y"}}, DOWN]})
    assert told(run, run.log) == [
        "Done in 0 s: 1 step, 3 errors ignored",
        "2 errors ignored by rule 2 of fetch.page.",
        "1 error ignored: no rule of fetch.page covers it.",
    ]
    rows = report(run.program, run.log, fold(run.log), now=0)["ignored_errors"]
    assert [(row["rule"], row["count"]) for row in rows] == [(2, 2), (None, 1)]
    assert rows[0]["step"] == "fetch"


def test_a_run_that_fails_later_tells_what_was_ignored_before() -> None:
    run = simulated(
        RULES % "continue",
        outcomes={"page": [DOWN], "end": [{"error": {"kind": "auth", "message": "no"}}]},
    )
    assert told(run, run.log)[-1] == "1 error ignored by rule 2 of fetch.page."
