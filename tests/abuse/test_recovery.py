"""The only owner of a database file is killed: the next one goes on at once, and nothing counts twice."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from anew.engine.boundaries import Reported
from anew.engine.moments import LAST_MOMENT
from anew.engine.outcome import outcome_of
from anew.engine.state import RunStatus
from anew.runtime.bootstrap import open_engine, open_server_engine
from anew.runtime.databases import open_database, open_owned
from anew.runtime.engine import Engine
from anew.runtime.programs import read_document
from anew.runtime.roles import ProcessRole
from anew.runtime.run_logs import read_log
from anew.runtime.run_starts import StartRequest
from anew.runtime.toolbox import Toolbox
from anew.store import Lease, RunFilter, RunId, StaleLease
from tests.crash.kit import soon
from tests.surfaces.api.processes import ended, server
from tests.surfaces.cli.servers import TOKEN, worker

# So long that whoever waited for a lease would be seen to hang.
FOR_EVER = 3600.0
PATIENCE_SECONDS = 60.0
HELD = """
metadata: {name: held}
executor: {spec: {limits: {deliveries: 3}}}
workflow:
  - step: first
    tool: {kind: gate}
    next: [{step: second}]
  - step: second
    tool: {kind: gate}
"""


class GateTool:
    """Says that it was called, and answers when it is let."""

    def __init__(self, *, is_open: bool = False) -> None:
        self.calls: list[str] = []
        self.entered, self.opened = asyncio.Event(), asyncio.Event()
        if is_open:
            self.opened.set()

    async def call(self, call: Any) -> Any:
        self.calls.append(call.place.step)
        call.begins()
        self.entered.set()
        await self.opened.wait()
        return outcome_of({"ok": True})

    async def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _gates_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anew.program.kinds.installed_kinds", lambda: frozenset({"gate"}))
    monkeypatch.setenv("ANEW_LEASE_SECONDS", str(FOR_EVER))


@pytest.fixture(name="file")
def a_file(tmp_path: Path) -> Path:
    return tmp_path / "anew.db"


def use_gate(monkeypatch: pytest.MonkeyPatch, gate: GateTool) -> None:
    """For servers, which take no tools of their own."""
    monkeypatch.setattr("anew.runtime.bootstrap.Toolbox", lambda *_, **__: Toolbox({"gate": gate}))


async def live_and_die(file: Path, *, lease_seconds: float | None, runs: int = 1) -> list[RunId]:
    """Work on runs, and die in the middle of a call of each, as kill -9 does it."""
    gate = GateTool()
    async with open_owned(str(file)) as (database, ownership):
        engine = Engine(
            database,
            file.with_suffix(".scratch"),
            ProcessRole("server", lease_seconds, works_on_all=True),
            toolbox=Toolbox({"gate": gate}),
        )
        begun = [
            (await engine.start(StartRequest(read_document(HELD, "held.yaml"), {}))).run
            for _ in range(runs)
        ]
        while len(gate.calls) < runs:
            gate.entered.clear()
            await gate.entered.wait()
        _kill(engine)
        if ownership is not None:
            ownership.settle()
    mark_dead(file)
    return begun


def _kill(engine: Engine) -> None:
    """Nothing is handed back, nothing more is written."""
    engine.worker._polling.cancel()
    for task in list(engine.worker._chains):
        task.cancel()
    if engine._coordinator is not None:
        for task in engine._coordinator._tasks:
            task.cancel()


def mark_dead(file: Path) -> None:
    """As the lock of a process that was killed looks."""
    Path(f"{file}.lock").write_text("4711")


async def ends(engine: Engine, run: RunId) -> Any:
    return await asyncio.wait_for(engine.wait(run), PATIENCE_SECONDS)


async def names(engine: Engine, run: RunId) -> list[str]:
    return [event.name for event in await read_log(engine.database.archive, run)]


@pytest.mark.parametrize("runs", [1, 5])
@pytest.mark.parametrize("lease_seconds", [None, FOR_EVER], ids=["command", "server"])
@pytest.mark.parametrize("by", ["server", "command"])
def test_the_next_owner_takes_the_work_up_at_once(
    file: Path, monkeypatch: pytest.MonkeyPatch, lease_seconds: float | None, by: str, runs: int
) -> None:
    async def play() -> None:
        begun = await live_and_die(file, lease_seconds=lease_seconds, runs=runs)
        gate = GateTool(is_open=True)
        use_gate(monkeypatch, gate)
        opened = (
            open_server_engine(str(file))
            if by == "server"
            else open_engine(str(file), tools={"gate": gate})
        )
        async with opened as engine:
            if by == "command":
                await engine.adopt(begun)
            for run in begun:
                assert (await ends(engine, run)).status is RunStatus.DONE
                log = await names(engine, run)
                assert log.count("step.redelivered") == 1
                assert log.count("task.processed") == 2  # each task counts once
        assert gate.calls.count("first") == runs

    asyncio.run(play())


@pytest.mark.parametrize("late", ["before it is taken up", "while another has it", "afterwards"])
def test_a_worker_that_outlived_the_server_is_refused_by_its_fence(
    file: Path, monkeypatch: pytest.MonkeyPatch, late: str
) -> None:
    """Whenever its report comes: the execution of the new owner is the one that counts."""

    async def play() -> None:
        (run,) = await live_and_die(file, lease_seconds=FOR_EVER)
        async with open_database(str(file), read_only=True) as database:
            (lease,) = await database.store.expired(LAST_MOMENT + 1)
        gate = GateTool()
        use_gate(monkeypatch, gate)
        async with open_server_engine(str(file), works=late != "before it is taken up") as engine:
            if late == "while another has it":
                await asyncio.wait_for(gate.entered.wait(), PATIENCE_SECONDS)
            if late == "afterwards":
                gate.opened.set()
                assert (await ends(engine, run)).status is RunStatus.DONE
            await refuse(engine, lease)
            log = await names(engine, run)
            assert log.count("step.redelivered") == 1
            gate.opened.set()

    asyncio.run(play())


async def refuse(engine: Engine, lease: Lease) -> None:
    """It can neither report, nor say that it is alive."""
    outcome = outcome_of({"from": "the past"})
    before = await names(engine, lease.job.run)
    late = Reported(lease.job.key, outcome, before.index("task.started") + 1)
    with pytest.raises(StaleLease):
        await engine.ledger.apply(lease.job.run, late, lease=lease)
    assert await engine.database.store.extend([lease], lease.until) == []
    assert await names(engine, lease.job.run) == before


@pytest.mark.parametrize("until", ["its time", "forever"])
def test_after_a_stop_in_good_order_workers_keep_what_they_have(
    file: Path, monkeypatch: pytest.MonkeyPatch, until: str
) -> None:
    """Only a lease without end, which no worker elsewhere can have, is taken from whoever had it."""

    async def play() -> None:
        seconds = FOR_EVER if until == "its time" else None
        (run,) = await live_and_die(file, lease_seconds=seconds)
        Path(f"{file}.lock").write_text("")
        gate = GateTool()
        use_gate(monkeypatch, gate)
        async with open_server_engine(str(file)) as engine:
            log = await names(engine, run)
            assert log.count("step.redelivered") == (0 if seconds else 1)
            if seconds:
                held = await engine.database.store.expired(LAST_MOMENT + 1)
                assert [lease.job.run for lease in held] == [run]
            gate.opened.set()

    asyncio.run(play())


@pytest.mark.parametrize("between", ["nothing", "a command", "a reader", "no lock"])
def test_a_death_is_not_forgotten_by_those_who_come_before_the_server(
    file: Path, monkeypatch: pytest.MonkeyPatch, between: str
) -> None:
    async def play() -> None:
        (run,) = await live_and_die(file, lease_seconds=FOR_EVER)
        if between == "a command":
            async with open_engine(str(file)) as engine:
                await engine.database.archive.run(run)
        elif between == "a reader":
            async with open_database(str(file), read_only=True) as database:
                await database.archive.runs(RunFilter())
        elif between == "no lock":
            Path(f"{file}.lock").unlink()
        use_gate(monkeypatch, GateTool(is_open=True))
        async with open_server_engine(str(file)) as engine:
            assert (await ends(engine, run)).status is RunStatus.DONE

    asyncio.run(play())


@pytest.mark.parametrize("lease_seconds", [None, FOR_EVER], ids=["command", "server"])
def test_a_step_run_that_kills_every_owner_is_given_up(
    file: Path, monkeypatch: pytest.MonkeyPatch, lease_seconds: float | None
) -> None:
    """Each death is one delivery; none costs an attempt."""

    async def play() -> None:
        (run,) = await live_and_die(file, lease_seconds=lease_seconds)
        for _ in range(2):
            gate = GateTool()
            use_gate(monkeypatch, gate)
            async with open_server_engine(str(file)) as engine:
                await asyncio.wait_for(gate.entered.wait(), PATIENCE_SECONDS)
                assert gate.calls == ["first"]
                _kill(engine)
            mark_dead(file)
        use_gate(monkeypatch, GateTool())
        async with open_server_engine(str(file)) as engine:
            state = await ends(engine, run)
            assert (state.status, state.failure["kind"]) == (RunStatus.FAILED, "worker_lost")

    asyncio.run(play())


SLOW = """\
metadata: {name: slow}
workflow:
  - step: only
    tool:
      kind: shell
      command: "echo x >> began; while [ ! -e go ]; do sleep 0.02; done"
      cwd: "{{ workload.folder }}"
