"""Transitions as a store and a worker see them: jobs handed out, taken, withdrawn."""

import itertools

import pytest

from anew.engine import events as e
from anew.engine.boundaries import Due, Lost, Reported, Requested, Taken
from anew.engine.decide import decide
from anew.engine.fold import evolve, fold
from anew.engine.outcome import outcome_of
from anew.engine.record import Moment
from anew.engine.state import RunState, RunStatus, StepRunKey
from anew.errors import EngineBug
from anew.lab.replay import replay
from anew.languages import load_text
from tests.play import play, rows

FORK = """
workflow:
- {step: start, tool: {kind: noop}, next: [a, b]}
- {step: a, tool: {kind: noop}}
- {step: b, tool: {kind: noop}}
"""


class World:
    """A run that the test moves by hand."""

    def __init__(self, document):
        self.program = load_text(document, "d.yaml").program
        self.state = RunState()
        self.clock = itertools.count(1)

    def do(self, boundary):
        return decide(self.program, self.state, boundary, Moment(next(self.clock), lambda: 0.5))

    def report(self, key, result=None, **outcome):
        started = self.state.step_run(key).started_seq
        return self.do(Reported(key, outcome_of(result, **outcome), started))

    def end(self, step, **outcome):
        self.do(Taken(StepRunKey(step, 1)))
        return self.report(StepRunKey(step, 1), **outcome)


def names(transition):
    return [event.name for event in transition.events]


def test_a_one_task_step_is_one_transition():
    world = World(FORK)
    world.do(Requested("1", {}))
    assert names(world.end("start")) == [
        "task.processed",
        "step.done",
        "next.evaluated",
        "branch.forked",
        "step.scheduled",
        "step.scheduled",
    ]


def test_what_no_worker_took_is_withdrawn_when_the_run_fails():
    world = World(FORK)
    world.do(Requested("1", {}))
    world.end("start")
    failing = world.end("a", error="boom")
    skipped = [x for x in failing.events if isinstance(x, e.StepSkipped)]
    assert [(x.step, x.visit) for x in skipped] == [("b", 1)]
    assert world.state.status is RunStatus.FAILED


def test_a_step_run_that_was_withdrawn_can_no_longer_be_taken():
    world = World(FORK)
    world.do(Requested("1", {}))
    world.end("start")
    world.end("a", error="boom")
    late = world.do(Taken(StepRunKey("b", 1)))
    assert (late.events, late.jobs, late.ask) == ([], [], None)


def test_what_a_worker_took_goes_on_to_its_end():
    world = World(FORK)
    world.do(Requested("1", {}))
    world.end("start")
    world.do(Taken(StepRunKey("b", 1)))
    world.end("a", error="boom")
    assert world.state.status is RunStatus.RUNNING
    last = world.report(StepRunKey("b", 1), {})
    assert names(last)[-1] == "run.failed"


RETRIED = """
executor: {spec: {limits: {deliveries: 2}}}
workflow:
- step: a
  tool:
  - one: {kind: noop}
  - two: {kind: noop, spec: {policy: {rules: [{when: "outcome.status == 'error'", then: {do: retry, attempts: 2}}]}}}
"""
A = StepRunKey("a", 1)


def lost_in_the_second_task():
    world = World(RETRIED)
    world.do(Requested("1", {}))
    world.do(Taken(A))
    world.report(A, 7)
    world.report(A, error="down")
    return world


def test_a_lost_worker_costs_neither_an_attempt_nor_the_tasks_before():
    world = lost_in_the_second_task()
    redelivered = world.do(Lost(A))
    assert (names(redelivered), redelivered.jobs) == (["step.redelivered"], [A])
    again = world.do(Taken(A))
    assert (again.ask.task.label, again.ask.attempt) == ("two", 2)
    assert world.state.step_run(A).prev == 7
    assert names(world.report(A, {}))[-1] == "run.done"


