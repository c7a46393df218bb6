"""Where a log may be cut: from there the run goes on as if it had never stopped."""

from random import Random

import pytest
from hypothesis import strategies as st

from anew.engine import events as e
from anew.engine.fold import evolve, fold
from anew.engine.fork_points import fork_point
from anew.engine.state import StepRunStatus
from anew.lab.replay import replay
from anew.languages import load_text
from tests.engine.driving import driven, forked
from tests.engine.generated_dots import Sketch
from tests.generated import playbooks
from tests.play import simulated
from tests.suites import tried

CUTS_MAX = 60
_OF_CUTS = (e.RunPaused, e.RunResumed, e.StepRedelivered)


def told(events):
    """What a log says, apart from when and where in the log.

    A gate that keeps its tokens is asked again when a run goes on: how often is nobody's promise.
    """
    said = []
    for one in events:
        if isinstance(one, _OF_CUTS) or is_kept_out(one):
            continue
        more = getattr(one, "directive", None), getattr(one, "reason", None)
        said.append((one.name, one.step, one.visit, one.iteration, one.task, one.attempt, *more))
    return said


def is_kept_out(event):
    return isinstance(event, e.GateChecked) and event.visit is None and not event.allow


def restarted(log, at):
    """The places that were at work where the log is cut: these are started once more."""
    return [
        ("task.started", run.key.step, run.key.visit, run.key.iteration, run.task, run.attempt)
        for run in fold(log[:at]).live_step_runs()
        if run.status is StepRunStatus.EXECUTING
    ]


def without(said, places):
    said = list(said)
    for place in places:
        said.remove((*place, None, None))
    return said


def cuts_of(log, seed):
    points = range(2, len(log) + 1)
    return points if len(points) <= CUTS_MAX else Random(seed).sample(points, CUTS_MAX)


FAILS_BESIDE = """
workflow:
- step: start
  tool: {kind: noop}
  next: {spec: {mode: inclusive}, arcs: [{step: bad}, {step: beside}]}
- step: bad
  tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: fail}}}]}}}
- step: beside
  tool: {kind: noop}
"""


def test_a_failure_is_not_cut_off_from_what_it_withdraws():
    program = load_text(FAILS_BESIDE, "test.yaml").program
    logs = [driven(program, seed=seed).log for seed in range(20)]
    withdrawn = [(log, one.seq) for log in logs for one in log if isinstance(one, e.StepSkipped)]
    assert withdrawn  # in some of them the other step has not begun
    for log, seq in withdrawn:
        assert isinstance(log[fork_point(log, seq - 1) - 1], e.TaskProcessed)


RETRIED_AT_ONCE = """
workflow:
- step: start
  loop: {in: [1, 2, 3], iterator: one, spec: {mode: parallel}}
  tool:
    kind: http
    url: http://example.test
    spec:
      policy:
        rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 3, delay: 0}}]
"""


@pytest.mark.parametrize("seed", range(3))
def test_iterations_that_are_retried_at_once_go_on_in_the_order_they_had(seed):
    program = load_text(RETRIED_AT_ONCE, "test.yaml").program
    log = driven(program, seed=seed).log
    assert any(isinstance(one, e.TaskRetryScheduled) for one in log)
    assert_goes_on_as_it_did(program, seed)


@tried(playbooks(), st.integers(0, 99), examples=4, long=(7, 7, 7))
def test_a_run_goes_on_from_any_event_as_it_went_on_there(document, seed):
    assert_goes_on_as_it_did(load_text(document, "test.yaml").program, seed)


def assert_goes_on_as_it_did(program, seed):
    whole = driven(program, seed=seed)
    for asked in cuts_of(whole.log, seed):
        at = fork_point(whole.log, asked)
        if fold(whole.log[:at]).is_final:
            continue
        drive = forked(program, whole.log, at, seed=seed)
        drive.play()
        ours = without(told(drive.log[at:]), restarted(whole.log, at))
        theirs = told(whole.log[at:])
        length = min(len(ours), len(theirs))  # a run that goes in circles is left at some point
        assert ours[:length] == theirs[:length], asked
        assert replay(program, drive.log) is None


