"""The picture of a run: which ways were taken, what decided, what is waited for; always bounded."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anew.engine import events as e
from anew.engine.state import RunStatus, StepRunKey
from anew.engine.statuses import BarKind, DetailedStatus, StepStatus
from anew.store import JobRef, RunId, RunRow
from anew.views.graph_rows import EdgeShown
from anew.views.lanes import Bar, Lane, Lanes, density_of, lanes_of
from anew.views.picture import bars, rules, steps, waits
from anew.views.picture.bars import lanes_shown
from anew.views.picture.composing import PictureContext, pictured
from anew.views.picture.leaving_out import MARK, bounded
from anew.views.picture.shown import Pictured
from anew.views.picture.tracing import Trace
from anew.views.slices import SLICES, Density
from tests.corpus import corpus
from tests.play import simulated
from tests.views.graphs import DIAMOND, FAIL, RACE, RACED, REDIRECTED, drawn
from tests.views.recorded import BUSY, DOWN, LOOP, RETRY, SECOND, upto

HANDLED = """
workflow:
  - step: a
    tool: {kind: http, url: "http://x"}
    next:
      arcs:
        - {step: b}
        - {step: c, when: "{{ event.name == 'step.failed' }}"}
  - step: b
    tool: {kind: noop}
  - step: c
    tool: {kind: noop}
    next: [{step: b}]
