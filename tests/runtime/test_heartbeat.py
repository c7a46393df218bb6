"""Who works on a database is known meanwhile, and costs the work nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from anew.engine.moments import NANOSECONDS
from anew.runtime import heartbeat
from anew.runtime.bootstrap import open_engine, open_server_engine
from anew.runtime.databases import open_database
from anew.runtime.engine import Engine
from anew.runtime.heartbeat import ALIVE_SECONDS_MAX, is_alive
from anew.runtime.run_starts import StartRequest
from anew.store import Presence
from anew.stores.contract.roster import presence
from anew.stores.sql.roster import SqlRoster

SLEEPS = """\
metadata: {name: sleeper}
workflow:
  - step: only
    tool: {kind: shell, command: "read line < FIFO"}
"""
QUICK = "metadata: {name: quick}\nworkflow: [{step: only, tool: {kind: noop, result: 1}}]"


class Heard:
    """The beats of a file's owner, as they are written; `leaves` counts the farewells."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.beats: list[Presence] = []
        self.leaves = 0
        self._changed = asyncio.Event()
        beat, leave = SqlRoster.beat, SqlRoster.leave

        async def told(roster: SqlRoster, said: Presence) -> None:
            await beat(roster, said)
            self.beats.append(said)
            self._changed.set()

        async def left(roster: SqlRoster, worker: str) -> None:
            self.leaves += 1
            await leave(roster, worker)

        monkeypatch.setattr(SqlRoster, "beat", told)
        monkeypatch.setattr(SqlRoster, "leave", left)

    async def until(self, fits: Callable[[Presence], bool]) -> Presence:
        async with asyncio.timeout(30):
            while not any(map(fits, self.beats)):
                self._changed.clear()
                await self._changed.wait()
        return next(filter(fits, self.beats))


async def known(path: Path) -> list[Presence]:
    async with open_database(str(path), read_only=True) as database:
        return await database.roster.workers()


async def status(engine: Engine, text: str) -> str:
    started = await engine.start(StartRequest(engine.programs.read(text, "flow.yaml"), {}))
    return (await engine.wait(started.run)).status.value


def test_a_server_is_known_while_it_serves_and_forgotten_when_it_stops(tmp_path, monkeypatch):
    async def play() -> None:
        heard = Heard(monkeypatch)
        path = tmp_path / "anew.db"
        async with open_server_engine(str(path), slots=3, pools=("a", "b")):
            said = await heard.until(lambda _: True)
            assert await known(path) == [said]
            assert (said.kind, said.pools, said.slots) == ("server", ["a", "b"], 3)
            assert said.started_at <= said.seen_at
        assert await known(path) == []

    asyncio.run(play())


def test_a_beat_tells_how_busy_the_process_is(tmp_path, monkeypatch):
    monkeypatch.setattr(heartbeat, "HEARTBEAT_SECONDS", 0.01)

    async def play() -> None:
        heard = Heard(monkeypatch)
        fifo = tmp_path / "fifo"
        await (await asyncio.create_subprocess_exec("mkfifo", str(fifo))).wait()
        async with open_server_engine(str(tmp_path / "anew.db"), slots=3) as engine:
            document = engine.programs.read(SLEEPS.replace("FIFO", str(fifo)), "flow.yaml")
            started = await engine.start(StartRequest(document, {}))
            said = await heard.until(lambda one: one.busy > 0)
            assert (said.busy, said.leases, said.slots) == (1, 1, 3)
            await asyncio.to_thread(fifo.write_text, "go\n")
            await engine.wait(started.run)
            heard.beats.clear()
            assert (await heard.until(lambda one: one.busy == 0)).leases == 0

    asyncio.run(play())


def test_a_job_that_takes_a_while_is_told_before_the_next_heartbeat(tmp_path, monkeypatch):
    monkeypatch.setattr(heartbeat, "HEARTBEAT_SECONDS", 3600.0)
    monkeypatch.setattr(heartbeat, "NEWS_SECONDS", 0.01)

    async def play() -> None:
        heard = Heard(monkeypatch)
        fifo = tmp_path / "fifo"
        await (await asyncio.create_subprocess_exec("mkfifo", str(fifo))).wait()
        async with open_server_engine(str(tmp_path / "anew.db"), slots=3) as engine:
            await heard.until(lambda one: not one.jobs)
            document = engine.programs.read(SLEEPS.replace("FIFO", str(fifo)), "flow.yaml")
            started = await engine.start(StartRequest(document, {}))
            said = await heard.until(lambda one: bool(one.jobs))
            assert [held.job.run for held in said.jobs] == [started.run]
            await asyncio.to_thread(fifo.write_text, "go\n")
            await engine.wait(started.run)

    asyncio.run(play())


def test_a_short_command_writes_nothing_about_itself(tmp_path, monkeypatch):
    async def play() -> None:
        heard = Heard(monkeypatch)
        async with open_engine(str(tmp_path / "anew.db")) as engine:
            assert await status(engine, QUICK) == "done"
        assert (heard.beats, heard.leaves) == ([], 0)

    asyncio.run(play())


def test_a_command_that_takes_longer_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(heartbeat, "COMMAND_QUIET_SECONDS", 0.0)

    async def play() -> None:
        heard = Heard(monkeypatch)
        path = tmp_path / "anew.db"
        async with open_engine(str(path)):
            said = await heard.until(lambda _: True)
            assert (said.kind, said.pools) == ("command", [])
        assert await known(path) == []

    asyncio.run(play())


def test_a_roster_that_fails_disturbs_nobody(tmp_path, monkeypatch):
    asked = asyncio.Event()

    async def broken(_roster: SqlRoster, _said: Presence) -> None:
        asked.set()
        raise RuntimeError("no")

    async def play() -> None:
        heard = Heard(monkeypatch)
        monkeypatch.setattr(SqlRoster, "beat", broken)
        async with open_server_engine(str(tmp_path / "anew.db")) as engine:
            await asked.wait()
            assert await status(engine, QUICK) == "done"
        assert heard.leaves == 0

    asyncio.run(play())


def test_a_roster_that_never_answers_keeps_nobody_from_stopping(tmp_path, monkeypatch):
    asked = asyncio.Event()

    async def silent(_roster: SqlRoster, _said: Presence) -> None:
        asked.set()
        await asyncio.Event().wait()

    async def play() -> None:
        monkeypatch.setattr(SqlRoster, "beat", silent)
        async with asyncio.timeout(30):
            async with open_server_engine(str(tmp_path / "anew.db")) as engine:
                await asked.wait()
                assert await status(engine, QUICK) == "done"

    asyncio.run(play())


def test_two_heartbeats_may_be_missed():
    seen = presence(seen_at=0)
    assert is_alive(seen, int(ALIVE_SECONDS_MAX * NANOSECONDS))
    assert not is_alive(seen, int(ALIVE_SECONDS_MAX * NANOSECONDS) + 1)
