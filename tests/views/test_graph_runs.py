"""Runs of graphs in plain words: the timeline, the lines of a log, the verdict, lanes and board."""

from __future__ import annotations

import pytest

from anew.engine import events as e
from anew.engine.fold import fold
from anew.engine.state import RunStatus
from anew.engine.statuses import BarKind, StepStatus
from anew.lab.script import script_of
from anew.lab.simulate import simulate
from anew.languages import load_text
from anew.views.board import board_of
from anew.views.lanes import lanes_of
from anew.views.log_lines import LogLines
from anew.views.progress import progress_of
from anew.views.timeline import timeline_lines
from tests.views.graphs import (
    ASK,
    DIAMOND,
    ENDS,
    FAIL,
    FINAL,
    GATED,
    RACE,
    RACED,
    REDIRECTED,
    RESTARTS,
    drawn,
)
from tests.views.recorded import SECOND, told, upto

SAID = {"label": "Ship", "suggested": ["a", "x"]}
WORDED = {"status": "needs_dod", **SAID}


def timeline(run) -> str:
    return "\n".join(timeline_lines(run.log, run.program))


def lines(run) -> list[str]:
    log = LogLines(run.program)
    return [line for line in map(log.line, run.log) if line is not None]


def step_of(lanes, name: str):
    return next(lane for lane in lanes.lanes if lane.step == name)


def test_branches_are_told_from_fork_to_join() -> None:
    run = drawn(RACE, outcomes=RACED)
    shown = timeline(run)
    assert "split into branches          a, b, c · join at j" in shown
    assert "ends its branch" in shown
    assert "first_success · success · a failure, b success, c cancelled" in shown
    assert "j: branches joined: first_success · success · a failed · c cancelled" in lines(run)
    assert "f: split into branches: a, b, c · join at j" in lines(run)


def test_a_gate_tells_what_is_missing_and_where_it_sends_the_run() -> None:
    run = drawn(GATED, outcomes={"a": [{"status": "PARTIAL"}]})
    shown = timeline(run)
    assert "gates asked                  a is partial · back to a · 1 redirect" in shown
    assert "gates asked                  a is partial · nothing left to try" in shown
    assert "step done                    partial" in shown
    assert "gates not satisfied: a" in shown.splitlines()[-1]
    assert "x: gates asked: a is partial · back to a · 1 redirect" in lines(run)
    said = told(run, run.log)
    assert "Gates not satisfied: a." in said


def test_a_way_says_its_reason_where_there_was_a_choice() -> None:
    run = drawn(DIAMOND, outcomes={"a": [FAIL, {"status": "SUCCESS"}]})
    shown = timeline(run)
    assert "next on step.failed          -> f · it takes the failure" in shown
    assert "next on step.done            -> x · its condition holds" in shown
    assert "next on step.done            -> a\n" in shown
    assert "c: next on step.failed: -> f · it takes the failure" in lines(run)


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ("a->x [weight=1]; a->b", "-> x · by weight"),
        ("a->x; a->b", "-> b · by name"),
        ("a->x", "-> x"),
        # What is asked or spent is no choice between plain edges.
        ("a->x; a->b [condition=\"status == 'PARTIAL'\"]", "-> x"),
        ("a->x; a->b [weight=1 max_retries=0]", "-> x"),
    ],
)
def test_weight_and_name_are_reasons_only_between_plain_edges(edges: str, said: str) -> None:
    run = drawn(f"digraph g {{ {ENDS} a; b; s->a; s->b [weight=-1]; b->x; {edges} }}")
    ways = [line.split(maxsplit=5) for line in timeline(run).splitlines() if "next on" in line]
    assert [way for _, step, *_, way in ways if step == "a"] == [said]


def test_without_its_program_a_timeline_does_not_guess_why() -> None:
    run = drawn(f"digraph g {{ {ENDS} a; b; s->a; a->x [weight=1]; a->b; b->x }}")
    assert not any("by weight" in line for line in timeline_lines(run.log))