"""
ASKS = 'workflow: [{step: a, tool: {kind: human, question: "Ship it?", timeout: 60}}]'
WAITS = "workflow: [{step: a, tool: {kind: wait, signal: paid}}]"
SLEEPS = "workflow: [{step: a, tool: {kind: sleep, seconds: 10}}]"
CHILD = 'workflow: [{step: a, tool: {kind: playbook, path: "other.yaml"}}]'


def row_of(log: list[e.Event], **more: object) -> RunRow:
    facts = {"key": None, "labels": {}, "parent": None, "depth": 0, **more}
    ended, error = None, None
    return RunRow(
        RunId(7),
        "p",
        "d",
        RunStatus.RUNNING,
        len(log),
        0,
        0,
        ended,
        error,
        **facts,  # type: ignore[arg-type]
    )


def picture_of(simulation, log=None, *, after: float = 0.0, **more: object) -> Pictured:
    """As of the end of a log, so many seconds later."""
    log = simulation.log if log is None else log
    trace = Trace(simulation.program)
    trace.feed(log)
    now = log[-1].at + round(after * SECOND)
    return pictured(trace, PictureContext(row=row_of(log), now=now, **more))  # type: ignore[arg-type]


def taken(picture: Pictured) -> dict[str, int]:
    assert picture.graph is not None
    return {f"{edge.source}>{edge.target}": edge.taken for edge in picture.graph.edges}


def edge(picture: Pictured, source: str, target: str) -> EdgeShown:
    assert picture.graph is not None
    [found] = [x for x in picture.graph.edges if (x.source, x.target) == (source, target)]
    return found


# --- ways ----------------------------------------------------------------------------------------


def test_a_failure_lights_the_arc_that_took_it_and_no_other() -> None:
    simulation = simulated(HANDLED, outcomes={"a": [DOWN]})
    picture = picture_of(simulation)
    assert taken(picture) == {"a>b": 0, "a>c": 1, "c>b": 1}
    lit = edge(picture, "a", "c")
    assert (lit.is_failure, lit.line) == (True, 8)
    routed = simulation.log[(lit.last or 0) - 1]
    assert (type(routed), routed.step) == (e.NextEvaluated, "a")


def test_the_arcs_of_a_loop_are_counted() -> None:
    outcomes = {"a": [{**FAIL, "times": 2}, {}]}
    picture = picture_of(drawn(DIAMOND, outcomes=outcomes))
    assert taken(picture)["c>f"] == 2
    assert taken(picture)["c>x"] == 1
    assert taken(picture)["a>c"] == 3


def test_a_retry_by_way_of_another_step_is_a_way_that_was_taken() -> None:
    picture = picture_of(drawn(REDIRECTED, outcomes={"a": [FAIL, {}]}))
    assert edge(picture, "a", "r").taken == 1
    assert taken(picture)["r>a"] == 1


def test_a_gate_that_sends_the_run_back_lights_its_edge() -> None:
    played = next(x for x in corpus() if x.name == "docs/examples/goal.yaml+goal.never.script.yaml")
    sent = [x for x in played.simulation.log if isinstance(x, e.GateChecked) and x.to]
    picture = picture_of(played.simulation)
    assert picture.graph is not None
    gates = {x.label: x.taken for x in picture.graph.edges if x.label.startswith("gate ")}
    assert sum(gates.values()) == len(sent) > 0


def test_a_fallback_has_an_edge_once_it_took_a_failure() -> None:
    played = next(x for x in corpus() if x.name.endswith("failures/fallback.script.yaml"))
    picture = picture_of(played.simulation)
    assert picture.graph is not None
    found = [x for x in picture.graph.edges if x.label == "fallback"]
    assert found
    assert all(one.taken and one.is_failure for one in found)


def test_an_arc_of_another_document_is_not_taken_for_one_of_this() -> None:
    simulation = simulated(HANDLED, outcomes={"a": [DOWN]})
    other = simulated(HANDLED.replace("{step: b}\n        -", "{step: c}\n        -")).program
    trace = Trace(other)
    trace.feed(simulation.log)
    picture = pictured(trace, PictureContext(row=row_of(simulation.log), now=0))
    assert picture.graph is not None
    first, second, _ = picture.graph.edges
    assert (first.target, first.taken) == ("c", 0)
    assert (second.target, second.taken) == ("c", 1)


# --- steps ---------------------------------------------------------------------------------------


def node(picture: Pictured, name: str):
    assert picture.graph is not None
    return next(one for one in picture.graph.nodes if one.name == name)


def test_a_step_that_waits_to_retry_says_which_attempt_comes_and_when() -> None:
    simulation = simulated(RETRY, outcomes={"page": [DOWN, {"result": 1}]})
    found = node(picture_of(simulation, upto(simulation, e.TaskRetryScheduled)), "fetch")
    assert (found.status, found.doing, found.until) == (
        "retrying",
        "retry",
        "2000-01-01T00:00:02.000000Z",
    )
    assert (found.attempt, found.attempts_max, found.attempts, found.retries) == (2, 4, 1, 1)
    assert found.trouble == "HTTP 503"


def test_a_step_at_its_first_attempt_knows_how_many_the_rules_allow() -> None:
    simulation = simulated(RETRY)
    found = node(picture_of(simulation, upto(simulation, e.TaskStarted)), "fetch")
    assert (found.attempt, found.attempts_max) == (1, 4)


def test_a_step_that_was_not_reached_has_no_status() -> None:
    simulation = simulated(HANDLED)
    assert node(picture_of(simulation), "c").status is None


def test_a_loop_says_how_far_it_is() -> None:
    simulation = simulated(LOOP % 9, outcomes={"one": [DOWN, DOWN, {}]})
    picture = picture_of(simulation, upto(simulation, e.LoopIterationDone, 3))
    loop = node(picture, "each").loop
    assert (loop.total, loop.done) == (9, 3)
    assert picture.lanes.lanes[0].loop == loop


def test_a_graph_that_is_too_large_to_send_is_left_out(monkeypatch) -> None:
    monkeypatch.setattr(steps, "PICTURE_GRAPH_BYTES_MAX", 100)
    monkeypatch.setattr(steps, "_SMALL", 0)
    assert picture_of(simulated(RETRY)).graph is None


def test_without_its_program_a_run_has_a_picture_without_a_graph() -> None:
    simulation = simulated(RETRY, outcomes={"page": [DOWN, {}]})
    trace = Trace(None)
    trace.feed(simulation.log)
    picture = pictured(trace, PictureContext(row=row_of(simulation.log), now=0))
    assert (picture.graph, picture.rules, picture.language) == (None, [], None)
    assert [lane.step for lane in picture.lanes.lanes] == ["fetch", "store"]


# --- rules, waits, states ------------------------------------------------------------------------


def test_rules_are_counted_where_they_stand() -> None:
    picture = picture_of(simulated(RETRY, outcomes={"page": [DOWN, BUSY, {}]}))
    [hit] = picture.rules
    assert (hit.step, hit.task, hit.directive, hit.hits) == ("fetch", "page", "retry", 2)
    assert (hit.rule.number, hit.rule.line) == (1, 11)
    assert hit.when == "outcome.status == 'error'"


def test_rules_that_decided_something_are_shown_first_of_too_many(monkeypatch) -> None:
    monkeypatch.setattr(rules, "RULES_SHOWN_MAX", 1)
    document = RETRY.replace(
        "- when: \"{{ outcome.status == 'error' }}\"",
        '- {when: "{{ 1 == 2 }}", then: {do: break}}\n'
        "                - when: \"{{ outcome.status == 'error' }}\"",
    )
    picture = picture_of(simulated(document, outcomes={"page": [DOWN, {}]}))
    assert [row.rule.number for row in picture.rules] == [2]
    assert picture.more_rules == 1


def test_what_another_document_decided_is_not_counted() -> None:
    simulation = simulated(RETRY, outcomes={"page": [DOWN, {}]})
    log = upto(simulation, e.TaskRetryScheduled)
    cut = e.RunPaused(seq=len(log) + 1, at=log[-1].at, shared_with="1", decided_by="another")
    picture = picture_of(simulation, [*log, cut])
    assert [row.hits for row in picture.rules] == [0]
    assert picture.shared_with == "1"


def test_a_wait_is_told_with_its_rule_and_can_be_skipped_until_it_is_due() -> None:
    simulation = simulated(RETRY, outcomes={"page": [BUSY, {}]})
    log = upto(simulation, e.TaskRetryScheduled)
    [wait] = picture_of(simulation, log, after=1).waits
    assert (wait.step, wait.task, wait.doing) == ("fetch", "page", "retry_after")
    assert (wait.attempt, wait.attempts, wait.retry_after_seconds) == (2, 4, 60)
    assert wait.rule is not None
    assert (wait.rule.number, wait.rule.line) == (1, 11)
    assert wait.can_skip
    assert not picture_of(simulation, log, after=61).waits[0].can_skip
    assert not picture_of(simulation, log, after=1, is_past=True).waits[0].can_skip


def test_of_many_waits_some_are_shown_and_the_others_counted(monkeypatch) -> None:
    monkeypatch.setattr(waits, "WAITS_SHOWN_MAX", 3)
    simulation = simulated(LOOP % 9)
    picture = picture_of(simulation, upto(simulation, e.TaskStarted, 4))
    assert (len(picture.waits), picture.more_waits) == (3, 1)


@pytest.mark.parametrize(
    ("document", "script", "last", "state"),
    [
        (RETRY, {}, e.RunRequested, DetailedStatus.QUEUED),
        (RETRY, {}, e.TaskStarted, DetailedStatus.RUNNING),
        (RETRY, {}, e.StepDone, DetailedStatus.RUNNING),
        (RETRY, {"outcomes": {"page": [DOWN, {}]}}, e.TaskRetryScheduled, DetailedStatus.RETRYING),
        (RETRY, {}, e.RunDone, DetailedStatus.DONE),
        (RETRY, {"outcomes": {"page": [DOWN]}}, e.RunFailed, DetailedStatus.FAILED),
        (
            ASKS,
            {"outcomes": {"a": [{"answer": "y", "takes": 1}]}},
            e.HumanWaiting,
            DetailedStatus.PERSON,
        ),
        (WAITS, {"signals": [{"signal": "paid", "at": 1}]}, e.SignalWaiting, DetailedStatus.SIGNAL),
        (SLEEPS, {}, e.TaskStarted, DetailedStatus.PARKED),
        (CHILD, {}, e.TaskStarted, DetailedStatus.PARKED),
    ],
)
def test_a_run_stands_as_its_log_says(document, script, last, state) -> None:
    simulation = simulated(document, **script)
    assert picture_of(simulation, upto(simulation, last)).state is state


def test_a_paused_run_is_paused_and_a_run_that_kills_workers_is_dead() -> None:
    simulation = simulated(RETRY)
    log = upto(simulation, e.TaskStarted)
    at, seq = log[-1].at, len(log)
    assert (
        picture_of(simulation, [*log, e.RunPaused(seq=seq + 1, at=at)]).state
        is DetailedStatus.PAUSED
    )
    lost = {"kind": "worker_lost", "message": "3 workers were lost"}
    place = {"at": at, "step": "fetch", "visit": 1}
    dead = [
        *log,
        e.StepFailed(seq=seq + 1, error=lost, handled=False, **place),
        e.RunFailed(seq=seq + 2, at=at, error=lost),
    ]
    picture = picture_of(simulation, dead)
    assert (picture.state, picture.failed_step) == (DetailedStatus.DEAD, "fetch")
    assert len(picture.fingerprint or "") == 12


def test_the_past_is_told_as_it_was() -> None:
    simulation = simulated(RETRY, outcomes={"page": [DOWN, {"result": 1}]})
    log = upto(simulation, e.TaskRetryScheduled)
    picture = picture_of(simulation, log, is_past=True)
    assert (picture.at, picture.status, picture.ended_at) == (len(log), "running", None)
    assert picture.now == picture.updated_at
    assert picture.verdict.headline == "Waiting to retry fetch (attempt 2 of 4)"


def test_children_say_which_step_began_them() -> None:
    simulation = simulated(RETRY)
    place = JobRef(RunId(7), StepRunKey("fetch", 1, 2))
    picture = picture_of(simulation, children=[row_of([], parent=place)])
    [child] = picture.children
    assert (child.run, child.step, child.visit, child.iteration) == ("7", "fetch", 1, 2)


# --- following -----------------------------------------------------------------------------------


def test_looking_at_a_run_again_and_again_changes_nothing() -> None:
    """What is fed piece by piece, and looked at in between, is what is fed at once."""
    seen = 0
    for played in corpus()[::7]:
        simulation = played.simulation
        # A line of runs is one log of a simulation, and several logs of a store.
        if sum(isinstance(event, e.RunRequested) for event in simulation.log) > 1:
            continue
        trace = Trace(simulation.program)
        for event in simulation.log:
            trace.feed([event])
            pictured(trace, PictureContext(row=row_of([]), now=event.at + SECOND))
        beside = PictureContext(row=row_of([]), now=simulation.log[-1].at + SECOND)
        at_once = Trace(simulation.program)
        at_once.feed(simulation.log)
        assert pictured(trace, beside) == pictured(at_once, beside), played.name
        seen += 1
    assert seen > 20


def test_the_lanes_of_a_picture_are_those_that_were_drawn() -> None:
    simulation = drawn(RACE, outcomes=RACED)
    drawn_lanes = lanes_of(simulation.program, simulation.log, now=simulation.log[-1].at)
    shown = picture_of(simulation).lanes
    assert [(lane.step, len(lane.bars), lane.depth) for lane in shown.lanes] == [
        (lane.step, len(lane.bars), lane.depth) for lane in drawn_lanes.lanes
    ]
    assert shown.seconds == 2.0


def test_what_a_fork_shares_is_not_in_its_lanes() -> None:
    simulation = simulated(RETRY, outcomes={"page": [{**DOWN, "takes": 1}, {"takes": 1}]})
    log = upto(simulation, e.TaskRetryScheduled)
    at = log[-1].at + 50 * SECOND
    cut = e.RunPaused(seq=len(log) + 1, at=at, shared_with="1", later_by=50 * SECOND)
    [lane] = picture_of(simulation, [*log, cut], after=5).lanes.lanes
    assert [(bar.kind, bar.begin, bar.end) for bar in lane.bars] == [("retry", 0, 5)]


# --- bounds --------------------------------------------------------------------------------------


def lane_of(number: int, many: int, status: StepStatus = StepStatus.DONE) -> Lane:
    made = tuple(Bar(n * SECOND, (n + 1) * SECOND, BarKind.OK) for n in range(many))
    return Lane(f"s{number}", status, visits=1, attempts=many, bars=made)


def test_too_many_lanes_leave_out_what_went_well_long_ago(monkeypatch) -> None:
    monkeypatch.setattr(bars, "LANES_SHOWN_MAX", 3)
    made = [
        lane_of(0, 1),
        lane_of(1, 1, StepStatus.FAILED),
        lane_of(2, 1),
        lane_of(3, 1),
        lane_of(4, 1),
    ]
    shown = lanes_shown(Lanes(0, 9 * SECOND, tuple(made)))
    assert [lane.step for lane in shown.lanes] == ["s1", "s3", "s4"]
    assert shown.more == 2


def test_too_many_bars_become_densities_and_then_the_last_ones(monkeypatch) -> None:
    monkeypatch.setattr(bars, "BARS_SHOWN_MAX", 10)
    monkeypatch.setattr(bars, "DENSITIES_SHOWN_MAX", 1)
    made = (lane_of(0, 8), lane_of(1, 30), lane_of(2, 8))
    shown = lanes_shown(Lanes(0, 30 * SECOND, made)).lanes
    assert [lane.density is not None for lane in shown] == [False, True, False]
    assert [len(lane.bars) for lane in shown] == [5, 0, 5]
    assert shown[0].bars[-1].end == 8
    density = shown[1].density
    assert density is not None
    assert sum(density.working) * density.seconds == pytest.approx(30, rel=0.01)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=8), inner, max_size=8)
    ),
    max_leaves=40,
)


@given(values, st.integers(200, 2_000))
def test_a_bounded_value_is_small_and_a_small_one_is_itself(value, bytes_max: int) -> None:
    size = len(msgspec.json.encode(value))
    shown = bounded(value, bytes_max)
    if size <= bytes_max:
        assert shown is value
    else:
        # A marker may be longer than the share of what it stands for.
        assert len(msgspec.json.encode(shown)) <= 2 * bytes_max
        assert MARK in str(shown)


def test_what_is_small_stays_beside_what_is_large() -> None:
    shown = bounded({"page": 3, "body": "x" * 5_000, "rows": list(range(3_000))}, 1_000)
    assert isinstance(shown, dict)
    assert shown["page"] == 3
    assert shown["body"] == {MARK: "5,002 bytes left out"}
    assert shown["rows"][:3] == [0, 1, 2]
    assert "more left out" in shown["rows"][-1][MARK]


def test_a_value_of_very_many_parts_is_not_gone_through() -> None:
    shown = bounded({str(n): n for n in range(100_000)}, 1_000)
    assert isinstance(shown, dict)
    assert len(shown) < 50
    assert shown[MARK] == f"{100_000 - len(shown) + 1:,} more left out"


def test_a_density_that_grows_counts_the_same() -> None:
    spans = [(n * SECOND // 7, (n + 3) * SECOND // 7) for n in range(2_000)]
    made = [Bar(begin, end, BarKind.ERROR if end % 2 else BarKind.OK) for begin, end in spans]
    grown, known = density_of(made, 0), density_of(made, 0, spans[-1][1])
    spent = sum(end - begin for begin, end in spans)
    for density in (grown, known):
        assert sum(density.work()) * density.width == pytest.approx(spent)
    assert sum(grown.errors) == sum(known.errors) > 0
    assert grown.begin + SLICES * grown.width >= spans[-1][1]
    assert grown.begin + SLICES * grown.width < 2 * spans[-1][1]


def test_an_error_stays_where_it_was_when_a_density_grows() -> None:
    made = [Bar(0, 3 * SECOND, BarKind.ERROR), Bar(0, 100 * SECOND, BarKind.OK)]
    density = density_of(made, 0)
    assert density.errors.index(1) == 3 * SECOND // density.width
    assert density.width > SECOND // 4


def test_a_copy_of_a_density_can_be_added_to() -> None:
    density = Density.since(0)
    density.copy().add(0, SECOND, is_work=True)
    assert (density.width, sum(density.work())) == (1_000_000, 0)
