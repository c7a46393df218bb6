"""A run has ended when the store says so, not when the engine has decided it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from anew.engine.state import RunStatus
from anew.runtime.engine import Engine
from anew.runtime.programs import read_document
from anew.runtime.run_starts import StartRequest
from anew.store import StoreError
from anew.stores.memory import MemoryDatabase

DOCUMENT = "workflow: [{step: only, tool: {kind: noop, result: 7}}]"


class SlowEnd:
    """A store that holds the commit that ends a run until it is let go, and may then fail."""

    def __init__(self, store: Any, error: StoreError | None = None) -> None:
        self._store = store
        self._error = error
        self.arrived = asyncio.Event()
        self.let_go = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, commit: Any) -> None:
        if commit.drop_all:
            self.arrived.set()
            await self.let_go.wait()
            if self._error is not None:
                raise self._error
        await self._store.commit(commit)


def test_whoever_waits_for_a_run_is_told_when_its_end_is_durable(tmp_path: Path) -> None:
    async def play() -> None:
        database: Any = MemoryDatabase()
        database.store = slow = SlowEnd(database.store)
        engine = Engine(database, tmp_path)
        order = StartRequest(read_document(DOCUMENT, str(tmp_path / "test.yaml")), {})
        run = (await engine.start(order)).run
        await asyncio.wait_for(slow.arrived.wait(), 10)
        ending = asyncio.create_task(engine.wait(run))
        # Whoever were told too early would be by now: nothing else is left to do.
        await asyncio.sleep(0.05)
        assert not ending.done()
        slow.let_go.set()
        state = await asyncio.wait_for(ending, 10)
        assert (state.status, state.last_result) == (RunStatus.DONE, 7)
        again = await asyncio.wait_for(engine.wait(run), 10)
        assert again.status is RunStatus.DONE
        await engine.stop(0)

    asyncio.run(play())


def test_a_store_that_fails_is_told_to_all_who_wait_and_to_who_waits_later(tmp_path: Path) -> None:
    async def play() -> None:
        database: Any = MemoryDatabase()
        database.store = slow = SlowEnd(database.store, StoreError("the disk is full"))
        engine = Engine(database, tmp_path)
        order = StartRequest(read_document(DOCUMENT, str(tmp_path / "test.yaml")), {})
        run = (await engine.start(order)).run
        await asyncio.wait_for(slow.arrived.wait(), 10)
        waiting = [asyncio.create_task(engine.wait(run)) for _ in range(3)]
        await asyncio.sleep(0)
        slow.let_go.set()
        told = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 10)
        assert [str(error) for error in told] == ["the disk is full"] * 3
        for wait in (engine.wait, engine.ledger.endings.wait):
            with pytest.raises(StoreError, match="the disk is full"):
                await asyncio.wait_for(wait(run), 10)
        await engine.stop(0)

    asyncio.run(play())
