"""A run has ended when the store says so, not when the engine has decided it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from anew.engine.state import RunStatus
from anew.runtime.embedded import Embedded
from anew.runtime.ledger import Order
from anew.runtime.programs import read_document
from anew.stores.memory import MemoryDatabase

DOCUMENT = "workflow: [{step: only, tool: {kind: noop, result: 7}}]"


class SlowEnd:
    """A store that holds the commit that ends a run until it is let go."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.arrived = asyncio.Event()
        self.let_go = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, commit: Any) -> None:
        if commit.drop_all:
            self.arrived.set()
            await self.let_go.wait()
        await self._store.commit(commit)


def test_whoever_waits_for_a_run_is_told_when_its_end_is_durable(tmp_path: Path) -> None:
    async def play() -> None:
        database: Any = MemoryDatabase()
        database.store = slow = SlowEnd(database.store)
        engine = Embedded(database, tmp_path)
        order = Order(read_document(DOCUMENT, str(tmp_path / "test.yaml")), {})
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