"""


@pytest.mark.parametrize("who", ["server", "worker"])
def test_a_killed_server_goes_on_when_it_is_started_again(tmp_path: Path, who: str) -> None:
    """Also for what it had given to a worker that lives on: that call is done again here."""
    env = {"ANEW_TOKEN": TOKEN, "ANEW_LEASE_SECONDS": str(int(FOR_EVER))}
    words = ["--no-workers"] if who == "worker" else []
    began = tmp_path / "began"

    def calls() -> int:
        return len(began.read_text().split()) if began.exists() else 0

    with server(tmp_path, *words, **env) as first, first.client(TOKEN) as client:
        body = {"document": SLOW, "workload": {"folder": str(tmp_path)}}
        run = client.post("/api/v1/runs", json=body).json()["run"]
        with working(who, first.url, tmp_path):
            soon(lambda: calls() == 1, "the call to start")
            first.process.send_signal(signal.SIGKILL)
            first.process.wait()
            port = first.url.rpartition(":")[2]  # where the worker asks
            with server(tmp_path, "--port", port, **env) as second, second.client(TOKEN) as again:
                soon(lambda: calls() == 2, "the call to start again")
                (tmp_path / "go").touch()
                shown = ended(again, run)
                assert shown["status"] == "done"
                rows = again.get(f"/api/v1/runs/{run}/events").json()["events"]
                told = [row["name"] for row in rows]
                assert told.count("step.redelivered") == told.count("task.processed") == 1
                assert second.stop()[0] == 0


def working(who: str, url: str, folder: Path) -> AbstractContextManager[object]:
    if who == "server":
        return nullcontext()
    return worker(folder, ANEW_SERVER=url, ANEW_LEASE_SECONDS=str(int(FOR_EVER)))
