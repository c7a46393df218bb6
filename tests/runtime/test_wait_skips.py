"""Waits that someone ends: what starts then, in which process, and after which deaths."""

import asyncio

import pytest

from anew.credentials import Credential
from anew.engine import events as e
from anew.engine.outcome import outcome_of
from anew.engine.state import RunStatus
from anew.errors import ConfigError
from anew.runtime.command_executor import execute
from anew.runtime.commands import SkipWaits
from anew.stores.memory import MemoryDatabase
from tests.postgres_server import Database, a_database  # noqa: F401
from tests.runtime.test_control import (
    World,
    _gate_is_a_kind,  # noqa: F401
    _kill,
    _until,
    _until_jobs,
)
from tests.runtime.test_coordination import FOREVER_SECONDS, places, together  # noqa: F401
from tests.virtual import VirtualClock

RETRY = """
workflow:
  - step: fetch
    tool:
      kind: gate
      spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 9, delay: 3600}}]}}
"""
NAP = """
workflow:
  - step: nap
    tool: {kind: sleep, seconds: 86400}
    next: [{step: after}]
  - step: after
    tool: {kind: noop, result: "{{ nap.slept }}"}
"""
NAPS = """
workflow:
  - step: each
    loop: {in: "{{ range(5) | list }}", iterator: n, spec: {mode: parallel, max_in_flight: 5}}
    tool: {kind: sleep, seconds: 86400}
"""
SHORT = """
workflow:
  - step: fetch
    tool:
      kind: gate
      spec: {policy: {rules: [{when: "{{ outcome.status == 'error' }}", then: {do: retry, attempts: 9, delay: 0.9}}]}}
"""


def in_still_time(work, folder):
    """Have `work` where no time passes: what starts was not waited for."""

    async def play():
        clock = VirtualClock()
        world = World(folder, MemoryDatabase(), clock=clock)
        try:
            await work(world, clock)
        finally:
            await world.engine.stop(0)

    asyncio.run(play())


async def parked(world, run, reason, count=1):
    return await _until_jobs(
        world,
        run,
        lambda jobs: (
            len(jobs) == count
            and all(job.reason == reason and job.leased_until is None for job in jobs)
        ),
    )


async def failed_once(world, document=RETRY):
    run = await world.start(document)
    await world.entered()
    world.gate.answers.put_nowait(outcome_of(error="down"))
    await _until(world, run, "task.retry_scheduled")
    return run


def skips(log):
    return [event for event in log if isinstance(event, e.WaitSkipped)]


def test_the_next_attempt_starts_at_once(tmp_path):
    async def work(world, clock):
        run = await failed_once(world)
        await parked(world, run, "retry")
        assert len(await world.engine.waits.skip(run, by="ann")) == 1
        await world.entered()
        assert world.gate.calls[1].place.attempt == 2
        assert clock.now() == 0
        world.gate.answers.put_nowait({"fine": 1})
        assert (await world.ended(run)).last_result == {"fine": 1}
        (skipped,) = skips(await world.log(run))
        assert (skipped.by, skipped.attempt) == ("ann", 1)

    in_still_time(work, tmp_path)


def test_a_sleep_ends_at_once_and_says_how_long_it_was(tmp_path):
    async def work(world, clock):
        run = await world.start(NAP)
        await parked(world, run, "sleep")
        clock._now = 7_500_000_000
        assert len(await world.engine.waits.skip(run)) == 1
        assert (await world.ended(run)).last_result == 7.5
        assert "step.redelivered" not in await world.names(run)

    in_still_time(work, tmp_path)


def test_a_sleep_that_was_ended_stays_so_when_its_owner_dies_then(tmp_path):
    async def play():
        database = MemoryDatabase()
        world = World(tmp_path, database, clock=VirtualClock())
        run = await world.start(NAP)
        await parked(world, run, "sleep")
        _kill(world)
        keeper = World(tmp_path, database, clock=VirtualClock(5_000_000_000))
        assert (
            len(await keeper.engine.waits.skip(run)) == 1
        )  # it works on no run that it was not told of
        _kill(keeper)
        world = World(tmp_path, database, clock=VirtualClock(900_000_000_000))
        await world.engine.adopt([run])
        assert (await world.ended(run)).last_result == 5.0
        await world.engine.stop(0)

    asyncio.run(play())


def test_a_skip_that_comes_before_the_sleep_is_put_aside_is_not_lost(tmp_path):
    async def work(world, clock):
        clock._now = 3_000_000_000
        park, skipped = world.engine.ledger.park, []

        async def late(lease, how):
            if not skipped:
                skipped.append(len(await world.engine.waits.skip(lease.job.run)))
            await park(lease, how)

        world.engine.ledger.park = late
        run = await world.start(NAP)
        assert (await world.ended(run)).last_result == 0.0
        assert skipped == [1]

    in_still_time(work, tmp_path)


