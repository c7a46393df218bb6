"""The timeline: its fixed-width form, and that each kind of event is shown or hidden on purpose."""

from __future__ import annotations

import pytest

from anew.engine import events as e
from anew.engine.events.words import RetryLimit, SkippedWait
from anew.engine.moments import NANOSECONDS
from anew.engine.outcome import outcome_of
from anew.program.guards import GuardKey
from anew.program.policy import DirectiveKind
from anew.program.program import LoopMode, RouteMode
from anew.program.retry import BackoffKind, JitterKind
from anew.views.timeline import timeline_lines

MILLISECOND = NANOSECONDS // 1000
START = 946_684_800 * NANOSECONDS
BOOM = {"kind": "server_error", "message": "Service Unavailable", "retryable": True}
FAILED = outcome_of({}, error=BOOM, helpers={"http": {"status": 503}}, now=0)
FETCH = {"step": "fetch", "visit": 1, "task": "page", "attempt": 1}


def began(at: int = START) -> e.RunStarted:
    return e.RunStarted(entry="fetch", at=at)


def scheduled(delay_seconds: float) -> e.TaskRetryScheduled:
    return e.TaskRetryScheduled(
        **FETCH,
        rule=1,
        backoff=BackoffKind.FIXED,
        base_seconds=delay_seconds,
        jitter=JitterKind.NONE,
        draw=None,
        cap_seconds=None,
        retry_after_seconds=None,
        spread_seconds=delay_seconds,
        delay_seconds=delay_seconds,
        not_before=0,
        attempts=3,
    )


# One event of every kind, and what its line says after the place. None: deliberately hidden.
DECIDED: list[tuple[e.Event, str | None]] = [
    # Asking and starting are one moment for who reads a timeline.
    (e.RunRequested(run="1", program="p", digest="d", workload={}), None),
    (e.RunStarted(entry="fetch"), "started"),
    (e.RunPaused(reason="lunch"), "paused                       lunch"),
    (e.RunResumed(), "resumed"),
    (e.RunDone(result=1), "done"),
    (e.RunFailed(error=BOOM), "failed                       server_error: Service Unavailable"),
    (e.RunCancelled(), "cancelled"),
    (
        e.RunCompensating(count=2, is_cancelled=True),
        "compensating                 2 step-runs · cancelled",
    ),
    # A step's start is the start of its first task or of its loop.
    (e.StepScheduled(step="fetch", tokens=[1], args={}), None),
    (e.StepStarted(step="fetch"), None),
    (
        e.StepRefused(step="fetch", token=1),
        "step refused                 the gate never let the token in",
    ),
    (e.StepDone(step="fetch"), "step done"),
    (
        e.StepFailed(step="fetch", error=BOOM, handled=True),
        "step failed                  server_error: Service Unavailable · handled",
    ),
    (
        e.StepSkipped(step="fetch", reason="the run failed"),
        "step skipped                 the run failed",
    ),
    (e.StepRedelivered(step="fetch", delivery=2), "step redelivered"),
    (e.TaskStarted(**FETCH, task_visit=1), "task page started            attempt 1"),
    (
        e.TaskProcessed(**FETCH, outcome=FAILED, directive=DirectiveKind.FAIL, rule=2),
        "task page error              http 503 · rule 2 · fail",
    ),
    # On the line of the outcome that asked for it.
    (scheduled(2.0), None),
    (
        e.TaskRetryExhausted(
            **FETCH, rule=1, attempts=3, reason=RetryLimit.ATTEMPTS, directive=DirectiveKind.FAIL
        ),
        "task page exhausted          1 attempt made, the rule allows 3 · fail",
    ),
    (
        e.LoopStarted(
            step="fetch", items=[1, 2], iterator="n", mode=LoopMode.PARALLEL, max_in_flight=8
        ),
        "loop started                 2 items · parallel · 8 at a time",
    ),
    # An iteration that went well shows by its last task.
    (e.LoopIterationDone(step="fetch", iteration=0), None),
    (
        e.LoopIterationFailed(step="fetch", error=BOOM),
        "iteration failed             server_error: Service Unavailable",
    ),
    (
        e.LoopDone(step="fetch", total=3, done=2, failed=1),
        "loop done                    2 of 3 done · 1 failed",
    ),
    (
        e.NextEvaluated(
            step="fetch",
            event="step.done",
            mode=RouteMode.EXCLUSIVE,
            arcs=[{}],
            tokens=[{"to": "store"}],
        ),
        "next on step.done            -> store",
    ),
    (
        e.GateChecked(step="fetch", tokens=[1], allow=False, rule=1),
        "gate asked                   refused · rule 1",
    ),
    # The line of the router names the targets.
    (e.BranchForked(step="fetch", tokens=[1, 2]), None),
    (e.BranchJoined(step="fetch", tokens=[1, 2]), "branches joined              2 tokens"),
    (e.HumanWaiting(step="fetch", question="Ship it?"), "waits for a person           Ship it?"),
    (
        e.HumanAnswered(step="fetch", answer="Y", by="ann"),
        "answered                     Y · ann",
    ),
    (e.HumanTimedOut(step="fetch", action="fail"), "nobody answered              gives up"),
    (e.SignalWaiting(step="fetch", signal="paid"), "waits for a signal           paid"),
    (e.SignalReceived(step="fetch", signal="paid"), "signal came                  paid"),
    (e.SignalTimedOut(step="fetch", signal="paid"), "no signal came               paid"),
    (
        e.TaskHeld(
            **FETCH,
            guard=GuardKey.CONCURRENCY,
            dependency="api/a",
            reason="2 of 2 calls are running",
            scope="api",
            behind=3,
        ),
        "task page held               concurrency of api · 2 of 2 calls are running · behind 3",
    ),
    (
        e.WaitSkipped(
            step="fetch", waited_for=SkippedWait.RETRY, not_before=START + 41_000_000_000, by="ann"
        ),
        "wait skipped                 retry · 41.0 s early · ann",
    ),
]


