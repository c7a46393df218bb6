"""Runs that begin anew as another run in their place."""

import pytest

from anew.engine import events as e
from anew.engine.state import RunStatus
from anew.errors import ConfigError
from anew.runtime.keys import check_key
from anew.runtime.programs import read_document
from anew.runtime.run_logs import last_of_chain, successor
from anew.runtime.run_starts import StartRequest
from anew.store import RunFilter
from anew.stores.memory import MemoryDatabase
from tests.runtime.test_control import _gate_is_a_kind, _kill, in_a_world  # noqa: F401

LINE = """
metadata: {name: line}
workload: {x: 1}
executor: {spec: {limits: {restarts: 2}}}
workflow:
  - step: start
    tool: {kind: noop}
    next: [{step: work}]
  - step: work
    tool: {kind: gate}
    next: {arcs: [{step: again, when: "{{ event.result.again }}"}, {step: last}]}
  - step: again
    tool: {kind: restart, entry: work}
  - step: last
    tool: {kind: noop, result: "{{ workload.x }}"}
"""


async def lives(world, answers):
    for answer in answers:
        await world.entered()
        world.gate.answers.put_nowait({"again": answer})


def test_a_restart_begins_at_its_entry_with_the_workload_and_labels_of_the_first(tmp_path):
    async def work(world):
        run = await world.start(LINE, {"x": 7}, labels={"team": "a"})
        await lives(world, [True, False])
        state = await world.ended(run)
        following = await successor(world.database.archive, run)
        assert state.last_result == {"run_id": str(following)}
        assert (await world.ended(following)).last_result == 7
        first = (await world.log(following))[0]
        assert (first.continues, first.entry, first.generation) == (str(run), "work", 1)
        assert "start" not in {event.step for event in await world.log(following)}
        row = await world.database.archive.run(following)
        assert row.labels == {"team": "a"}
        assert await last_of_chain(world.database.archive, run) == following

    in_a_world(work, tmp_path)


def test_a_line_of_restarts_is_bounded(tmp_path):
    async def work(world):
        run = await world.start(LINE)
        await lives(world, [True] * 3)
        await world.ended(run)
        middle = await successor(world.database.archive, run)
        last = await successor(world.database.archive, middle)
        state = await world.ended(last)
        assert (state.status, state.failure["kind"]) == (RunStatus.FAILED, "limit_exceeded")
        assert "its limit (restarts) is 2" in state.failure["message"]
        assert len(await world.database.archive.runs(RunFilter())) == 3

    in_a_world(work, tmp_path)


def test_a_restart_to_nowhere_is_a_reference_error(tmp_path):
    async def work(world):
        run = await world.start(LINE.replace("entry: work", "entry: '{{ workload.x }}'"))
        await lives(world, [True])
        state = await world.ended(run)
        assert state.failure["kind"] == "reference"
        assert "no step '1'" in state.failure["message"]

    in_a_world(work, tmp_path)


def test_a_death_between_the_new_run_and_the_old_ones_end_makes_no_second_one(tmp_path):
    database = MemoryDatabase()

    async def die(world):
        run = await world.start(LINE)
        await lives(world, [True])
        await world.entered()  # the new run is at work: the old one may not have ended yet
        _kill(world)
        return run

    async def die_before_the_report(world):
        commit = database.store.commit

        async def lost(turn):
            is_report = any(
                isinstance(x, e.TaskProcessed) and x.step == "again" for x in turn.events
            )
            if is_report:
                _kill(world)
            await commit(turn)

        world.engine.ledger._store = type("Store", (), {"commit": staticmethod(lost)})()
        for name in ("load", "lease", "wake", "release", "expired"):
            setattr(world.engine.ledger._store, name, getattr(database.store, name))
        return await die(world)

    async def go_on(world):
        await world.engine.adopt([run])
        following = await successor(database.archive, run)
        await world.engine.adopt([following])
        await lives(world, [False])
        assert (await world.ended(run)).status is RunStatus.DONE
        assert (await world.ended(following)).last_result == 1
        assert len(await database.archive.runs(RunFilter())) == 2

    run = in_a_world(die_before_the_report, tmp_path, database=database)
    in_a_world(go_on, tmp_path, database=database)


def test_a_parent_gets_the_result_of_the_run_its_child_became(tmp_path):
    (tmp_path / "child.yaml").write_text(LINE)

    async def work(world):
        run = await world.start(
            "workflow: [{step: call, tool: {kind: playbook, file: child.yaml, args: {x: 5}}}]"
        )
        await lives(world, [True, True, False])
        assert (await world.ended(run)).last_result == 5

    in_a_world(work, tmp_path, slots=1)


def test_cancelling_a_parent_reaches_the_run_its_child_became(tmp_path):
    (tmp_path / "child.yaml").write_text(LINE)

    async def work(world):
        run = await world.start(
            "workflow: [{step: call, tool: {kind: playbook, file: child.yaml}}]"
        )
        await lives(world, [True])
        await world.entered()
        await world.engine.cancel(run)
        rows = await world.database.archive.runs(RunFilter(parent=run))
        assert [row.status for row in rows] == [RunStatus.CANCELLED, RunStatus.DONE]

    in_a_world(work, tmp_path)


def test_the_keys_of_restarts_are_not_for_people():
    with pytest.raises(ConfigError, match="Anew's own"):
        check_key("restart:1")


GRAPH = """digraph child {
  start [shape=Mdiamond]
  done [shape=Msquare]
  work [shape=parallelogram, tool_command="true"]
  start -> work -> done
}"""
PARENT = """digraph parent {
  start [shape=Mdiamond]
  done [shape=Msquare]
  sub [shape=house, stack.child_dotfile="child.dot"]
  start -> sub -> done
}"""


@pytest.mark.parametrize("parent", ["graph", "playbook"])
def test_a_graph_is_a_child_of_graphs_and_of_playbooks(tmp_path, parent):
    (tmp_path / "child.dot").write_text(GRAPH)
    playbook = "workflow: [{step: call, tool: {kind: playbook, file: child.dot, args: {who: ann}}}]"

    async def work(world):
        file = str(tmp_path / ("parent.dot" if parent == "graph" else "parent.yaml"))
        document = read_document(PARENT if parent == "graph" else playbook, file)
        run = (await world.engine.start(StartRequest(document, {"who": "ann"}))).run
        await world.ended(run)
        [child] = await world.database.archive.runs(RunFilter(parent=run))
        assert child.status is RunStatus.DONE
        first = (await world.log(child.run))[0]
        assert first.workload["who"] == "ann"

    in_a_world(work, tmp_path)
