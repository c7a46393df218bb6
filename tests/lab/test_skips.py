"""What the lab makes of a run in which someone ended a wait."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anew.engine import events as e
from anew.engine.boundaries import Due, Reported, Skipped
from anew.engine.events.words import SkippedWait
from anew.engine.moments import NANOSECONDS
from anew.engine.outcome import outcome_of
from anew.lab.faults.audit import Evidence, audit
from anew.lab.faults.ledger import DecidedTurn, FaultLedger
from anew.lab.log_world import world_of_log
from anew.lab.recording.recorder import record
from anew.lab.replay.log_turns import happened, recorded_turns
from anew.lab.whatif import PastRun, whatif
from tests.engine.test_waits import S, World, asleep, waiting_to_retry


def skipped_retry() -> World:
    """Attempt 1 fails at 0 and is to be repeated at 60; at 20 someone wants it now."""
    world = waiting_to_retry()
    world.skip(at=20, by="ann")
    world.do(Due(S), at=21)
    report(world, at=22)
    assert world.state.is_final
    return world


def skipped_sleep() -> World:
    world = asleep()
    world.skip(at=20)
    report(world, {"slept": 20.0}, at=20)
    report(world, at=21)
    assert world.state.is_final
    return world


def report(world: World, result: object = None, *, at: float) -> None:
    run = world.state.step_run(S)
    assert run is not None
    world.do(Reported(S, outcome_of(result or {}), run.started_seq), at=at)


def test_a_scenario_cannot_say_that_a_delay_was_skipped_and_decides_alike() -> None:
    world = skipped_retry()
    recorded = record(world.program, [world.log])
    assert recorded.is_true
    assert "a wait of s was skipped, which a scenario cannot say: there it lasts" in recorded.notes


def test_a_sleep_that_was_ended_is_recorded_as_long_as_it_was() -> None:
    world = skipped_sleep()
    recorded = record(world.program, [world.log])
    assert (recorded.is_true, recorded.notes) == (True, ())
    (nap,) = recorded.scenario["outcomes"]["nap"]
    assert nap == {"result": {"slept": 20.0}, "takes": 20}


def test_a_worker_is_needed_from_the_skip_on() -> None:
    world = skipped_retry()
    assert world_of_log(world.program, world.log).lags.came[S][-1] == NANOSECONDS


@pytest.mark.parametrize("make", [skipped_retry, skipped_sleep])
def test_the_same_policy_on_such_a_run_comes_to_the_same_end(make: Callable[[], World]) -> None:
    world = make()
    answer = whatif([PastRun("1", world.program, world.log)], world.program)
    (row,) = answer.report()["each"]
    assert (row["was"], row["becomes"], row["certain"]) == ("done", "done", True)


def test_waits_that_were_ended_together_are_told_one_by_one() -> None:
    world = skipped_retry()
    boundaries = [turn.boundary for turn in recorded_turns(world.log)]
    assert Skipped((S,), "ann") in boundaries
    other = e.WaitSkipped(step="s", visit=7, waited_for=SkippedWait.RETRY)
    assert happened(world.state, other) is None


def test_what_starts_after_a_skip_is_not_early() -> None:
    world = skipped_retry()
    turns = [DecidedTurn(n, n + 1, one.at, one.at, None) for n, one in enumerate(world.log)]
    assert "not-early" not in broken(world, world.log, turns)
    (gone,) = [n for n, one in enumerate(world.log) if isinstance(one, e.WaitSkipped)]
    log = world.log[:gone] + world.log[gone + 1 :]
    assert "not-early" in broken(world, log, turns[:gone] + turns[gone + 1 :])


def broken(world: World, log: list[e.Event], turns: list[DecidedTurn]) -> set[str]:
    found = audit(Evidence(world.program, log, FaultLedger(turns=turns), None))
    return {one.invariant for one in found}
