"""A wait that someone ended, as every view shows it."""

from __future__ import annotations

from anew.engine import events as e
from anew.engine.boundaries import Due, Taken
from anew.engine.moments import NANOSECONDS
from anew.engine.statuses import SKIPPABLE, ActivityKind, BarKind
from anew.views.activities import activity_verdict
from anew.views.explain.explaining import explanation
from anew.views.lanes import lanes_of
from anew.views.progress import progress_of
from tests.engine.test_waits import SLEEP, S, World, asleep, waiting_to_retry


def skipped_retry(*, by: str | None = "ann") -> World:
    world = waiting_to_retry()
    world.skip(at=20, by=by)
    return world


def bars(world: World, now: float) -> list[tuple[str, float, float]]:
    lanes = lanes_of(world.program, world.log, now=int(now * NANOSECONDS))
    (lane,) = lanes.lanes
    return [(bar.kind.value, bar.begin / NANOSECONDS, bar.end / NANOSECONDS) for bar in lane.bars]


def test_who_ended_a_wait_is_told_until_a_worker_has_it() -> None:
    world = skipped_retry()
    (activity,) = progress_of(world.log, world.program).activities()
    assert (activity.doing, activity.until) == (ActivityKind.QUEUED, None)
    told = activity_verdict(world.program, activity, ()).sentence(21 * NANOSECONDS)
    assert told == "s is ready, waiting for a worker for 1 s: wait skipped by ann, 40 s early"
    world.do(Due(S), at=22)
    (activity,) = progress_of(world.log, world.program).activities()
    assert (activity.doing, activity.attempt, activity.skipped) == (ActivityKind.WORKING, 2, "")


def test_what_can_be_skipped_is_what_waits_for_a_moment() -> None:
    for world in (waiting_to_retry(), asleep()):
        (activity,) = progress_of(world.log, world.program).activities()
        assert activity.doing in SKIPPABLE
        assert activity.until is not None
    assert ActivityKind.PERSON not in SKIPPABLE


def test_the_end_of_a_sleep_is_known_however_it_is_written() -> None:
    world = asleep(SLEEP.replace("seconds: 90", "seconds: 2m"))
    (activity,) = progress_of(world.log, world.program).activities()
    assert activity.until == 120 * NANOSECONDS


def test_a_lane_shows_the_wait_as_long_as_it_was() -> None:
    world = skipped_retry()
    world.do(Due(S), at=22)
    assert bars(world, now=25)[-3:] == [
        (BarKind.RETRY.value, 0, 20),
        (BarKind.QUEUE.value, 20, 22),
        (BarKind.WORKING.value, 22, 25),
    ]
    nap = asleep()
    nap.skip(at=5)
    assert bars(nap, now=6) == [("sleep", 0, 5), ("queue", 5, 6)]


def sentences(world: World) -> str:
    told = explanation(world.log, world.program, now=world.log[-1].at)
    return " ".join(sentence for one in told for sentence in one.sentences)


def test_an_explanation_tells_who_ended_the_wait() -> None:
    world = skipped_retry()
    world.do(Due(S), at=20)
    assert "Wait skipped: retry · 40.0 s early · ann." in sentences(world)
    assert "Wait skipped: retry · 40.0 s early." in sentences(skipped_retry(by=None))
    nap = asleep()
    nap.skip(at=5, by="bob")
    assert "Wait skipped: sleep · 85.0 s early · bob." in sentences(nap)


def test_a_log_that_does_not_tell_the_end_says_no_more_than_it_knows() -> None:
    world = World("workflow: [{step: s, tool: {kind: sleep, until: nonsense}}]")
    world.do(Taken(S))
    (skipped,) = world.skip()
    assert isinstance(skipped, e.WaitSkipped)
    assert skipped.not_before is None
    (activity,) = progress_of(world.log, world.program).activities()
    assert activity.skipped == "wait skipped"