def test_a_step_that_is_past_its_limit_is_said_not_to_begin() -> None:
    run = drawn(DIAMOND.replace("f;", "f; max_visits=2;", 1), outcomes={"a": [FAIL]})
    why = "limit_exceeded: step a was visited 2 times, its limit (visits_per_step, max_visits)"
    assert f"a    not started                  {why}" in timeline(run)
    assert "gate asked" not in timeline(run)
    assert any(line.startswith(f"a: not started: {why}") for line in lines(run))


def test_a_retry_by_way_of_another_node_names_it() -> None:
    run = drawn(REDIRECTED, outcomes={"a": [FAIL, {"status": "SUCCESS"}]})
    assert "retry by way of r in 1.0 s" in timeline(run)
    assert any("will retry by way of r after 1.00 s" in line for line in lines(run))
    waiting = told(run, upto(run, e.TaskRetryScheduled), after=0.5)
    assert waiting[0].startswith("Waiting to retry a by way of r (attempt 2")


def test_a_restart_that_was_one_too_many_names_the_step_whose_failure_asked_for_it() -> None:
    run = drawn(RESTARTS.replace("a;", "a; max_restarts=0;", 1), outcomes={"b": [FAIL]})
    assert "What to do: fix the cause, then `anew retry 1 --from b`." in told(run, run.log)


def test_a_name_that_a_shell_would_take_apart_is_quoted() -> None:
    loaded = load_text("workflow: [{step: a (b), tool: {kind: noop}}]", "f.yaml")
    assert loaded.program is not None
    failing = {"error": {"kind": "server_error", "message": "HTTP 500"}}
    run = simulate(loaded.program, script_of({"outcomes": {"a (b)": [failing]}}))
    assert "What to do: fix the cause, then `anew retry 1 --from 'a (b)'`." in told(run, run.log)


def test_what_a_tool_says_beside_ok_is_told() -> None:
    run = drawn(RESTARTS, outcomes={"b": [WORDED]})
    assert "says needs_dod · label Ship · suggests a, x" in timeline(run)


def test_a_question_is_told_with_its_choices_and_its_deadline() -> None:
    run = drawn(ASK % "timeout=60 timeout_action=first", outcomes={"h": [{"answer": "n"}]})
    asked = "Ship? · [Y] Yes, [N] No · within 1 min, else takes the first choice"
    assert f"waits for a person           {asked}" in timeline(run)
    assert "answered                     n · [N] No · script" in timeline(run)
    assert f"h: waits for a person: {asked}" in lines(run)
    assert "h: answered: n · [N] No · script" in lines(run)


def test_a_long_deadline_and_a_silence_that_is_retried_are_told_as_a_person_would() -> None:
    graph = """digraph ask { s [shape=Mdiamond] x [shape=Msquare] h [shape=hexagon, timeout="48h"];
        s->h; h->x [label="[Y] Yes"] }"""
    run = drawn(graph)
    asked = "h · [Y] Yes · within 2 d, else counts as a failed attempt"
    assert f"h: waits for a person: {asked}" in lines(run)
    assert "nobody answered              counts as a failed attempt" in timeline(run)
    assert "h: nobody answered: counts as a failed attempt" in lines(run)
    said = told(run, upto(run, e.HumanWaiting))[0]
    assert said.startswith("Waiting for a person in h, counts as a failed attempt in 2 d: h")


def test_a_run_that_only_waits_for_a_person_says_how_to_go_on() -> None:
    run = drawn(ASK % "timeout=60 timeout_action=fail", outcomes={"h": [{"answer": "n"}]})
    log = upto(run, e.HumanWaiting)
    assert told(run, log, after=20) == [
        "Waiting for a person in h, gives up in 40 s: Ship? · choices: [Y] Yes, [N] No",
        "`anew answer 1 CHOICE` answers.",
    ]
    other = drawn(ASK % "timeout=60 timeout_action=skip", outcomes={"h": [{"answer": "n"}]})
    said = told(other, upto(other, e.HumanWaiting))[0]
    assert said.startswith("Waiting for a person in h, continues without an answer in 1 min: Ship?")
    board = board_of(progress_of(log, run.program), log[-1].at, rows_max=9)
    assert board.status is RunStatus.WAITING
    assert board.rows[-1].text == "waits for a person · Ship? · [Y] Yes, [N] No · 1 min left"


