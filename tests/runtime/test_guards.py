"""Guards in real time, among engines that share a database: nobody ever admits too many."""

import asyncio

import pytest

from anew.engine import events as e
from anew.engine.state import RunStatus
from tests.guards.auditing import most_at_once, most_within
from tests.postgres_server import a_database  # noqa: F401
from tests.runtime.test_control import _gate_is_a_kind  # noqa: F401
from tests.runtime.test_coordination import die, places, together  # noqa: F401

LOOP = """
executor: {spec: {dependencies: {api: %s}}}
workflow:
  - step: each
    loop: {in: "{{ range(8) | list }}", iterator: n, spec: {mode: parallel}}
    tool:
      - call: {kind: noop, spec: {dependency: "api/{{ iter.n %% 2 }}"}}
"""
GATED = """
executor: {spec: {dependencies: {api: {concurrency: 1}}}}
workflow:
  - step: start
    tool: {kind: gate, spec: {dependency: api}}
"""
SETTINGS = {"slots": 8}


async def ended(worlds, runs):
    logs = []
    for number, run in enumerate(runs):
        world = worlds[number % len(worlds)]
        state = await asyncio.wait_for(world.engine.wait(run), 60)
        assert state.status is RunStatus.DONE
        logs.append(await world.log(run))
    return logs


def test_calls_at_the_same_time_are_counted_over_all_runs_and_engines(places, tmp_path):  # noqa: F811
    async def work(*worlds):
        runs = [await worlds[n % 2].start(LOOP % "{concurrency: 3}") for n in range(6)]
        logs = await ended(worlds, runs)
        names = ("api/0", "api/1")
        assert sum(most_at_once(logs, name) for name in names) >= 1
        both = [[_named(event, "api") for event in log] for log in logs]
        assert most_at_once(both, "api") <= 3
        assert any(isinstance(event, e.TaskHeld) for log in logs for event in log)

    together(work, places, tmp_path, SETTINGS, SETTINGS)


def test_a_rate_holds_over_all_runs_and_engines(places, tmp_path):  # noqa: F811
    async def work(*worlds):
        text = LOOP % "{rate: {count: 6, per: 300ms}}"
        runs = [await worlds[n % 2].start(text) for n in range(3)]
        logs = await ended(worlds, runs)
        both = [[_named(event, "api") for event in log] for log in logs]
        assert most_within(both, "api", seconds=0.3) <= 6

    together(work, places, tmp_path, SETTINGS, SETTINGS)


def _named(event, name):
    if isinstance(event, e.TaskStarted) and event.dependency:
        return e.TaskStarted(
            step=event.step,
            visit=event.visit,
            iteration=event.iteration,
            at=event.at,
            task_visit=event.task_visit,
            dependency=name,
        )
    return event


def test_the_place_of_a_call_whose_worker_died_goes_to_the_next(places, tmp_path):  # noqa: F811
    async def work(dead, heir):
        first = await dead.start(GATED)
        await dead.entered()
        second = await heir.start(GATED)
        while not any(isinstance(one, e.TaskHeld) for one in await heir.log(second)):
            await asyncio.sleep(0.01)
        die(dead)
        for _ in range(2):
            await asyncio.wait_for(heir.entered(), 30)
            heir.gate.answers.put_nowait({})
        logs = await ended([heir], [first, second])
        assert most_at_once(logs, "api") == 1

    together(work, places, tmp_path, SETTINGS, SETTINGS)


def test_a_run_that_is_cancelled_leaves_its_place(places, tmp_path):  # noqa: F811
    async def work(one):
        first, second = await one.start(GATED), await one.start(GATED)
        await one.entered()
        await one.engine.cancel(first)
        await asyncio.wait_for(one.entered(), 30)
        one.gate.answers.put_nowait({})
        await ended([one], [second])

    together(work, places, tmp_path, SETTINGS)


@pytest.mark.parametrize("limit", ["{concurrency: 1}"])
def test_a_task_without_a_dependency_asks_no_guard(places, tmp_path, limit):  # noqa: F811
    async def work(one):
        text = LOOP % limit
        run = await one.start(text.replace(', spec: {dependency: "api/{{ iter.n % 2 }}"}', ""))
        [log] = await ended([one], [run])
        started = [event for event in log if isinstance(event, e.TaskStarted)]
        assert all(event.dependency is None for event in started)
        assert await one.engine.database.guards.listed() == []

    together(work, places, tmp_path, SETTINGS)
