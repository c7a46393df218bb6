"""Transitions as a store and a worker see them: jobs handed out, taken, withdrawn."""

import itertools

from anew.engine import events as e
from anew.engine.decide import Lost, Reported, Requested, Taken, decide
from anew.engine.fold import fold
from anew.engine.outcome import outcome_of
from anew.engine.record import Moment
from anew.engine.state import Key, RunState, RunStatus
from anew.lab.replay import replay
from anew.languages import load_text

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

    def end(self, step, **outcome):
        self.do(Taken(Key(step, 1)))
        return self.do(Reported(Key(step, 1), outcome_of(**outcome)))


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
    late = world.do(Taken(Key("b", 1)))
    assert (late.events, late.jobs, late.ask) == ([], [], None)


def test_what_a_worker_took_goes_on_to_its_end():
    world = World(FORK)
    world.do(Requested("1", {}))
    world.end("start")
    world.do(Taken(Key("b", 1)))
    world.end("a", error="boom")
    assert world.state.status is RunStatus.RUNNING
    last = world.do(Reported(Key("b", 1), outcome_of({})))
    assert names(last)[-1] == "run.failed"


RETRIED = """
executor: {spec: {limits: {deliveries: 2}}}
workflow:
- step: a
  tool:
  - one: {kind: noop}
  - two: {kind: noop, spec: {policy: {rules: [{when: "outcome.status == 'error'", then: {do: retry, attempts: 2}}]}}}
"""
A = Key("a", 1)


def lost_in_the_second_task():
    world = World(RETRIED)
    world.do(Requested("1", {}))
    world.do(Taken(A))
    world.do(Reported(A, outcome_of(7)))
    world.do(Reported(A, outcome_of(error="down")))
    return world


def test_a_lost_worker_costs_neither_an_attempt_nor_the_tasks_before():
    world = lost_in_the_second_task()
    redelivered = world.do(Lost(A))
    assert (names(redelivered), redelivered.jobs) == (["step.redelivered"], [A])
    again = world.do(Taken(A))
    assert (again.ask.task.label, again.ask.attempt) == ("two", 2)
    assert world.state.step_run(A).prev == 7
    assert names(world.do(Reported(A, outcome_of({}))))[-1] == "run.done"


def test_a_step_run_that_keeps_losing_workers_is_given_up():
    world = lost_in_the_second_task()
    world.do(Lost(A))
    world.do(Taken(A))
    ended = world.do(Lost(A))
    assert ended.events[-1].error["kind"] == "worker_lost"


def test_a_worker_lost_between_tasks_changes_nothing():
    world = World(FORK)
    world.do(Requested("1", {}))
    assert names(world.do(Lost(Key("start", 1)))) == []


def test_what_was_redelivered_folds_to_the_same_state():
    world = World(RETRIED)
    log = []
    for boundary in (
        Requested("1", {}),
        Taken(A),
        Lost(A),
        Taken(A),
        Reported(A, outcome_of(7)),
        Reported(A, outcome_of({})),
    ):
        log += world.do(boundary).events
    assert fold(log) == world.state
    assert replay(world.program, log) is None
    assert log[-1].name == "run.done"
