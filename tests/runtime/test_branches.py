"""Branches that are not needed any more: their calls, their jobs and their children are stopped."""

import asyncio
import os
import select

import pytest

from anew.engine import events as e
from anew.engine.state import RunStatus
from anew.store import RunFilter
from anew.stores.memory import MemoryDatabase
from tests.runtime.hold import until_ended
from tests.runtime.test_control import (  # noqa: F401
    _gate_is_a_kind,
    _kill,
    _soon,
    _until,
    in_a_world,
)

RACE = """
workflow:
  - step: start
    tool: {kind: noop}
    next: {spec: {mode: fork, join: meet}, arcs: [{step: slow}, {step: quick}]}
  - step: slow
    tool: SLOW
    next: [{step: meet}]
  - step: quick
    tool: QUICK
    next: [{step: meet}]
  - step: meet
    spec: {join: first_success}
    tool: {kind: noop, result: "{{ args.join.winner }}"}
"""
WINNER = 'tool: {kind: noop, result: "{{ args.join.winner }}"}'
CHILD = "workflow: [{step: c, tool: {kind: gate}}]"


def race(slow, quick="{kind: gate}"):
    return RACE.replace("SLOW", slow).replace("QUICK", quick)


def is_gone(process):
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    ready, _, _ = select.select([handle], [], [], 20)
    os.close(handle)
    return bool(ready)


def test_the_command_of_a_losing_branch_is_killed_and_nobody_reports_for_it(tmp_path):
    bell = tmp_path / "bell"
    os.mkfifo(bell)
    slow = f'{{kind: shell, command: "echo $$ > {bell}; exec sleep 600"}}'

    async def work(world):
        run = await world.start(race(slow))
        process = int(await asyncio.to_thread(bell.read_text))
        world.gate.answers.put_nowait({})
        assert (await world.ended(run)).last_result == "quick"
        assert await asyncio.to_thread(is_gone, process)
        log = await world.log(run)
        assert {x.step for x in log if isinstance(x, e.TaskProcessed)} == {
            "start",
            "quick",
            "meet",
        }
        [joined] = [x for x in log if isinstance(x, e.BranchJoined)]
        assert joined.cancelled == ["slow"]

    in_a_world(work, tmp_path)


def test_a_losing_branch_that_waits_for_a_retry_leaves_no_job(tmp_path):
    slow = (
        '{kind: shell, command: "false", spec: {policy: {rules: '
        "[{else: {then: {do: retry, attempts: 9, delay: 600}}}]}}}"
    )

    async def work(world):
        run = await world.start(race(slow))
        await _until(world, run, "task.retry_scheduled")
        world.gate.answers.put_nowait({})
        assert (await world.ended(run)).last_result == "quick"
        assert await world.database.archive.jobs(run) == []

    in_a_world(work, tmp_path)


def test_a_question_in_a_losing_branch_is_closed(tmp_path):
    slow = '{kind: human, question: "Well?", choices: [Yes, No]}'
    text = race(slow).replace(WINNER, "tool: {kind: gate}")

    async def work(world):
        run = await world.start(text)
        await _until(world, run, "human.waiting")
        world.gate.answers.put_nowait({})
        await _until(world, run, "branch.joined")
        await _soon(lambda: len(world.gate.calls) == 2)
        assert [job.job.key.step for job in await world.database.archive.jobs(run)] == ["meet"]
        with pytest.raises(Exception, match="no open question"):
            await world.engine.people.answer(run, "yes")
        world.gate.answers.put_nowait({})
        await world.ended(run)

    in_a_world(work, tmp_path)


def test_a_branch_that_ends_in_the_turn_that_began_it_stops_what_that_turn_took_over(tmp_path):
    text = race("{kind: gate}", "{kind: relay}")
    text = text.replace(WINNER, "tool: {kind: gate}")

    async def work(world):
        run = await world.start(text)
        await world.entered()
        assert [job.job.key.step for job in await world.database.archive.jobs(run)] == ["meet"]
        await _soon(lambda: world.engine.worker._slots.taken == 1)
        world.gate.answers.put_nowait({})
        assert (await world.ended(run)).status is RunStatus.DONE
        assert [call.place.step for call in world.gate.calls] == ["meet"]

    in_a_world(work, tmp_path)


@pytest.mark.parametrize("slots", [2, 32])
def test_slots_are_free_again_whatever_was_stopped(tmp_path, slots):
    async def work(world):
        run = await world.start(race('{kind: shell, command: "exec sleep 600"}', "{kind: noop}"))
        await world.ended(run)
        await _soon(lambda: world.engine.worker._slots.taken == 0)

    in_a_world(work, tmp_path, slots=slots)


def test_the_child_of_a_losing_branch_is_cancelled(tmp_path):
    (tmp_path / "child.yaml").write_text(CHILD)
    quick = '{kind: shell, command: "read word < go"}'
    os.mkfifo(tmp_path / "go")

    async def work(world):
        run = await world.start(race("{kind: playbook, file: child.yaml}", quick))
        await world.entered()
        await asyncio.to_thread((tmp_path / "go").write_text, "now\n")
        await world.ended(run)
        [child] = await world.database.archive.runs(RunFilter(parent=run))
        await until_ended(world, child.run, RunStatus.CANCELLED)
        await _soon(lambda: world.gate.cancelled)

    in_a_world(work, tmp_path)


def test_a_child_whose_branch_ended_in_a_process_that_died_is_cancelled_by_the_next(tmp_path):
    (tmp_path / "child.yaml").write_text(CHILD)
    os.mkfifo(tmp_path / "go")
    text = race("{kind: playbook, file: child.yaml}", '{kind: shell, command: "read word < go"}')
    text = text.replace(WINNER, "tool: {kind: gate}")
    database = MemoryDatabase()

    async def die(world):
        world.engine._children._cancel_children = no_time_for_that
        run = await world.start(text)
        await world.entered()
        await asyncio.to_thread((tmp_path / "go").write_text, "now\n")
        await _soon(lambda: len(world.gate.calls) == 2)
        _kill(world)
        return run

    async def go_on(world):
        await world.engine.adopt([run])
        [child] = await database.archive.runs(RunFilter(parent=run))
        assert child.status is RunStatus.CANCELLED
        await world.entered()
        world.gate.answers.put_nowait({})
        await world.ended(run)
        assert [call.place.step for call in world.gate.calls] == ["meet"]

    run = in_a_world(die, tmp_path, database=database)
    in_a_world(go_on, tmp_path, database=database)


async def no_time_for_that(*_):
    pass


def test_an_open_fork_can_be_paused_resumed_cancelled_and_retried(tmp_path):
    async def work(world):
        run = await world.start(race("{kind: gate}"))
        await _soon(lambda: len(world.gate.calls) == 2)
        await world.engine.pause(run)
        world.gate.answers.put_nowait({})
        await _until(world, run, "task.processed", times=2)
        assert "branch.joined" not in await world.names(run)
        await world.engine.resume(run)
        await world.ended(run)
        again = (await world.engine.retry(run, "meet")).run
        assert (await world.ended(again)).last_result in ("slow", "quick")
        third = await world.start(race("{kind: gate}"))
        await _soon(lambda: len(world.gate.calls) == 4)
        await world.engine.cancel(third)
        assert await world.database.archive.jobs(third) == []

    in_a_world(work, tmp_path)
