"""How long workers took to come, as a simulation will ask for it."""

from __future__ import annotations

from collections.abc import Iterable

from anew.engine import events as e
from anew.engine.state import StepRunKey
from anew.lab.worker_lags import Lags
from anew.program.program import RouteMode

B = StepRunKey("b", 1)


def read(log: Iterable[e.Event]) -> Lags:
    lags = Lags()
    for event in log:
        lags.feed(event)
    return lags


def routed(at: int) -> e.NextEvaluated:
    token = {"id": 1, "to": "b", "args": {}}
    return e.NextEvaluated(
        at=at,
        step="a",
        visit=1,
        event="step.done",
        mode=RouteMode.EXCLUSIVE,
        arcs=[],
        tokens=[token],
    )


def scheduled(at: int) -> e.StepScheduled:
    return e.StepScheduled(at=at, step="b", visit=1, tokens=[1], args={})


def started(at: int) -> e.StepStarted:
    return e.StepStarted(at=at, step="b", visit=1)


def waiting(at: int, deadline: int | None) -> e.HumanWaiting:
    return e.HumanWaiting(at=at, step="b", visit=1, question="?", deadline=deadline)


def test_a_worker_is_needed_from_the_moment_a_visit_begins() -> None:
    assert read([routed(3), scheduled(5), started(9)]).came == {B: [4]}


def test_what_a_pause_held_up_was_needed_since_its_token_was_made() -> None:
    log = [routed(3), e.RunPaused(at=3), e.RunResumed(at=8), scheduled(8), started(9)]
    assert read(log).came == {B: [6]}


def test_nobody_comes_for_what_is_dropped() -> None:
    dropped = e.StepSkipped(at=7, step="b", visit=1, reason="the run failed")
    lags = read([scheduled(5), dropped])
    assert (lags.came, lags.needed) == ({}, {B: 5})


def test_a_question_needs_a_worker_at_its_deadline_or_once_it_is_answered() -> None:
    begun = [scheduled(0), started(0), waiting(0, 10)]
    late = e.HumanTimedOut(at=12, step="b", visit=1, action="fail")
    assert read([*begun, late]).came == {B: [0, 2]}
    answered = e.HumanAnswered(at=4, step="b", visit=1, answer="y")
    done = e.StepDone(at=5, step="b", visit=1)
    assert read([*begun, answered, done]).came == {B: [0, 1]}
    assert read(begun).needed == {B: 10}


def test_the_end_of_a_wait_for_a_signal_needs_no_worker() -> None:
    wait = e.SignalWaiting(at=0, step="b", visit=1, signal="paid", deadline=10)
    over = e.SignalTimedOut(at=12, step="b", visit=1, signal="paid")
    assert read([scheduled(0), started(0), wait, over]).came == {B: [0]}