def test_a_wait_that_is_slept_in_place_goes_on_to_its_end(tmp_path):
    async def work(world, clock):
        run = await failed_once(world, SHORT)
        assert len(await world.engine.waits.skip(run)) == 1
        while not clock._sleepers:
            await asyncio.sleep(0)
        clock._jump()
        await world.entered()
        assert world.gate.calls[1].place.attempt == 2
        world.gate.answers.put_nowait({})
        assert (await world.ended(run)).status is RunStatus.DONE

    in_still_time(work, tmp_path)


def test_only_what_is_meant_is_skipped_and_only_once(tmp_path):
    async def work(world, _):
        run = await world.start(NAPS)
        await parked(world, run, "sleep", 5)

        async def skip(*of, **more):
            return len(await world.engine.waits.skip(*of, **more))

        assert await skip(run, "each", visit=2) == 0
        assert await skip(run, "each", visit=1, iteration=3) == 1
        assert await skip(run, "each", iteration=3) == 0
        assert await skip(run) == 4
        assert await skip(run) == 0
        await world.ended(run)
        assert [event.iteration for event in skips(await world.log(run))] == [3, 0, 1, 2, 4]
        assert await skip(run) == 0

    in_still_time(work, tmp_path)


def test_many_waits_are_ended_in_commits_of_bounded_size(tmp_path, monkeypatch):
    monkeypatch.setattr("anew.runtime.wait_skips.TURN_EVENTS_MAX", 2)

    async def work(world, _):
        run = await world.start(NAPS)
        await parked(world, run, "sleep", 5)
        told = []
        world.engine.listen(lambda _, events: told.append(len(skips(events))))
        assert len(await world.engine.waits.skip(run)) == 5
        assert [count for count in told if count] == [2, 2, 1]
        await world.ended(run)

    in_still_time(work, tmp_path)


def test_in_a_pause_the_attempt_waits_for_the_resume(tmp_path):
    async def work(world, _):
        run = await failed_once(world)
        await parked(world, run, "retry")
        await world.engine.pause(run)
        assert len(await world.engine.waits.skip(run)) == 1
        assert len(world.gate.calls) == 1
        await world.engine.resume(run)
        await world.entered()
        world.gate.answers.put_nowait({})
        await world.ended(run)
        names = await world.names(run)
        begins = names.index("run.paused")
        assert names[begins : begins + 4] == [
            "run.paused",
            "wait.skipped",
            "run.resumed",
            "task.started",
        ]

    in_still_time(work, tmp_path)


def test_what_cannot_be_meant_is_refused(tmp_path):
    async def work(world, _):
        run = await world.start(NAP)
        with pytest.raises(ConfigError, match=r"has no step 'nab'\. Did you mean 'nap'"):
            await world.engine.waits.skip(run, "nab")
        with pytest.raises(ConfigError, match="name the step, too"):
            await world.engine.waits.skip(run, visit=1)
        with pytest.raises(ConfigError, match="there is no run 5"):
            await world.engine.waits.skip(5)

    in_still_time(work, tmp_path)


def test_a_secret_in_a_name_stays_out_of_the_log(tmp_path):
    secret = "hunter2-is-long-enough"

    async def work(world, _):
        world.engine.keychain.redactor.learn(Credential("vault", "token", {"token": secret}))
        run = await world.start(NAP)
        await parked(world, run, "sleep")
        assert len(await world.engine.waits.skip(run, by=f"ann {secret}")) == 1
        await world.ended(run)
        (skipped,) = skips(await world.log(run))
        assert skipped.by == "ann [redacted]"

    in_still_time(work, tmp_path)


def test_an_order_tells_what_was_ended(tmp_path):
    async def work(world, _):
        run = await failed_once(world)
        await parked(world, run, "retry")
        said = await execute(world.engine, SkipWaits(run=str(run), step="fetch", by="ann"))
        row = {"step": "fetch", "visit": 1, "iteration": None, "task": "fetch", "attempt": 1}
        assert said == {
            "run": str(run),
            "status": "running",
            "skipped": [{**row, "waited_for": "retry"}],
        }

    in_still_time(work, tmp_path)


def test_another_process_ends_the_wait_and_the_worker_goes_on(places, tmp_path):  # noqa: F811
    async def work(server, worker):
        run = await server.start(RETRY)
        await worker.entered()
        worker.gate.answers.put_nowait(outcome_of(error="down"))
        await parked(server, run, "retry")
        assert len(await server.engine.waits.skip(run, by="ann")) == 1
        await worker.entered()
        assert worker.gate.calls[1].place.attempt == 2
        worker.gate.answers.put_nowait({"fine": 1})
        assert (await server.ended(run)).last_result == {"fine": 1}
        nap = await server.start(NAP)
        await parked(server, nap, "sleep")
        engines = (server.engine, worker.engine, server.engine)
        ended = await asyncio.gather(*(one.waits.skip(nap) for one in engines))
        assert sum(map(len, ended)) == 1
        assert (await server.ended(nap)).last_result < 60

    lasting = {"lease_seconds": FOREVER_SECONDS}
    together(work, places, tmp_path, {"slots": 0, **lasting}, lasting)
