"""Which running runs fit a new version of their program."""

import asyncio

from anew.engine.state import RunStatus
from anew.runtime import program_moves
from anew.runtime.forks import ForkRequest
from anew.runtime.program_moves import moves_to
from tests.runtime.test_forks import ASKED, in_a_world

OTHER = ASKED.replace("step: ask", "step: approve")


async def asked(world, times=1):
    runs = [await world.start(ASKED) for _ in range(times)]
    for run in runs:
        await asyncio.wait_for(world.engine.people.until_blocked(run), 20)
    return runs


async def moves(world, text):
    return await moves_to(world.engine.database, world.engine.programs, world.document(text))


def test_runs_that_fit_are_named_newest_first_and_can_be_moved(tmp_path):
    async def work(world):
        runs = await asked(world, 2)
        ended = (await asked(world))[0]
        await world.engine.cancel(ended)
        changed = ASKED.replace("echo after", "echo later")
        found = await moves(world, changed)
        assert (found.movable, found.stuck) == ([str(run) for run in reversed(runs)], [])
        order = ForkRequest(runs[0], document=world.document(changed), cancels=True)
        new = (await world.engine.fork(order)).run
        assert await world.ended(new) is RunStatus.DONE
        assert (await moves(world, changed)).movable == [str(runs[1])]

    in_a_world(work, tmp_path)


def test_a_run_of_this_very_version_is_not_told_of(tmp_path):
    async def work(world):
        await asked(world)
        found = await moves(world, ASKED)
        assert (found.movable, found.stuck) == ([], [])

    in_a_world(work, tmp_path)


def test_a_run_that_does_not_fit_is_told_with_the_reason_and_its_place(tmp_path):
    async def work(world):
        (run,) = await asked(world)
        found = await moves(world, OTHER.replace("[{step: ask}]", "[{step: approve}]"))
        (stuck,) = found.stuck
        assert (stuck.run, found.movable) == (str(run), [])
        (reason,) = stuck.reasons
        assert reason["message"] == "it is in step 'ask', which is not there"
        assert (reason["step"], reason["line"]) == ("ask", 2)

    in_a_world(work, tmp_path)


def test_only_so_many_runs_are_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(program_moves, "RUNS_LOOKED_AT_MAX", 2)

    async def work(world):
        runs = await asked(world, 3)
        found = await moves(world, ASKED.replace("echo after", "echo later"))
        assert found.movable == [str(run) for run in reversed(runs[1:])]
        assert found.has_more

    in_a_world(work, tmp_path)


def test_a_child_is_moved_with_its_parent_and_not_by_itself(tmp_path):
    (tmp_path / "child.yaml").write_text(ASKED)
    parent = """
metadata: {name: parent}
workflow:
  - step: child
    tool: {kind: playbook, file: child.yaml, args: {out: "{{ workload.out }}"}}
"""

    async def work(world):
        run = await world.start(parent)
        await asyncio.wait_for(world.engine.people.until_blocked(run), 20)
        found = await moves(world, ASKED.replace("echo after", "echo later"))
        (stuck,) = found.stuck
        assert stuck.reasons[0]["message"] == f"run {run} waits for it: move that one"
        assert (await moves(world, parent + "  - {step: more, tool: {kind: noop}}\n")).movable

    in_a_world(work, tmp_path)
