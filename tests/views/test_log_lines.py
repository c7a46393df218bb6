"""Log lines: one sentence per event worth telling, and none for the others."""

from __future__ import annotations

import pytest

from anew.engine import events as e
from anew.engine.events.words import RetryLimit, SkippedWait
from anew.engine.outcome import outcome_of
from anew.program.guards import GuardKey
from anew.program.policy import DirectiveKind, TimeoutAction
from anew.program.program import LoopMode, RouteMode
from anew.views.log_lines import LogLines
from tests.play import simulated
from tests.views.recorded import BUSY, DOWN, LOOP, RETRY

BOOM = {"kind": "auth", "message": "no\nentry", "retryable": False}
FAILED = outcome_of({}, error=BOOM, now=0)
FETCH = {"step": "fetch", "visit": 1, "task": "page", "attempt": 1}


def lines(log) -> list[str]:
    told = LogLines()
    return [line for line in map(told.line, log) if line is not None]


def retry(**more) -> e.TaskRetryScheduled:
    fields = {
        "rule": 1,
        "backoff": "fixed",
        "base_seconds": 2.34,
        "jitter": "none",
        "draw": None,
        "cap_seconds": None,
        "retry_after_seconds": None,
        "spread_seconds": 2.34,
        "delay_seconds": 2.34,
        "not_before": 0,
        "attempts": 5,
    }
    return e.TaskRetryScheduled(**FETCH, **{**fields, **more})


def test_a_retry_is_one_line_in_the_words_of_the_seed() -> None:
    run = simulated(RETRY, outcomes={"page": [DOWN, BUSY, {"result": 1}]})
    assert lines(run.log) == [
        "run: 1 of program test",
        "fetch: started",
        "fetch.page: attempt 1 failed: HTTP 503; will retry after 2.00 s (attempt 2/4)",
        "fetch.page: attempt 2 failed: HTTP 429: slow down, Retry-After 60.0 s; "
        "will retry after 60.00 s (attempt 3/4)",
        "fetch.page: succeeded on attempt 3",
        "fetch: done after 1 min 2 s",
        "store: started",
        "store: done after 0 s",
        "run: done in 1 min 2 s",
    ]


def test_spent_attempts_and_what_follows_are_told() -> None:
    run = simulated(RETRY, outcomes={"page": [DOWN]})
    said = lines(run.log)
    assert "fetch.page: attempt 4 failed: HTTP 503; 4 of 4 attempts made, gives up" in said
    assert said[-1] == "run: failed: server_error: 503"


def test_polling_an_ok_result_is_told_as_polling() -> None:
    processed = e.TaskProcessed(
        **FETCH, outcome=outcome_of(1), directive=DirectiveKind.RETRY, rule=1
    )
    assert lines([processed, retry()]) == [
        "fetch.page: attempt 1 gave no final result; will retry after 2.34 s (attempt 2/5)"
    ]


def test_a_large_loop_is_told_in_tenths() -> None:
    run = simulated(LOOP % 1000)
    said = lines(run.log)
    assert said[2] == "each: loop started: 1000 items · parallel · 4 at a time"
    assert sum("iterations ended" in line for line in said) == 9
    assert said[-3] == "each: loop done: 1000 of 1000 done · 0 failed"
    assert len(said) < 20


def test_iterations_that_end_leave_nothing_behind() -> None:
    told = LogLines()
    for event in simulated(LOOP % 200, outcomes={"one": [DOWN]}).log:
        told.line(event)
    assert [len(kept) for kept in (told._trouble, told._since, told._loops)] == [0, 0, 0]


