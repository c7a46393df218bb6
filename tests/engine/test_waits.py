"""Waits for a moment, and people who end them before it comes."""

from __future__ import annotations

from typing import Any

import pytest

from anew.engine import events as e
from anew.engine.boundaries import (
    Boundary,
    Cancelled,
    Due,
    Lost,
    Paused,
    Reported,
    Requested,
    Resumed,
    Skipped,
    Taken,
)
from anew.engine.decide import Transition, decide
from anew.engine.fold import fold
from anew.engine.moments import NANOSECONDS
from anew.engine.next_actions import Invoke, Wait, asked_of
from anew.engine.outcome import outcome_of
from anew.engine.record import Moment
from anew.engine.state import RunState, RunStatus, StepRunKey
from anew.engine.waits import moment_waits, sleep_end
from anew.lab.replay import replay
from anew.languages import load_text
from tests.engine.driving import DOWN, forked

S = StepRunKey("s", 1)
RETRY = """
workflow:
  - step: s
    spec: {policy: {lifecycle: {timeout_s: %s}}}
    tool:
      kind: shell
      command: x
      spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 3, delay: 60, max_elapsed: %s}}]}}
"""
JUMP = """
workflow:
  - step: s
    tool:
      - poll: {kind: shell, command: x, spec: {policy: {rules: [{else: {then: {do: jump, to: poll, delay: 30}}}]}}}
"""
SLEEP = """
workflow:
  - step: s
    tool:
      - {name: nap, kind: sleep, seconds: 90}
      - {name: after, kind: shell, command: x}
"""
EACH = """
workflow:
  - step: s
    loop: {in: [1, 2, 3], iterator: n, spec: {mode: parallel, max_in_flight: 3}}
    tool: {kind: sleep, seconds: 90}
"""
BOOK = """
workbook:
  - {name: nap, tool: {kind: sleep, seconds: 90}}
workflow:
  - step: s
    tool: {kind: workbook, name: nap}
"""
GRAPH = """
digraph g {
  start [shape=Mdiamond]
  s [shape=box, prompt="do it", max_retries=2]
  done [shape=Msquare]
  start -> s -> done
}
"""


class World:
    """A run that the test moves by hand, at moments it names in seconds."""

    def __init__(self, document: str, file: str = "d.yaml") -> None:
        program = load_text(document, file).program
        assert program is not None
        self.program = program
        self.state = RunState()
        self.log: list[e.Event] = []
        self.do(Requested("1", {}))

    def do(self, boundary: Boundary, *, at: float = 0) -> Transition:
        moment = Moment(int(at * NANOSECONDS), lambda: 0.5)
        transition = decide(self.program, self.state, boundary, moment)
        self.log += transition.events
        return transition

    def fails(self, *, at: float = 0) -> Transition:
        run = self.state.step_run(S)
        assert run is not None
        return self.do(Reported(S, outcome_of(error=DOWN), run.started_seq), at=at)

    def skip(self, *keys: StepRunKey, at: float = 0, by: str | None = None) -> list[e.Event]:
        return self.do(Skipped(keys or (S,), by), at=at).events

    def check(self) -> None:
        assert fold(self.log) == self.state
        assert replay(self.program, self.log) is None


def waiting_to_retry(deadline: int = 9_999, elapsed: int = 9_999) -> World:
    world = World(RETRY % (deadline, elapsed))
    world.do(Taken(S))
    world.fails()
    return world


def asleep(document: str = SLEEP) -> World:
    world = World(document)
    world.do(Taken(S))
    return world


def test_a_retry_starts_now_with_the_attempt_that_was_scheduled() -> None:
    world = waiting_to_retry()
    transition = world.do(Skipped((S,), "ann"), at=7)
    (skipped,) = transition.events
    assert isinstance(skipped, e.WaitSkipped)
    place = (skipped.step, skipped.visit, skipped.task, skipped.attempt)
    assert place == ("s", 1, "s", 1)
    assert (skipped.waited_for, skipped.by) == ("retry", "ann")
    assert skipped.not_before == 60 * NANOSECONDS
    assert transition.jobs == [S]
    ask = world.do(Due(S), at=7).ask
    assert isinstance(ask, Invoke)
    assert ask.attempt == 2
    world.check()


def test_a_delayed_jump_is_made_now() -> None:
    world = World(JUMP)
    world.do(Taken(S))
    world.fails()
    (skipped,) = world.skip()
    assert isinstance(skipped, e.WaitSkipped)
    assert skipped.waited_for == "jump"
    ask = world.do(Due(S)).ask
    assert isinstance(ask, Invoke)
    assert (ask.task.label, ask.attempt) == ("poll", 1)
    world.check()


@pytest.mark.parametrize("document", [SLEEP, BOOK])
def test_a_sleep_is_called_again_and_knows_when_it_was_ended(document: str) -> None:
    world = asleep(document)
    transition = world.do(Skipped((S,)), at=12.5)
    (skipped,) = transition.events
    assert isinstance(skipped, e.WaitSkipped)
    assert (skipped.waited_for, skipped.not_before) == ("sleep", 90 * NANOSECONDS)
    assert transition.jobs == [S]
    run = world.state.step_run(S)
    assert run is not None
    ask = asked_of(world.program, world.state, run)
    assert (ask.skipped_at, ask.asked_at) == (12_500_000_000, 0)
    world.check()


def test_the_attempt_after_it_knows_of_no_skip() -> None:
    world = waiting_to_retry()
    world.skip(at=1)
    world.do(Due(S), at=1)
    run = world.state.step_run(S)
    assert run is not None
    assert run.skipped_at is None
    world.fails(at=2)
    ask = world.do(Due(S), at=3).ask
    assert isinstance(ask, Wait)
    assert ask.until == 62 * NANOSECONDS


