"""From which step a failed run is retried where nobody names one."""

from __future__ import annotations

import pytest

from anew.errors import ConfigError
from anew.program.program import Program
from anew.runtime.fork_points import step_to_retry
from anew.store import RunId
from anew.views.progress import progress_of
from tests.play import simulated

DOWN = {"error": {"kind": "server_error", "message": "HTTP 503 Service Unavailable"}}
BRANCHES = """
executor: {spec: {policy: {failure: {mode: best_effort}}}}
workflow:
  - {step: begin, tool: noop, next: [first, second]}
  - {step: first, tool: noop}
  - {step: second, tool: noop}
"""
ALERT = """
workflow:
  - {step: load, tool: noop, next: [{step: alert, when: "{{ event.name == 'step.failed' }}"}]}
  - {step: alert, tool: noop}
"""


def retried(document: str, **outcomes: object) -> tuple[str, str | None]:
    """The step that a retry begins at, and the one that the verdict names."""
    run = simulated(document, outcomes=outcomes)
    assert isinstance(run.program, Program)
    return step_to_retry(run.log, RunId(1), run.program), progress_of(run.log).failed_step


def test_of_several_failures_the_first_is_the_one_of_the_run() -> None:
    later = {**DOWN, "takes": 5}
    assert retried(BRANCHES, first=[DOWN], second=[later]) == ("first", "first")
    assert retried(BRANCHES, first=[later], second=[DOWN]) == ("second", "second")


def test_what_dealt_with_a_failure_is_not_where_it_began() -> None:
    assert retried(ALERT, load=[DOWN], alert=[DOWN]) == ("load", "alert")


def test_a_run_that_did_well_has_no_such_step() -> None:
    with pytest.raises(ConfigError, match="Name the step to retry from"):
        retried(ALERT, load=[{}])