# What each kind of event says on its own; None is silence on purpose.
DECIDED: list[tuple[e.Event, str | None]] = [
    (
        e.TaskHeld(
            **FETCH,
            guard=GuardKey.RATE,
            dependency="api",
            reason="3 calls have started within 10 s",
            scope="api",
            until=10_000_000_000,
        ),
        "fetch.page: held: rate of api · 3 calls have started within 10 s",
    ),
    (e.RunRequested(run="7", program="p", digest="d", workload={}), "run: 7 of program p"),
    (e.RunStarted(entry="fetch"), None),
    (e.RunPaused(reason="lunch"), "run: paused: lunch"),
    (e.RunResumed(), "run: resumed"),
    (e.RunDone(result=1), "run: done in 0 s"),
    (e.RunFailed(error=BOOM), "run: failed: auth: no entry"),
    (e.RunCancelled(), "run: cancelled"),
    (e.RunCompensating(count=2, is_cancelled=True), "run: compensating: 2 step-runs · cancelled"),
    (e.StepScheduled(step="fetch", tokens=[1], args={}), None),
    (e.StepRefused(step="fetch", token=1), "fetch: step refused: the gate never let the token in"),
    (e.StepStarted(step="fetch", visit=2), "fetch: started, visit 2"),
    (e.StepDone(step="fetch"), "fetch: done"),
    (
        e.StepFailed(step="fetch", error=BOOM, handled=True),
        "fetch: failed, handled: auth: no entry",
    ),
    (e.StepSkipped(step="fetch", reason="the run failed"), "fetch: step skipped: the run failed"),
    (
        e.StepRedelivered(step="fetch", delivery=2),
        "fetch: its worker was lost; it is queued again, which costs no attempt",
    ),
    (e.TaskStarted(**FETCH, task_visit=1), None),
    (
        e.TaskProcessed(**FETCH, outcome=FAILED, directive=DirectiveKind.FAIL, rule=2),
        "fetch.page: attempt 1 failed: auth: no entry; gives up",
    ),
    (retry(), "fetch.page: attempt 1 ended; will retry after 2.34 s (attempt 2/5)"),
    (
        e.TaskRetryExhausted(
            **FETCH,
            rule=1,
            attempts=3,
            reason=RetryLimit.MAX_ELAPSED,
            directive=DirectiveKind.CONTINUE,
        ),
        "fetch.page: attempt 1 ended; out of time, continues",
    ),
    (
        e.LoopStarted(
            step="fetch", items=[1], iterator="n", mode=LoopMode.SEQUENTIAL, max_in_flight=1
        ),
        "fetch: loop started: 1 item · sequential",
    ),
    (e.LoopIterationDone(step="fetch", iteration=0), None),
    (
        e.LoopIterationFailed(step="fetch", iteration=3, error=BOOM),
        "fetch[3]: iteration failed: auth: no entry",
    ),
    (
        e.LoopDone(step="fetch", total=3, done=2, failed=1),
        "fetch: loop done: 2 of 3 done · 1 failed",
    ),
    (
        e.NextEvaluated(
            step="fetch", event="step.done", mode=RouteMode.EXCLUSIVE, arcs=[], tokens=[]
        ),
        None,
    ),
    (e.GateChecked(step="fetch", tokens=[1], allow=False), None),
    (e.BranchForked(step="fetch", tokens=[1, 2]), None),
    (e.BranchJoined(step="fetch", tokens=[1, 2]), None),
    (e.HumanWaiting(step="fetch", question="Ship it?"), "fetch: waits for a person: Ship it?"),
    (e.HumanAnswered(step="fetch", answer="Y"), "fetch: answered: Y"),
    (e.HumanTimedOut(step="fetch", action=TimeoutAction.FAIL), "fetch: nobody answered: gives up"),
    (e.SignalWaiting(step="fetch", signal="paid"), "fetch: waits for a signal: paid"),
    (e.SignalReceived(step="fetch", signal="paid"), "fetch: signal came: paid"),
    (
        e.SignalTimedOut(step="fetch", signal="paid"),
        "fetch: no signal came: paid",
    ),
    (
        e.WaitSkipped(
            step="fetch", waited_for=SkippedWait.RETRY, not_before=41_000_000_000, by="ann"
        ),
        "fetch: wait skipped: retry · 41.0 s early · ann",
    ),
]


def test_every_kind_of_event_is_decided() -> None:
    assert {event.name for event, _ in DECIDED} == set(e.EVENTS)


@pytest.mark.parametrize(("event", "said"), DECIDED, ids=[event.name for event, _ in DECIDED])
def test_an_event_is_told_as_decided(event: e.Event, said: str | None) -> None:
    assert LogLines().line(event) == said