@pytest.mark.parametrize("at", [60, 61])
def test_a_wait_that_is_over_changes_nothing(at: float) -> None:
    world = waiting_to_retry()
    assert world.skip(at=at) == []


@pytest.mark.parametrize("world", [waiting_to_retry, asleep])
def test_a_wait_is_skipped_once(world: Any) -> None:
    waits = world()
    assert len(waits.skip(at=1)) == 1
    assert waits.skip(at=1) == []
    assert moment_waits(waits.program, waits.state, NANOSECONDS) == []


def test_a_sleep_that_is_over_changes_nothing() -> None:
    assert asleep().skip(at=90) == []


@pytest.mark.parametrize(
    "task",
    [
        "{kind: human, question: well}",
        "{kind: wait, signal: paid, timeout: 60}",
        "{kind: shell, command: x}",
        "{kind: playbook, file: child.yaml}",
    ],
)
def test_people_signals_children_and_calls_at_work_are_waited_for(task: str) -> None:
    world = World(f"workflow: [{{step: s, tool: {task}}}]")
    assert world.skip() == []  # handed out, and nobody has taken it
    world.do(Taken(S))
    assert world.skip() == []
    assert moment_waits(world.program, world.state, 0) == []


def test_a_run_that_has_ended_waits_for_nothing() -> None:
    world = waiting_to_retry()
    world.do(Cancelled())
    assert world.skip() == []


def test_only_the_iterations_that_are_meant_are_skipped() -> None:
    world = World(EACH)
    world.do(Taken(S))
    keys = [StepRunKey("s", 1, index) for index in range(3)]
    for key in keys:
        world.do(Taken(key))
    nobody, other = StepRunKey("s", 1, 9), StepRunKey("t", 1)
    skipped = world.skip(keys[0], keys[2], nobody, other)
    assert [event.iteration for event in skipped] == [0, 2]
    assert [wait.run.key for wait in moment_waits(world.program, world.state, 0)] == [keys[1]]
    world.check()


def test_in_a_pause_nothing_starts_until_the_run_is_resumed() -> None:
    world = waiting_to_retry()
    world.do(Paused(), at=1)
    transition = world.do(Skipped((S,)), at=2)
    assert [event.name for event in transition.events] == ["wait.skipped"]
    assert transition.jobs == []
    assert world.state.status is RunStatus.PAUSED
    assert world.do(Due(S), at=3).events == []
    assert world.do(Resumed(), at=4).jobs == [S]
    assert isinstance(world.do(Due(S), at=4).ask, Invoke)
    world.check()


def test_a_sleep_ends_in_a_pause_as_any_task_at_work_does() -> None:
    world = asleep()
    world.do(Paused(), at=1)
    assert world.do(Skipped((S,)), at=2).jobs == [S]
    run = world.state.step_run(S)
    assert run is not None
    ended = world.do(Reported(S, outcome_of({"slept": 2.0}), run.started_seq), at=2)
    assert [event.name for event in ended.events] == ["task.processed"]
    world.check()


def test_the_deadline_of_the_step_stays() -> None:
    world = waiting_to_retry(deadline=30)
    world.skip(at=10)
    late = world.do(Due(S), at=31)
    assert [event.name for event in late.events][:2] == ["step.failed", "next.evaluated"]
    assert "deadline of 30 s" in world.state.failure["message"]  # type: ignore[index]


def test_a_wait_whose_deadline_has_passed_is_over() -> None:
    assert waiting_to_retry(deadline=30).skip(at=30) == []


def test_max_elapsed_counts_from_the_first_attempt_all_the_same() -> None:
    world = waiting_to_retry(elapsed=100)
    world.skip(at=45)
    world.do(Due(S), at=45)
    names = [event.name for event in world.fails(at=46).events]
    assert names[:2] == ["task.processed", "task.retry_exhausted"]


def test_a_node_of_a_graph_is_retried_now() -> None:
    world = World(GRAPH, "d.dot")
    world.do(Taken(StepRunKey("start", 1)))
    world.do(Taken(S))
    while not moment_waits(world.program, world.state, 0):
        world.fails()
    assert [event.name for event in world.skip()] == ["wait.skipped"]
    assert isinstance(world.do(Due(S)).ask, Invoke)
    world.check()


def test_a_lost_worker_leaves_a_sleep_ended() -> None:
    world = asleep()
    world.skip(at=5)
    world.do(Lost(S), at=6)
    ask = world.do(Taken(S), at=7).ask
    assert isinstance(ask, Invoke)
    assert (ask.skipped_at, ask.asked_at) == (5 * NANOSECONDS, 0)


def test_a_fork_from_behind_a_skip_has_slept_as_long() -> None:
    world = asleep()
    world.skip(at=5)
    later = 1_000 * NANOSECONDS
    fork = forked(world.program, world.log, len(world.log), now=later)
    ask = fork.do(Taken(S)).ask
    assert isinstance(ask, Invoke)
    assert ask.skipped_at is not None
    assert ask.skipped_at - ask.asked_at == 5 * NANOSECONDS


@pytest.mark.parametrize(
    ("inputs", "end"),
    [
        ({"seconds": 1.5}, 1_500_000_000),
        ({"seconds": "2m"}, 120_000_000_000),
        ({"until": "1970-01-01T00:01:00Z"}, 60_000_000_000),
        ({"until": "1970-01-01T00:01:00"}, 60_000_000_000),
        ({"seconds": -1}, None),
        ({"seconds": True}, None),
        ({"until": "soon"}, None),
        ({}, None),
    ],
)
def test_the_end_of_a_sleep_follows_from_its_inputs(inputs: Any, end: int | None) -> None:
    assert sleep_end(inputs, 0) == end
