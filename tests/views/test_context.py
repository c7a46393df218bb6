"""The context of a graph's run, with the keys that are always there."""

from __future__ import annotations

from anew.engine.fold import fold
from anew.views.report import report
from anew.views.summary import summary
from tests.play import play
from tests.views.graphs import DIAMOND, FAIL, GATED, RACE, RACED, REDIRECTED, RESTARTS, drawn


def ctx(graph: str, **script):
    return drawn(graph, **script).report()["ctx"]


def test_the_current_node_is_the_last_one_that_is_no_exit() -> None:
    seen = ctx(REDIRECTED, outcomes={"a": [FAIL, {"status": "SUCCESS", "takes": 4}]})
    assert (seen["_current_node"], seen["_previous_node"]) == ("a", "r")
    assert (seen["_pipeline_name"], seen["_run_id"]) == ("again", "1")
    assert seen["_start_time"] == "2000-01-01T00:00:00.000000Z"
    assert seen["_node_start_time"] == "2000-01-01T00:00:01.000000Z"


def test_the_retries_of_the_current_node_are_counted() -> None:
    assert ctx(REDIRECTED, outcomes={"a": [FAIL, FAIL, {"status": "SUCCESS"}]})["_retry_count"] == 2
    assert ctx(REDIRECTED)["_retry_count"] == 0


def test_every_gate_is_listed_by_how_it_stands() -> None:
    assert ctx(GATED)["_goal_gates"] == {"a": "SUCCESS"}
    assert ctx(GATED, outcomes={"a": [{"status": "PARTIAL"}]})["_goal_gates"] == {"a": "PARTIAL"}
    unvisited = GATED.replace(
        "s->a;", "s->a; g [goal_gate=true]; a->g [condition=\"never == 'x'\"]; g->x;"
    )
    assert ctx(unvisited)["_goal_gates"] == {"a": "SUCCESS", "g": "PENDING"}


def test_a_redirect_of_a_gate_counts_as_its_retry() -> None:
    partial = {"status": "PARTIAL"}
    assert ctx(GATED, outcomes={"a": [partial, {"status": "SUCCESS"}]})["_retry_count"] == 1


def test_the_other_dialect_has_keys_of_its_own() -> None:
    seen = ctx(
        RESTARTS, outcomes={"b": [{"status": "process", "label": "Ship", "context": {"k": 1}}]}
    )
    assert (seen["current_node"], seen["outcome"], seen["k"]) == ("b", "process", 1)
    assert seen["preferred_label"] == "Ship"
    assert not [key for key in seen if key.startswith("_")]


def test_retries_are_counted_by_node_in_the_other_dialect() -> None:
    graph = RESTARTS.replace("a; b;", "a [max_retries=2]; b;")
    seen = ctx(graph, outcomes={"a": [{"status": "retry"}, {"status": "success"}]})
    assert seen["internal.retry_count.a"] == 1


def test_a_choice_that_passes_a_failure_on_is_a_node_too() -> None:
    assert ctx(DIAMOND, outcomes={"a": [FAIL, {"status": "SUCCESS"}]})["_current_node"] == "c"


def test_a_run_reports_the_context_a_simulation_does() -> None:
    run = drawn(RACE, outcomes=RACED)
    told = report(run.program, run.log, fold(run.log), now=run.log[-1].at)
    assert told["ctx"] == summary(run.program, run.log, run.state)["ctx"]


def test_a_playbook_has_no_such_keys() -> None:
    assert play("workflow: [{step: a, tool: {kind: noop}}]")["ctx"] == {}
