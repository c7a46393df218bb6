"""Lanes: what each step was at, moment by moment, in a bounded form."""

from __future__ import annotations

import pytest

from anew.engine import events as e
from anew.views import lanes as view
from anew.views.lanes import lanes_of
from anew.views.slices import SLICES, Density
from tests.play import simulated
from tests.views.recorded import BUSY, DOWN, LOOP, RETRY, SECOND, upto


def bars(lane, start: int) -> list[tuple[str, float, float]]:
    return [
        (bar.kind.value, (bar.begin - start) / SECOND, (bar.end - start) / SECOND)
        for bar in lane.bars
    ]


def test_attempts_and_the_waits_between_them_follow_each_other() -> None:
    outcomes = [{**DOWN, "takes": 0.5}, {**BUSY, "takes": 1}, {"result": 1, "takes": 2}]
    run = simulated(RETRY, outcomes={"page": outcomes})
    drawn = lanes_of(run.program, run.log, now=run.log[-1].at)
    assert [lane.step for lane in drawn.lanes] == ["fetch", "store"]
    assert bars(drawn.lanes[0], drawn.begin) == [
        ("error", 0, 0.5),
        ("retry", 0.5, 2.5),
        ("error", 2.5, 3.5),
        ("retry_after", 3.5, 63.5),
        ("ok", 63.5, 65.5),
    ]
    assert [bar.attempt for bar in drawn.lanes[0].bars if bar.kind in view.EXECUTIONS] == [1, 2, 3]


def test_what_is_still_going_on_reaches_to_now() -> None:
    run = simulated(RETRY, outcomes={"page": [{"result": 1, "takes": 9}]})
    log = upto(run, e.TaskStarted)
    drawn = lanes_of(run.program, log, now=log[-1].at + 3 * SECOND)
    (bar,) = drawn.lanes[0].bars
    assert (bar.kind.value, bar.end, bar.is_open) == ("working", log[-1].at + 3 * SECOND, True)


def test_a_finished_run_does_not_grow() -> None:
    run = simulated(RETRY)
    assert lanes_of(run.program, run.log, now=run.log[-1].at + 99 * SECOND).end == run.log[-1].at


def test_a_lost_worker_leaves_a_bar_of_its_own() -> None:
    run = simulated(RETRY)
    log = upto(run, e.TaskStarted)
    at = log[-1].at + SECOND
    log = [*log, e.StepRedelivered(seq=len(log) + 1, at=at, step="fetch", visit=1, delivery=2)]
    drawn = lanes_of(run.program, log, now=at + SECOND)
    assert bars(drawn.lanes[0], drawn.begin) == [("lost", 0, 1), ("queue", 1, 2)]


def test_a_cancelled_run_ends_every_bar() -> None:
    run = simulated(RETRY)
    log = upto(run, e.TaskStarted)
    at = log[-1].at + SECOND
    log = [*log, e.RunCancelled(seq=len(log) + 1, at=at)]
    drawn = lanes_of(run.program, log, now=at + 9 * SECOND)
    assert bars(drawn.lanes[0], drawn.begin) == [("lost", 0, 1)]
    assert not drawn.lanes[0].bars[0].is_open


def test_a_sleep_and_a_poll_are_waits_of_their_own_kind() -> None:
    document = """
workflow:
  - step: poll
    tool:
      - nap: {kind: sleep, seconds: 2}
      - ask:
          kind: noop
          spec:
            policy:
              rules:
                - when: "{{ not outcome.result.ready }}"
                  then: {do: jump, to: ask, delay: 3}
"""
    ready = [{"result": {"ready": False}}, {"result": {"ready": True}}]
    outcomes = {"nap": [{"result": {}, "takes": 2}], "ask": ready}
    run = simulated(document, outcomes=outcomes)
    drawn = lanes_of(run.program, run.log, now=run.log[-1].at)
    assert bars(drawn.lanes[0], drawn.begin) == [
        ("sleep", 0, 2),
        ("ok", 2, 2),
        ("poll", 2, 5),
        ("ok", 5, 5),
    ]


def test_a_loop_is_one_bounded_lane_with_its_counts() -> None:
    run = simulated(LOOP % 300, outcomes={"one": [{"result": 1, "takes": 1}]})
    (lane,) = lanes_of(run.program, run.log, now=run.log[-1].at).lanes
    assert lane.bars == ()
    assert (lane.total, lane.done, lane.failed) == (300, 300, 0)
    assert lane.density is not None
    work = lane.density.work()
    assert len(work) == SLICES
    assert max(work) == pytest.approx(4.0)
    assert sum(work) * lane.density.width / SECOND == pytest.approx(300)


def test_a_step_with_more_bars_than_can_be_told_apart_is_bounded_too(monkeypatch) -> None:
    monkeypatch.setattr(view, "LANE_BARS_MAX", 3)
    run = simulated(RETRY, outcomes={"page": [{**DOWN, "takes": 1}]})
    (lane,) = lanes_of(run.program, run.log, now=run.log[-1].at).lanes
    assert lane.bars == ()
    assert lane.density is not None
    assert sum(lane.density.errors) == 4


def test_an_empty_log_has_no_lanes() -> None:
    assert lanes_of(None, [], now=5).lanes == ()


def test_density_counts_parts_of_slices() -> None:
    density = Density.over(0, SLICES * 10)
    density.add(5, 30, is_work=True)
    density.add(12, 14, is_work=True)
    density.add(0, SLICES * 10, is_work=False)
    assert density.work()[:4] == [0.5, 1.2, 1.0, 0.0]
    assert density.wait() == [1.0] * SLICES
