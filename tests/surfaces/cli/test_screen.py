"""What a screen shows of a run that others work on as well."""

from __future__ import annotations

import asyncio
import io
import sys

import pytest

from anew.engine.fold import fold
from anew.store import Commit, Database, NewRun, RunHead, RunId
from anew.stores.memory import MemoryDatabase
from anew.surfaces.cli import log_watch
from anew.surfaces.cli.final_report import RunOptions
from anew.surfaces.cli.screen import Screen
from tests.surfaces.cli.recorded import RETRIES, RUN, played

LOG = played(RETRIES).log


async def commit(database: Database, first: int, last: int) -> None:
    events = LOG[first:last]
    new = NewRun("flaky", "d") if first == 0 else None
    head = RunHead(fold(LOG[:last]).status)
    await database.store.commit(Commit(RunId(RUN), first, events[-1].at, events, head, new=new))


async def until_seen(screen: Screen, seq: int) -> None:
    async with asyncio.timeout(20):
        while screen.seen < seq:
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("is_told", [True, False])
def test_what_others_do_is_shown(monkeypatch: pytest.MonkeyPatch, *, is_told: bool) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(log_watch, "SHARED_POLL_SECONDS", 600.0 if is_told else 0.01)

    async def watch() -> None:
        database = MemoryDatabase()
        database.is_shared = True
        if not is_told:
            monkeypatch.setattr(database.notices, "listen", lambda hear, **_: lambda: None)
        screen = Screen(RunOptions(None))
        await commit(database, 0, 5)
        async with screen.on(RunId(RUN), None, clock=database.clock), screen.kept_up(database):
            await until_seen(screen, 5)
            await commit(database, 5, len(LOG))
            await until_seen(screen, len(LOG))

    asyncio.run(watch())
    assert out.getvalue().count("fetch: started") == 1
    assert "run: done" in out.getvalue()