def test_a_step_run_that_keeps_losing_workers_is_given_up():
    world = lost_in_the_second_task()
    world.do(Lost(A))
    world.do(Taken(A))
    ended = world.do(Lost(A))
    assert ended.events[-1].error["kind"] == "worker_lost"


def test_a_worker_lost_between_tasks_changes_nothing():
    world = World(FORK)
    world.do(Requested("1", {}))
    assert names(world.do(Lost(StepRunKey("start", 1)))) == []


def test_what_was_redelivered_folds_to_the_same_state():
    world = World(RETRIED)
    log = []
    for boundary in (Requested("1", {}), Taken(A), Lost(A), Taken(A)):
        log += world.do(boundary).events
    log += world.report(A, 7).events + world.report(A, {}).events
    assert fold(log) == world.state
    assert replay(world.program, log) is None
    assert log[-1].name == "run.done"


DRAWN = """
workflow:
- step: a
  tool:
  - t: {kind: noop, args: {x: "{{ rand() }}", t: "{{ now() }}"}}
  - u: {kind: noop, spec: {policy: {rules: [{else: {then: {do: jump, to: t}}}]}}}
"""


def test_the_next_worker_is_given_the_same_inputs_and_key():
    world = World(DRAWN)
    world.do(Requested("1", {}))
    first = world.do(Taken(A)).ask
    world.do(Lost(A))
    second = world.do(Taken(A)).ask
    assert second.inputs == first.inputs
    assert second.idempotency_key == first.idempotency_key
    assert second.started != first.started


def test_each_visit_of_a_task_has_an_idempotency_key_of_its_own():
    world = World(DRAWN)
    world.do(Requested("1", {}))
    first = world.do(Taken(A)).ask
    world.report(A, {})
    again = world.report(A, {}).ask
    assert again.task.label == first.task.label
    assert again.idempotency_key != first.idempotency_key


def test_a_report_of_an_execution_that_was_given_up_changes_nothing():
    world = World(DRAWN)
    world.do(Requested("1", {}))
    late = world.do(Taken(A)).ask.started
    world.do(Lost(A))
    world.do(Taken(A))
    assert world.do(Reported(A, outcome_of({}), late)).events == []


def test_what_is_delivered_twice_changes_nothing_the_second_time():
    world = World(DRAWN)
    world.do(Requested("1", {}))
    started = world.do(Taken(A)).ask.started
    for boundary in (Taken(A), Due(A), Requested("1", {})):
        assert world.do(boundary).events == []
    assert world.do(Reported(A, outcome_of({}), started)).events != []
    assert world.do(Reported(A, outcome_of({}), started)).events == []


def test_a_step_run_that_gets_somewhere_between_losses_is_not_given_up():
    world = World(DRAWN)
    world.do(Requested("1", {}))
    world.do(Taken(A))
    for _ in range(5):
        world.do(Lost(A))
        world.do(Taken(A))
        world.report(A, {})
    assert world.state.status is RunStatus.RUNNING


def test_an_event_about_something_unknown_is_a_bug():
    with pytest.raises(EngineBug):
        evolve(RunState(status=RunStatus.RUNNING), e.StepRefused(seq=1, step="a", token=9))


OVERLAP = """
workflow:
- step: start
  tool: {kind: noop}
  next: {spec: {mode: inclusive}, arcs: [{step: loop, args: {n: [1]}}, {step: loop, args: {n: [1, 2]}}]}
- step: loop
  spec: {join: each}
  loop: {in: "{{ args.n }}", iterator: i}
  tool: {kind: noop}
  next: [{step: end, when: "true", args: {total: "{{ event.result.total }}"}}]
- {step: end, spec: {join: each}, tool: {kind: noop}}
"""


def test_overlapping_visits_of_a_loop_each_have_their_own_result():
    report = play(OVERLAP, outcomes={"loop": [{"takes": 9}, {}]})
    routed = [row for row in rows(report, "next.evaluated") if row["step"] == "loop"]
    totals = [row["data"]["tokens"][0]["args"]["total"] for row in routed]
    assert totals == [2, 1]