@tried(st.integers(0, 10_000), examples=8, long=(17,))
def test_a_graph_goes_on_from_any_event_and_its_log_is_derived_again(seed):
    program = load_text(Sketch(Random(seed)).text(), "test.dot").program
    if program is None:
        return
    whole = driven(program, seed=seed)
    for asked in cuts_of(whole.log, seed):
        at = fork_point(whole.log, asked)
        if fold(whole.log[:at]).is_final:
            continue
        drive = forked(program, whole.log, at, seed=seed, now=whole.log[at - 1].at + 10**12)
        drive.play()
        assert replay(program, drive.log) is None
        done = [
            (one.step, one.visit, one.task, one.attempt)
            for one in drive.log
            if isinstance(one, e.TaskProcessed)
        ]
        assert len(done) == len(set(done)), asked


ADMITTED = """
workflow:
  - step: start
    tool: {kind: noop}
    next: [{step: guarded}]
  - step: guarded
    spec: {policy: {admit: {rules: [{when: "true", then: {allow: true}}]}}}
    tool: {kind: noop}
"""
ASKED = """
workflow:
  - step: start
    tool: {kind: human, question: "Go on?", timeout: 5, timeout_action: first,
           choices: ["yes", "no"]}
"""


@pytest.mark.parametrize(
    ("document", "cut", "rests_at"),
    [
        (ADMITTED, e.RunRequested, None),
        (ADMITTED, e.StepStarted, e.StepScheduled),
        (ADMITTED, e.TaskStarted, e.TaskStarted),
        (ADMITTED, e.StepDone, e.TaskProcessed),
        (ADMITTED, e.GateChecked, e.NextEvaluated),
        (ASKED, e.HumanWaiting, e.HumanWaiting),
        (ASKED, e.HumanTimedOut, e.HumanWaiting),
        (ASKED, e.TaskProcessed, e.TaskProcessed),
    ],
)
def test_a_cut_in_a_decision_is_moved_to_where_nothing_is_half_said(document, cut, rests_at):
    log = simulated(document).log
    (asked, *_) = (one.seq for one in log if isinstance(one, cut))
    at = fork_point(log, asked)
    assert (type(log[at - 1]) if at else None) is rests_at


RETRIED = """
workflow:
  - step: start
    tool:
      kind: noop
      spec: {policy: {rules: [{else: {then: {do: retry, attempts: 2, delay: 9}}}]}}
"""


def test_a_decision_to_retry_is_shared_with_its_outcome():
    log = simulated(RETRIED).log
    (first, *_) = (one.seq for one in log if isinstance(one, e.TaskProcessed))
    assert isinstance(log[fork_point(log, first) - 1], e.TaskRetryScheduled)


@tried(playbooks(), st.integers(0, 99), examples=5, long=(10,))
def test_no_outcome_is_lost_by_moving_a_cut(document, seed):
    program = load_text(document, "test.yaml").program
    log = driven(program, seed=seed).log
    for asked in cuts_of(log, seed):
        at = fork_point(log, asked)
        assert at <= asked + 1
        left_out = log[at:asked]
        assert not any(isinstance(one, (e.TaskProcessed, e.HumanAnswered)) for one in left_out)


def test_a_cut_of_an_older_log_changes_neither_inputs_nor_limits():
    drive = driven(load_text(RETRIED, "test.yaml").program, moves=1)
    (run,) = drive.state.live_step_runs()
    assert run.status is StepRunStatus.EXECUTING
    before = run.inputs, run.began_at, run.asked_at
    place = {"seq": drive.state.version + 1, "at": 10**12, "shared_with": "1"}
    evolve(drive.state, e.RunPaused(**place))
    assert (run.inputs, run.began_at, run.asked_at) == before
    evolve(drive.state, e.RunPaused(**{**place, "seq": place["seq"] + 1}, later_by=5))
    assert (run.inputs, run.began_at, run.asked_at) == (None, before[1] + 5, before[2] + 5)
