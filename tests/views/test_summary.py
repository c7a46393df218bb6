"""What a simulation of a graph reports."""

from __future__ import annotations

from tests.views.graphs import DIAMOND, FAIL, FINAL, GATED, REDIRECTED, RESTARTS, drawn


def test_every_execution_of_a_node_is_a_visit() -> None:
    told = drawn(REDIRECTED, outcomes={"a": [FAIL, {"status": "SUCCESS"}]}).report()
    assert told["visits"] == ["s", "a", "r", "a", "x"]
    assert (told["language"], told["dialect"]) == ("dot", "docs")


def test_a_failure_that_is_passed_on_is_handled_once() -> None:
    told = drawn(DIAMOND, outcomes={"a": [FAIL, {"status": "SUCCESS"}]}).report()
    assert told["handled"] == ["a"]


def test_a_retry_by_way_of_another_node_handles_nothing() -> None:
    told = drawn(REDIRECTED, outcomes={"a": [FAIL, {"status": "SUCCESS"}]}).report()
    assert told["handled"] == []
    rescued = drawn(REDIRECTED, outcomes={"a": [FINAL, {"status": "SUCCESS"}]}).report()
    assert rescued["handled"] == ["a"]


def test_gates_that_are_not_met_are_listed() -> None:
    told = drawn(GATED, outcomes={"a": [{"status": "PARTIAL"}]}).report()
    assert (told["status"], told["unsatisfied"]) == ("failed", ["a"])
    assert drawn(GATED).report()["unsatisfied"] == []


def test_a_run_that_takes_over_is_part_of_the_report() -> None:
    failing = {"status": "fail", "error": {"type": "TERMINAL"}, "takes": 2}
    run = drawn(RESTARTS, outcomes={"b": [failing, failing, {"status": "success"}]})
    told = run.report()
    assert told["visits"] == ["s", "a", "b", "a", "b", "a", "b", "x"]
    assert (told["status"], told["elapsed"], told["attempts"]["b"]) == ("done", 4, 3)
    assert set(told["attempts"]) == {"s", "a", "b", "x"}
    requests = [log[0] for log in run.runs]
    assert [(one.run, one.continues, one.entry) for one in requests] == [
        ("1", None, None),
        ("2", "1", "a"),
        ("3", "2", "a"),
    ]


def test_restarts_are_bounded() -> None:
    failing = {"status": "fail", "error": {"type": "TERMINAL"}}
    run = drawn(RESTARTS, outcomes={"b": [failing]})
    assert len(run.runs) == run.program.limits.restarts + 1
    assert run.report()["error"]["kind"] == "limit_exceeded"
