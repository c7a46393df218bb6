"""What ended well is undone in reverse order, when the run fails or is cancelled, before it ends."""

from __future__ import annotations

import pytest

from anew.engine.boundaries import Cancelled, Due, Paused, Requested, Resumed, Taken
from anew.engine.fold import fold
from anew.engine.state import RunStatus, StepRunKey
from anew.lab.replay import replay
from anew.languages import load_text
from tests.engine.test_decide import World, names
from tests.play import BOOM, play, rows, simulated

CHAIN = """
workflow:
- step: a
  tool: {kind: noop}
  compensate: [{undo_a: {kind: noop, result: "{{ a.id }}"}}]
  next: [b]
- step: b
  tool: {kind: noop}
  compensate: [{undo_b: {kind: noop, result: "{{ b.id }}"}}]
  next: [c]
- step: c
  tool: {kind: noop}
  compensate: [{undo_c: {kind: noop}}]
"""
LOOP = """
workload: {rows: [x, y, z]}
workflow:
- step: pay
  loop: {in: "{{ workload.rows }}", iterator: row}
  tool: [{take: {kind: noop, result: "{{ iter.row }}"}}]
  compensate: [{give_back: {kind: noop, result: "{{ pay }} {{ row }} {{ iter.row }} {{ _index }}"}}]
  next: [ship]
- {step: ship, tool: {kind: noop}}
"""


def undone(report: dict) -> list[str]:
    """The compensations of a run, in order."""
    return [
        event["task"]
        for event in rows(report, "task.started")
        if event["step"].endswith(".compensate")
    ]


def inputs(report: dict, task: str) -> list[object]:
    started = [event for event in rows(report, "task.started") if event["task"] == task]
    return [event["data"]["inputs"]["result"] for event in started]


def test_a_failed_run_is_undone_in_reverse_order_and_counts_it():
    report = play(
        CHAIN, outcomes={"a": {"result": {"id": 1}}, "b": {"result": {"id": 2}}, "c": BOOM}
    )
    assert report["status"] == "failed"
    assert report["error"]["message"] == "boom"
    assert undone(report) == ["undo_b", "undo_a"]
    assert (inputs(report, "undo_a"), inputs(report, "undo_b")) == ([1], [2])
    assert report["compensation"] == {"done": 2, "failed": 0}


def test_a_run_that_is_done_is_not_undone():
    report = play(CHAIN)
    assert (report["status"], undone(report)) == ("done", [])
    assert "compensation" not in report


def test_a_failure_that_an_arc_takes_undoes_nothing():
    handled = CHAIN.replace(
        "  compensate: [{undo_c",
        "  next: {arcs: [{step: d, when: \"{{ event.name == 'step.failed' }}\"}]}\n"
        "  compensate: [{undo_c",
    )
    report = play(handled + "- {step: d, tool: {kind: noop}}\n", outcomes={"c": BOOM})
    assert (report["status"], undone(report)) == ("done", [])


def test_a_compensation_that_fails_keeps_no_other_from_running():
    report = play(CHAIN, outcomes={"c": BOOM, "undo_b": BOOM})
    assert undone(report) == ["undo_b", "undo_a"]
    assert report["error"]["message"] == "boom"
    assert report["compensation"] == {"done": 1, "failed": 1}


def test_a_compensation_has_a_policy_of_its_own():
    retried = CHAIN.replace("{undo_a: {kind: noop,", "{undo_a: {kind: noop, retry: 3,")
    report = play(retried, outcomes={"c": BOOM, "undo_a": [{**BOOM, "times": 2}, {"result": 1}]})
    assert undone(report) == ["undo_b", "undo_a", "undo_a", "undo_a"]
    assert report["compensation"] == {"done": 2, "failed": 0}


def test_every_visit_is_undone_with_the_result_it_had():
    again = CHAIN.replace(
        "  next: [b]", '  next: {arcs: [{step: a, when: "{{ a.id < 3 }}"}, {step: b}]}'
    )
    found = {"a": [{"result": {"id": number}} for number in (1, 2, 3)], "b": BOOM}
    assert inputs(play(again, outcomes=found), "undo_a") == [3, 2, 1]