def test_nobody_answers() -> None:
    run = drawn(ASK % "timeout=5 timeout_action=skip")
    assert "nobody answered              continues without an answer" in timeline(run)
    assert "h: nobody answered: continues without an answer" in lines(run)
    assert "h: done after 5 s, skipped" in lines(run)


def test_a_wait_for_a_person_is_drawn_as_one() -> None:
    run = drawn(ASK % "", outcomes={"h": [{"answer": "y", "takes": 7}]})
    lane = step_of(lanes_of(run.program, run.log, now=run.log[-1].at), "h")
    (bar,) = lane.bars
    assert (bar.kind, (bar.end - bar.begin) / SECOND) == (BarKind.PERSON, 7)


def test_the_steps_of_a_branch_stand_under_its_fork_and_a_cancelled_one_ends_at_the_join() -> None:
    run = drawn(RACE, outcomes=RACED)
    lanes = lanes_of(run.program, run.log, now=run.log[-1].at)
    depths = {lane.step: lane.depth for lane in lanes.lanes}
    assert depths == {"s": 0, "f": 0, "a": 1, "b": 1, "c": 1, "c2": 1, "j": 0, "x": 0}
    stopped = step_of(lanes, "c2")
    assert stopped.status is StepStatus.CANCELLED
    assert [(bar.kind, bar.is_open) for bar in stopped.bars] == [(BarKind.LOST, False)]


def test_a_branch_that_lost_its_worker_was_at_work_when_it_was_stopped() -> None:
    run = drawn(RACE, outcomes=RACED)
    log = list(run.log)
    (at,) = [n for n, one in enumerate(log) if one.name == "task.started" and one.step == "c2"]
    log.insert(at + 1, e.StepRedelivered(step="c2", visit=1, delivery=2, at=log[at].at))
    assert progress_of(log, run.program).steps["c2"].ended is StepStatus.CANCELLED


NESTED = RACE.replace(
    "a->j;", "a->g; g [shape=hexagon]; p; q; g->p; g->q; i [shape=invhouse]; p->i; q->i; i->j;"
)


def test_a_join_stops_what_is_live_in_the_forks_inside_its_branches() -> None:
    run = drawn(NESTED, outcomes={**RACED, "a": [{}], "p": [{"takes": 50}], "q": [{"takes": 50}]})
    lanes = lanes_of(run.program, run.log, now=run.log[-1].at)
    assert {lane.step: lane.depth for lane in lanes.lanes}["p"] == 2
    assert {step_of(lanes, name).status for name in ("p", "q")} == {StepStatus.CANCELLED}
    assert progress_of(run.log, run.program).activities() == []


@pytest.mark.parametrize(
    ("graph", "outcomes"),
    [
        (RACE, RACED),
        (NESTED, RACED),
        (ASK % "timeout=3 timeout_action=fail", {}),
        (ASK % "", {"h": [{"answer": "y", "takes": 1}]}),
        (GATED, {"a": [{"status": "PARTIAL"}]}),
        (REDIRECTED, {"a": [FAIL, {"status": "SUCCESS"}]}),
    ],
)
def test_progress_and_fold_agree_on_the_status_after_every_transition(graph, outcomes) -> None:
    run = drawn(graph, outcomes=outcomes)
    for count in range(1, len(run.log) + 1):
        log = run.log[:count]
        assert progress_of(log, run.program).status is fold(log).status, log[-1]


def test_a_run_that_takes_over_says_from_which() -> None:
    failing = {"status": "fail", "error": {"type": "TERMINAL"}}
    run = drawn(RESTARTS, outcomes={"b": [failing, {"status": "success"}]})
    assert "takes over                   from run 1 · starts at a" in timeline(run)
    first = progress_of(run.runs[0], run.program)
    assert first.continued_as == "2"
    assert "It continues as run 2." in told(run, run.runs[0])


