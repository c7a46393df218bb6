"""The table of attempts: each execution once, with how it ended and what was decided about it."""

from __future__ import annotations

from collections.abc import Sequence

from anew.engine import events as e
from anew.engine.boundaries import Due, Reported, Taken
from anew.engine.moments import moment_text
from anew.engine.outcome import outcome_of
from anew.views.attempt_rows import ATTEMPT_ERROR_BYTES_MAX, AttemptShown, SkipShown
from anew.views.picture.leaving_out import MARK
from anew.views.picture.tracing import Trace
from tests.corpus import corpus
from tests.engine.test_waits import JUMP, S, World, asleep, waiting_to_retry
from tests.play import simulated
from tests.views.graphs import FAIL, RACE, RACED, REDIRECTED, RESTARTS, drawn
from tests.views.recorded import BUSY, DOWN, LOOP, RETRY, SECOND, upto

JUMPS = """
workflow:
  - step: poll
    tool:
      - ask:
          kind: http
          url: "http://x"
          spec:
            policy:
              rules:
                - when: "{{ outcome.result.state == 'open' }}"
                  then: {do: jump, to: ask, delay: 3}
"""
EXHAUSTED = RETRY.replace("attempts: 4", "attempts: 2")


def rows(simulation, log=None) -> list[AttemptShown]:
    trace = Trace(simulation.program)
    trace.feed(simulation.log if log is None else log)
    return [trace.book.row(attempt) for attempt in trace.book.attempts]


def test_an_attempt_has_its_outcome_its_rule_and_its_delay() -> None:
    simulation = simulated(RETRY, outcomes={"page": [{**BUSY, "takes": 0.5}, {"result": 1}]})
    first, second, _ = rows(simulation)
    assert (first.step, first.task, first.kind) == ("fetch", "page", "http")
    assert (first.attempt, first.attempts_max, first.seconds) == (1, 4, 0.5)
    assert (first.status, first.http_status, first.directive) == ("error", 429, "retry")
    assert first.error is not None
    assert first.error["kind"] == "rate_limit"
    assert first.rule is not None
    assert (first.rule.number, first.rule.line, first.rule.column) == (1, 11, 17)
    assert first.delay is not None
    assert (first.delay.base_seconds, first.delay.retry_after_seconds) == (2, 60)
    assert first.delay.delay_seconds == 60
    assert first.delay.text == "fixed 2.0 s · Retry-After 60.0 s"
    assert first.delay.not_before == second.started_at
    assert (second.attempt, second.attempts_max, second.status) == (2, 4, "ok")
    assert (second.delay, second.rule, second.exhausted) == (None, None, None)


def test_an_attempt_names_the_events_it_is_made_of() -> None:
    simulation = simulated(RETRY, outcomes={"page": [DOWN, {}]})
    first, second, _ = rows(simulation)
    kinds = [
        type(simulation.log[seq - 1])
        for seq in (first.seq, first.ended_seq, first.decided_seq)
        if seq is not None
    ]
    assert kinds == [e.TaskStarted, e.TaskProcessed, e.TaskRetryScheduled]
    assert second.decided_seq == second.ended_seq


def test_the_last_attempt_says_why_there_is_no_other() -> None:
    *_, last = rows(simulated(EXHAUSTED, outcomes={"page": [DOWN]}))
    assert (last.attempt, last.attempts_max, last.directive) == (2, 2, "fail")
    assert last.exhausted == "attempts"
    assert last.delay is None


def test_a_number_of_attempts_that_only_the_run_knows_is_told_once_it_was_used() -> None:
    document = RETRY.replace("attempts: 4", 'attempts: "{{ workload.most }}"')
    outcomes = {"page": [{**DOWN, "times": 2}, {}]}
    simulation = simulated(document, outcomes=outcomes, workload={"most": 5})
    first = upto(simulation, e.TaskStarted)
    assert [row.attempts_max for row in rows(simulation, first)] == [None]
    second = upto(simulation, e.TaskStarted, 2)
    assert [row.attempts_max for row in rows(simulation, second)] == [5, 5]