def test_every_kind_of_event_is_decided() -> None:
    assert {event.name for event, _ in DECIDED} == set(e.EVENTS)


@pytest.mark.parametrize(("event", "said"), DECIDED, ids=[event.name for event, _ in DECIDED])
def test_an_event_is_shown_as_decided(event: e.Event, said: str | None) -> None:
    event.at = START
    lines = list(timeline_lines([began(), event]))[1:]
    place = event.step or "run"
    width = max(len(place), len("run"))
    assert lines == ([] if said is None else [f"    0.000  {place:{width}}  {said}"])


def test_a_router_without_arcs_has_nothing_to_say() -> None:
    routed = e.NextEvaluated(
        step="fetch", event="step.done", mode=RouteMode.EXCLUSIVE, arcs=[], tokens=[], at=START
    )
    assert len(list(timeline_lines([began(), routed]))) == 1


def test_an_outcome_and_its_retry_share_a_line() -> None:
    processed = e.TaskProcessed(**FETCH, outcome=FAILED, directive=DirectiveKind.RETRY, rule=1)
    processed.at = START + 400 * MILLISECOND
    retry = scheduled(2.0)
    retry.at = processed.at
    assert list(timeline_lines([began(), processed, retry])) == [
        "    0.000  run    started",
        "    0.400  fetch  task page error              http 503 · rule 1 · retry in 2.0 s",
    ]


def test_times_count_from_the_first_event_and_places_are_as_wide_as_the_widest() -> None:
    last = START + 1234 * NANOSECONDS + 567 * MILLISECOND
    iteration = e.TaskStarted(**{**FETCH, "iteration": 12}, task_visit=1, at=START + MILLISECOND)
    lines = list(timeline_lines([began(), iteration, e.RunDone(at=last)]))
    assert lines == [
        "    0.000  run        started",
        "    0.001  fetch[12]  task page started            attempt 1",
        " 1234.567  run        done",
    ]
    assert all(line == line.rstrip() for line in lines)


def test_a_long_text_is_cut_and_stays_on_one_line() -> None:
    error = {"kind": "python_error", "message": "first line\n" + "x" * 200, "retryable": None}
    (_, line) = timeline_lines([began(), e.RunFailed(error=error, at=START)])
    said = line.partition("failed")[2].strip()
    assert said.startswith("python_error: first line xxx")
    assert said.endswith("…")
    assert len(said) == 100


def test_an_empty_log_has_no_lines() -> None:
    assert list(timeline_lines([])) == []
