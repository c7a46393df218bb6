"""Every decision of a graph's log can be derived again."""

from __future__ import annotations

import pytest
from msgspec.structs import replace as changed

from anew.engine import events as e
from anew.lab.replay import replay
from tests.test_conformance import CASES
from tests.views.graphs import ASK, RACE, RACED, RESTARTS, drawn

GRAPHS = [case for case in CASES if "dot" in case]


@pytest.mark.parametrize("case", GRAPHS, ids=lambda case: case["id"])
def test_the_log_of_a_graph_is_derived_again(case) -> None:
    run = drawn(case["dot"], **case["script"])
    assert [replay(run.program, log) for log in run.runs] == [None]


def test_each_run_of_a_line_is_derived_by_itself() -> None:
    failing = {"status": "fail", "error": {"type": "TERMINAL"}}
    run = drawn(RESTARTS, outcomes={"b": [failing, failing, {"status": "success"}]})
    assert [replay(run.program, log) for log in run.runs] == [None, None, None]


@pytest.mark.parametrize(
    ("graph", "outcomes", "kind", "wrong"),
    [
        (ASK % "", {"h": [{"answer": "n"}]}, e.HumanAnswered, {"label": "[Y] Yes"}),
        (ASK % "timeout=5 timeout_action=first", {}, e.HumanTimedOut, {"label": "[N] No"}),
        (RACE, RACED, e.BranchJoined, {"cancelled": []}),
        (RACE, RACED, e.BranchForked, {"join": "x"}),
    ],
)
def test_a_log_that_was_tampered_with_is_found_out(graph, outcomes, kind, wrong) -> None:
    run = drawn(graph, outcomes=outcomes)
    log = [changed(event, **wrong) if type(event) is kind else event for event in run.log]
    found = replay(run.program, log)
    assert found is not None
    assert type(found.derived) is kind