@pytest.mark.parametrize("mode", ["sequential", "parallel"])
def test_the_iterations_of_a_loop_are_undone_in_reverse(mode):
    document = LOOP.replace("iterator: row}", f"iterator: row, spec: {{mode: {mode}}}}}")
    taken = [{"result": row} for row in "xyz"]
    report = play(document, outcomes={"take": taken, "ship": BOOM})
    assert inputs(report, "give_back") == ["z z z 2", "y y y 1", "x x x 0"]


def test_the_iterations_that_ended_well_are_undone_when_their_loop_fails():
    report = play(LOOP, outcomes={"take": [{"result": "x"}, BOOM, {"result": "z"}]})
    assert inputs(report, "give_back") == ["z z z 2", "x x x 0"]


def test_a_step_that_failed_itself_is_not_undone():
    assert undone(play(CHAIN, outcomes={"a": BOOM})) == []


def test_an_unsatisfied_gate_undoes_too():
    gated = CHAIN.replace("- step: c\n", "- step: c\n  spec: {exit: true}\n").replace(
        "- step: a\n", '- step: a\n  spec: {gate: {when: "{{ false }}"}}\n'
    )
    report = play(gated)
    assert (report["status"], report["error"]["kind"]) == ("failed", "gate_unsatisfied")
    assert undone(report) == ["undo_c", "undo_b", "undo_a"]


def test_the_log_of_a_run_that_was_undone_is_derived_again():
    found = simulated(CHAIN, outcomes={"c": BOOM, "undo_b": [BOOM]})
    assert replay(load_text(CHAIN, "test.yaml").program, found.log) is None


# --- cancelled -----------------------------------------------------------------------------------


def at_c() -> World:
    """A run that has done a and b and is at c."""
    world = World(CHAIN)
    world.do(Requested("1", {}))
    world.end("a")
    world.end("b")
    world.do(Taken(StepRunKey("c", 1)))
    return world


def test_a_cancelled_run_stops_what_it_does_and_is_undone():
    world = at_c()
    turn = world.do(Cancelled("enough"))
    assert names(turn) == ["run.compensating", "step.scheduled"]
    assert turn.stopped == (StepRunKey("c", 1),)
    assert turn.jobs == [StepRunKey("b.compensate", 1)]
    world.end("b.compensate")
    last = world.end("a.compensate").events[-1]
    assert (last.name, last.reason) == ("run.cancelled", "enough")
    assert last.compensation == {"done": 2, "failed": 0}
    assert world.state.status is RunStatus.CANCELLED


def test_who_cancels_again_does_not_wait_for_the_rest():
    world = at_c()
    world.do(Cancelled("enough"))
    last = world.do(Cancelled("at once")).events
    assert [event.name for event in last] == ["run.cancelled"]
    assert last[0].compensation == {"done": 0, "failed": 0}


def test_a_paused_run_that_is_cancelled_is_undone_at_once():
    world = at_c()
    world.do(Paused())
    assert world.do(Cancelled()).jobs == [StepRunKey("b.compensate", 1)]


def test_a_compensation_can_be_paused():
    world = at_c()
    world.do(Cancelled())
    world.do(Paused())
    assert names(world.end("b.compensate")) == []
    assert world.do(Resumed()).jobs == [StepRunKey("b.compensate", 1)]


def test_nothing_done_nothing_undone():
    world = World(CHAIN)
    world.do(Requested("1", {}))
    assert names(world.do(Cancelled())) == ["run.cancelled"]


def test_a_worker_that_reports_late_changes_nothing():
    world = at_c()
    started = world.state.step_run(StepRunKey("c", 1)).started_seq
    world.do(Cancelled())
    assert names(world.do(Due(StepRunKey("c", 1)))) == []
    assert started > 0


def test_the_state_of_a_run_under_compensation_is_the_fold_of_its_log():
    world, log = World(CHAIN), []
    for boundary in (Requested("1", {}), Taken(StepRunKey("a", 1))):
        log += world.do(boundary).events
    log += world.report(StepRunKey("a", 1)).events
    log += world.do(Cancelled()).events
    assert fold(log) == world.state
    assert world.state.compensation is not None
