"""Runs that are tasks of other runs."""

import pytest

from anew.engine.outcome import outcome_of
from anew.engine.state import RunStatus
from anew.store import RunFilter
from tests.runtime.test_control import _gate_is_a_kind, _soon, in_a_world  # noqa: F401

PARENT = """
metadata: {name: parent}
workflow:
  - step: call
    tool: {kind: playbook, file: child.yaml, args: {x: 21}}
    next: [{step: use}]
  - step: use
    tool: {kind: noop, result: "{{ call.y }}"}
"""
CHILD = """
metadata: {name: child}
workload: {x: 0}
workflow:
  - step: work
    tool: {kind: gate}
    next: [{step: answer}]
  - step: answer
    tool: {kind: noop, result: {y: "{{ workload.x * 2 }}"}}
"""

SHORT_CHILD = """
metadata: {name: child, path: below/child.yaml}
workflow:
  - step: answer
    tool: {kind: noop, result: {y: %s}}
"""


def test_a_child_run_gives_its_result_and_its_parent_holds_no_slot_meanwhile(tmp_path):
    (tmp_path / "child.yaml").write_text(CHILD)

    async def work(world):
        run = await world.start(PARENT)
        await world.entered()  # with one slot only, the child can work because the parent does not
        world.gate.answers.put_nowait({})
        assert (await world.ended(run)).last_result == 42
        child = (await world.database.archive.runs(RunFilter(parent=run)))[0]
        assert child.program == "child"

    in_a_world(work, tmp_path, slots=1)


def test_a_path_that_nobody_registered_is_that_of_a_file(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "child.yaml").write_text(SHORT_CHILD % 1)

    async def work(world):
        text = PARENT.replace("file: child.yaml", "path: below/child.yaml")
        assert (await world.ended(await world.start(text))).last_result == 1
        programs = world.engine.programs
        await programs.register(programs.read(SHORT_CHILD % 2, "child.yaml"))
        assert (await world.ended(await world.start(text))).last_result == 2

    in_a_world(work, tmp_path)


@pytest.mark.parametrize("path", ["absent.yaml", "absent"])
def test_a_path_that_is_nothing_says_where_was_looked(path, tmp_path):
    async def work(world):
        text = PARENT.replace("file: child.yaml", f"path: {path}")
        failure = (await world.ended(await world.start(text))).failure
        assert failure["kind"] == "reference"
        assert failure["message"].startswith(f"no program {path} is registered")
        assert (str(tmp_path / path) in failure["message"]) is path.endswith(".yaml")

    in_a_world(work, tmp_path)


def test_cancelling_a_parent_cancels_the_child_it_waits_for(tmp_path):
    (tmp_path / "child.yaml").write_text(CHILD)

    async def work(world):
        run = await world.start(PARENT)
        await world.entered()
        await world.engine.cancel(run)
        child = (await world.database.archive.runs(RunFilter(parent=run)))[0]
        assert child.status is RunStatus.CANCELLED
        await _soon(lambda: world.gate.cancelled)

    in_a_world(work, tmp_path)


def test_a_failed_child_is_an_error_outcome_of_its_kind(tmp_path):
    (tmp_path / "child.yaml").write_text(CHILD)

    async def work(world):
        run = await world.start(PARENT)
        await world.entered()
        world.gate.answers.put_nowait(outcome_of(error={"kind": "rate_limit", "message": "slow"}))
        state = await world.ended(run)
        assert state.failure["kind"] == "rate_limit"
        assert "slow" in state.failure["message"]

    in_a_world(work, tmp_path)


def test_children_are_not_nested_without_end(tmp_path):
    endless = "workflow: [{step: deeper, tool: {kind: playbook, file: endless.yaml}}]"
    (tmp_path / "endless.yaml").write_text(endless)

    async def work(world):
        run = await world.start(endless)
        state = await world.ended(run)
        assert state.failure["kind"] == "limit_exceeded"
        assert len(await world.database.archive.runs(RunFilter(limit=100))) == 17

    in_a_world(work, tmp_path)


def test_a_child_that_is_not_waited_for_gives_its_id(tmp_path):
    (tmp_path / "child.yaml").write_text(CHILD)
    text = "workflow: [{step: call, tool: {kind: playbook, file: child.yaml, async: true}}]"

    async def work(world):
        run = await world.start(text)
        state = await world.ended(run)
        child = int(state.last_result["run_id"])
        await world.entered()
        world.gate.answers.put_nowait({})
        assert (await world.ended(child)).last_result == {"y": 0}

    in_a_world(work, tmp_path)


def test_a_missing_child_document_is_a_reference_error(tmp_path):
    async def work(world):
        run = await world.start(PARENT)
        state = await world.ended(run)
        assert state.failure["kind"] == "reference"
        assert "child.yaml" in state.failure["message"]

    in_a_world(work, tmp_path)