def test_a_jump_with_a_delay_is_a_decision_too() -> None:
    outcomes = {"ask": [{"result": {"state": "open"}}, {"result": {"state": "closed"}}]}
    first, second = rows(simulated(JUMPS, outcomes=outcomes))
    assert (first.status, first.directive, first.to) == ("ok", "jump", "ask")
    assert first.delay is not None
    assert first.delay.text == "as the jump says"
    assert (first.delay.delay_seconds, first.delay.not_before) == (3, second.started_at)
    assert first.idempotency_key != second.idempotency_key


def test_an_execution_without_an_outcome_is_at_work() -> None:
    simulation = simulated(RETRY)
    [row] = rows(simulation, upto(simulation, e.TaskStarted))
    assert (row.status, row.ended_at, row.seconds, row.directive) == ("working", None, None, None)


def test_a_lost_worker_leaves_an_attempt_of_its_own_with_the_same_number_and_key() -> None:
    simulation = simulated(RETRY)
    log = upto(simulation, e.TaskStarted)
    started, seq = log[-1], len(log)
    assert isinstance(started, e.TaskStarted)
    place = {"step": "fetch", "visit": 1, "at": started.at + SECOND}
    log = [
        *log,
        e.StepRedelivered(seq=seq + 1, delivery=2, **place),
        e.TaskStarted(seq=seq + 2, task="page", attempt=1, task_visit=1, **place),
    ]
    lost, again = rows(simulation, log)
    assert (lost.status, lost.seconds, lost.ended_seq) == ("lost", 1.0, seq + 1)
    assert (again.status, again.attempt, again.seq) == ("working", 1, seq + 2)
    assert again.idempotency_key == lost.idempotency_key


def test_a_step_run_given_up_after_lost_workers_is_lost_and_one_too_late_is_cancelled() -> None:
    simulation = simulated(RETRY)
    log = upto(simulation, e.TaskStarted)
    for kind, status in (("worker_lost", "lost"), ("timeout", "cancelled")):
        error = {"kind": kind, "message": "no"}
        at = log[-1].at
        failed = e.StepFailed(seq=len(log) + 1, at=at, step="fetch", visit=1, error=error, handled=False)  # fmt: skip
        [row] = rows(simulation, [*log, failed])
        assert (row.status, row.error) == (status, error)


def test_what_was_at_work_when_a_run_was_cancelled_is_cancelled() -> None:
    simulation = simulated(LOOP % 9)
    log = upto(simulation, e.TaskStarted, 4)
    ended = e.RunCancelled(seq=len(log) + 1, at=log[-1].at)
    assert {row.status for row in rows(simulation, [*log, ended])} == {"cancelled"}


def test_what_was_at_work_where_branches_met_is_cancelled() -> None:
    simulation = drawn(RACE, outcomes=RACED)
    found = {row.step: row for row in rows(simulation)}
    said = [found[step].status for step in ("a", "b", "c", "c2")]
    assert said == ["error", "ok", "ok", "cancelled"]
    joined = simulation.log[(found["c2"].ended_seq or 0) - 1]
    assert isinstance(joined, e.BranchJoined)


def test_a_retry_by_way_of_another_step_says_so() -> None:
    found = [row for row in rows(drawn(REDIRECTED, outcomes={"a": [FAIL, {}]})) if row.step == "a"]
    assert [(row.visit, row.directive, row.to) for row in found] == [
        (1, "retry", "r"),
        (2, "continue", None),
    ]


def test_steps_that_no_author_wrote_are_left_out() -> None:
    simulation = drawn(RESTARTS, outcomes={"b": [FAIL, {}]})
    first = simulation.log[: _restarted(simulation.log)]
    program = simulation.program
    assert {row.step for row in rows(simulation, first)} <= {"s", "a", "b", "x"}
    assert len(program.steps) > 4


def _restarted(log: list[e.Event]) -> int:
    starts = [n for n, event in enumerate(log) if isinstance(event, e.RunRequested)]
    return starts[1]


