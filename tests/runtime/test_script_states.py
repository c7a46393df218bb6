"""The templates of a SQL script: the same text for every worker that calls the attempt."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from anew.stores.memory import MemoryDatabase
from tests.runtime.test_control import GateTool, World, _kill, in_a_world

FLOW = """
workflow:
  - step: start
    tool: {kind: noop, result: {n: 1}}
    next: [{step: load}, {step: other}]
  - step: load
    tool: {kind: sqlite, script: load.sql}
  - step: other
    tool:
      - set: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {moved: 1}}}}]}}}
    next: [{step: later}]
  - step: later
    tool: {kind: gate}
"""
TEXT = "{{ start.n }} {{ ctx.moved | default('still') }} {{ other is defined }} {{ now() }}"


def test_the_next_owner_renders_a_script_as_the_dead_one_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anew.program.kinds.installed_kinds", lambda: frozenset({"gate"}))

    async def play() -> None:
        database, loads = MemoryDatabase(), [GateTool(), GateTool()]
        first = World(tmp_path, database, tools={"sqlite": loads[0]})
        run = await first.start(FLOW)
        await first.entered()
        await asyncio.wait_for(loads[0].entered.wait(), 10)
        # By now the other step has written to ctx and ended.
        rendered = await loads[0].calls[0].render(TEXT)
        _kill(first)
        second = World(tmp_path, database, tools={"sqlite": loads[1]})
        await second.engine.adopt([run])
        await asyncio.wait_for(loads[1].entered.wait(), 10)
        assert rendered.startswith("1 still false 20")
        assert await loads[1].calls[0].render(TEXT) == rendered
        assert (await second.engine.ledger.live.get(run)).state.ctx == {"moved": 1}
        await second.engine.stop(0)

    asyncio.run(play())


def test_a_script_that_draws_is_refused(tmp_path: Path) -> None:
    (tmp_path / "load.sql").write_text("SELECT {{ rand() }} AS drawn")

    async def work(world: Any) -> None:
        state = await world.ended(await world.start(FLOW.replace("kind: gate", "kind: noop")))
        assert state.failure["kind"] == "expression"
        assert "Draw it in `params`" in state.failure["message"]

    in_a_world(work, tmp_path)


WORKBOOK = """
workflow:
  - step: load
    tool: {kind: workbook, name: load, with: {least: 7, drawn: "{{ rand() }}"}}
workbook:
  - {name: load, tool: {kind: sqlite, script: load.sql, params: {drawn: "{{ args.drawn }}"}}}
"""


def test_what_the_caller_of_a_workbook_task_drew_is_bound(tmp_path: Path) -> None:
    (tmp_path / "load.sql").write_text("SELECT {{ 2 + 1 }} AS n, :drawn AS drawn")

    async def work(world: Any) -> None:
        state = await world.ended(await world.start(WORKBOOK))
        (row,) = state.results["load"].result["rows"]
        assert row["n"] == 3
        assert 0 <= row["drawn"] < 1

    in_a_world(work, tmp_path)