def test_a_failure_that_came_back_too_often_says_why_no_edge_takes_it() -> None:
    graph = f"""digraph g {{ {ENDS} a; s->a; a->a [condition="status == 'FAILURE'"]; a->x }}"""
    run = drawn(graph, outcomes={"a": [FINAL]})
    why = "the same failure has come back too often (same_failures, max_same_failures)"
    assert timeline(run).count(why) == 1
    assert f"  a    goes nowhere                 {why}" in timeline(run)
    assert f"a: goes nowhere: {why}" in lines(run)
    limit = "The same failure came 3 times, its limit (same_failures, max_same_failures)."
    assert limit in told(run, run.log)


def _relayed():
    return drawn(DIAMOND, outcomes={"a": [FINAL, {"status": "SUCCESS"}], "f": [{"takes": 1}]})


def test_a_diamond_tells_once_whose_failure_it_passes_on() -> None:
    run = _relayed()
    said = [line for line in lines(run) if line.startswith("c: ")]
    assert said[:3] == [
        "c: started",
        "c: passes on the failure of a",
        "c: next on step.failed: -> f · it takes the failure",
    ]
    assert not [line for line in said if " failed" in line]


def test_without_the_program_a_diamond_is_told_like_any_step() -> None:
    log = LogLines()
    said = [line for line in map(log.line, _relayed().log) if line is not None]
    assert any(line.startswith("c: attempt 1 failed: ") for line in said)


def _passed_on(run):
    """The run as it is when its diamond has passed the failure on."""
    return [event for event in run.log if event.seq <= _end_of_diamond(run)]


def _end_of_diamond(run) -> int:
    return next(x.seq for x in run.log if isinstance(x, e.NextEvaluated) and x.step == "c")


def test_a_diamond_that_passes_a_failure_on_has_not_failed() -> None:
    run = _relayed()
    log = _passed_on(run)
    step = progress_of(log, run.program).steps["c"]
    assert (step.status, step.shown_status) == (StepStatus.FAILED, StepStatus.DONE)
    lane = step_of(lanes_of(run.program, log, now=log[-1].at), "c")
    assert [bar.kind for bar in lane.bars] == [BarKind.OK]
    assert (lane.status, lane.passed_on) == (StepStatus.DONE, "passes on the failure of a")
    board = board_of(progress_of(log, run.program), log[-1].at, rows_max=9)
    (row,) = [row for row in board.rows if row.step == "c"]
    assert (row.status, row.text) == (StepStatus.DONE, "passes on the failure of a")


def test_a_diamond_after_a_diamond_names_the_step_that_failed() -> None:
    graph = f"""digraph two {{ {ENDS} a; c [shape=diamond]; d [shape=diamond]; f; s->a->c; c->d;
        d->x [condition="status == 'SUCCESS'"]; d->f [condition="status == 'FAILURE'"]; f->x }}"""
    run = drawn(graph, outcomes={"a": [FINAL]})
    assert "d: passes on the failure of a" in lines(run)


def test_a_diamond_whose_failure_nobody_takes_has_failed() -> None:
    graph = f"""digraph lost {{ {ENDS} a; c [shape=diamond]; s->a->c;
        c->x [condition="status == 'SUCCESS'"] }}"""
    run = drawn(graph, outcomes={"a": [FINAL]})
    assert run.status is RunStatus.FAILED
    assert progress_of(run.log, run.program).steps["c"].shown_status is StepStatus.FAILED
    assert any(line.startswith("c: failed after 0 s: ") for line in lines(run))


LENIENT = """digraph lenient { s [shape=Mdiamond] x [shape=Msquare] f [shape=component]; l; r;
    meet [shape=tripleoctagon]; s->f; f->l; f->r; l->meet; r->meet; meet->x }"""


def test_a_join_that_forgives_names_the_branch_that_failed() -> None:
    run = drawn(LENIENT, outcomes={"l": [{**FINAL, "takes": 1}], "r": [{"takes": 2}]})
    assert run.status is RunStatus.DONE
    assert "meet: branches joined: wait_all · success · l failed" in lines(run)
    assert "1 branch failed" in told(run, run.log)[0]


def test_a_join_is_told_once_and_before_its_step_begins() -> None:
    said = lines(drawn(LENIENT))
    assert said.index("meet: branches joined: wait_all · success") < said.index("meet: started")