def test_iterations_are_told_apart() -> None:
    simulation = simulated(LOOP % 3, outcomes={"one": [DOWN, {}, {}, {}]})
    found = rows(simulation)
    assert sorted((row.iteration, row.attempt) for row in found) == [(0, 1), (0, 2), (1, 1), (2, 1)]
    assert len({row.idempotency_key for row in found}) == 3


def test_attempts_that_another_run_made_have_its_key_and_the_rules_of_its_document() -> None:
    simulation = simulated(RETRY, outcomes={"page": [DOWN, {}]})
    log = upto(simulation, e.TaskRetryScheduled)
    at, seq = log[-1].at + 9 * SECOND, len(log)
    place = {"step": "fetch", "visit": 1, "at": at}
    log = [
        *log,
        e.RunPaused(seq=seq + 1, at=at, shared_with="77", decided_by="another", later_by=0),
        e.RunResumed(seq=seq + 2, at=at),
        e.TaskStarted(seq=seq + 3, task="page", attempt=2, task_visit=1, **place),
    ]
    shared, own = rows(simulation, log)
    assert shared.idempotency_key == "77:fetch:1:0:1"
    assert own.idempotency_key == f"{simulation.state.run}:fetch:1:0:1"
    assert shared.rule is not None
    assert (shared.rule.number, shared.rule.line) == (1, None)


def test_an_attempt_says_who_did_not_wait_for_what_was_delayed() -> None:
    first, second = skipped(waiting_to_retry(), after=["s"])
    assert first.skipped == SkipShown(at=moment_text(20 * SECOND), by="ann", early_seconds=40.0)
    assert first.delay is not None
    assert (second.attempt, second.skipped) == (2, None)


def test_an_attempt_that_jumps_says_so_too() -> None:
    world = World(JUMP)
    world.do(Taken(S))
    run = world.state.step_run(S)
    assert run is not None
    world.do(Reported(S, outcome_of({}), run.started_seq))
    first, second = skipped(world, after=["poll"])
    assert first.skipped is not None
    assert (first.directive, first.skipped.early_seconds) == ("jump", 10.0)
    assert second.skipped is None


def test_a_sleep_that_was_ended_says_so_while_it_is_the_last() -> None:
    (nap,) = skipped(asleep())
    assert (nap.task, nap.status) == ("nap", "working")
    assert nap.skipped == SkipShown(at=moment_text(20 * SECOND), by="ann", early_seconds=70.0)


def skipped(world: World, *, after: Sequence[str] = ()) -> list[AttemptShown]:
    """The rows once someone has ended the wait after 20 seconds; then these tasks begin."""
    world.skip(at=20, by="ann")
    if after:
        world.do(Due(S), at=21)
    assert [x.task for x in world.log[-1:] if isinstance(x, e.TaskStarted)] == list(after)
    trace = Trace(world.program)
    trace.feed(world.log)
    return [trace.book.row(attempt) for attempt in trace.book.attempts]


def test_a_large_error_is_cut() -> None:
    error = {"kind": "server_error", "message": "no", "body": "x" * 10 * ATTEMPT_ERROR_BYTES_MAX}
    row, *_ = rows(simulated(RETRY, outcomes={"page": [{"error": error}, {}]}))
    assert row.error is not None
    assert row.error["kind"] == "server_error"
    assert MARK in row.error["body"]


def test_every_execution_of_every_program_is_in_the_table_once() -> None:
    for played in corpus()[::5]:
        simulation = played.simulation
        if sum(isinstance(event, e.RunRequested) for event in simulation.log) > 1:
            continue
        started = [x.seq for x in simulation.log if isinstance(x, e.TaskStarted)]
        processed = [x for x in simulation.log if isinstance(x, e.TaskProcessed)]
        found = rows(simulation)
        restarts = {
            step.name
            for step in simulation.program.steps.values()
            if any(task.kind == "restart" for task in step.tasks)
        }
        assert [row.seq for row in found] == [
            seq for seq in started if simulation.log[seq - 1].step not in restarts
        ], played.name
        ended = {row.ended_seq: row.status for row in found}
        for event in processed:
            if event.step not in restarts:
                assert ended[event.seq] == event.outcome.status, played.name
        if simulation.state.is_final:
            assert "working" not in ended.values(), played.name
