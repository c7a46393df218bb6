"""An engine for programs without an event loop: from scripts, threads and notebooks."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import pytest

from anew import (
    AnewError,
    ConfigError,
    Ending,
    Run,
    RunCancelledError,
    RunFailedError,
    RunStatus,
    RunWaitingError,
    SyncEngine,
    open_engine,
    tool,
)

PATIENCE_SECONDS = 30

ADD = """
metadata: {name: add}
workload: {a: 1, b: 2}
workflow:
  - step: sum
    tool: {kind: add, a: "{{ workload.a }}", b: "{{ workload.b }}"}
    next: [{step: twice}]
  - step: twice
    tool: {kind: add, a: "{{ sum.total }}", b: "{{ sum.total }}"}
"""
ASK = """
metadata: {name: ask}
workflow:
  - step: ask
    tool: {kind: human, question: "Go on?", choices: [Yes, No]}
"""
SIGNAL = """
workflow:
  - step: paid
    tool: {kind: wait, signal: payment}
"""
HELD = "workflow: [{step: a, tool: {kind: hold}}]"
SLEEP = "workflow: [{step: a, tool: {kind: sleep, seconds: 3600}}]"


@dataclass
class Numbers:
    a: int
    b: int


@dataclass
class Sum:
    total: int


@tool
def add(a: int, b: int) -> Sum:
    return Sum(a + b)


class Model:
    """What pydantic's models have, as far as anybody asks."""

    def __init__(self, **values: int) -> None:
        self.values = values

    def model_dump(self, mode: str) -> dict[str, int]:
        assert mode == "json"
        return self.values

    @classmethod
    def model_validate(cls, value: dict[str, int]) -> Model:
        if set(value) != {"total"}:
            raise ValueError("a total is needed")
        return cls(**value)


@pytest.fixture(name="folder")
def a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "add": ADD,
        "ask": ASK,
        "signal": SIGNAL,
        "held": HELD,
        "sleep": SLEEP,
    }.items():
        Path(f"{name}.yaml").write_text(text)
    return tmp_path


@pytest.fixture(name="engine")
def an_engine(folder: Path) -> Iterator[SyncEngine]:
    with open_engine("runs.db", tools=[add]) as engine:
        yield engine


def test_a_run_is_started_waited_for_and_asked_for_its_result(engine: SyncEngine) -> None:
    run = engine.run("add.yaml", {"a": 3}, labels={"team": "ops"}, timeout=PATIENCE_SECONDS)
    assert run.result() == {"total": 10}
    assert (run.status(), engine.status(run.id)) == (RunStatus.DONE, "done")
    assert run.wait() == Ending(run.id, RunStatus.DONE, {"total": 10})
    row = engine.get(run)
    assert (row.run, row.program, row.labels) == (run, "add", {"team": "ops"})
    assert [event.name for event in engine.events(run)][-1] == "run.done"
    assert engine.run("add.yaml", key="k") == engine.start("add.yaml", key="k")


def test_input_and_result_may_be_of_a_type(engine: SyncEngine) -> None:
    run = engine.run("add.yaml", Numbers(2, 3))
    assert run.result(Sum) == engine.result(int(run), Sum) == Sum(10)
    assert engine.run("add.yaml", Model(a=1, b=1)).result(type=Model).values == {"total": 4}
    with pytest.raises(
        ConfigError, match=rf"the result of run {run} does not fit list\[int\]: Exp"
    ):
        run.result(list[int])
    with pytest.raises(ConfigError, match="the input is a list, which names no values"):
        engine.run("add.yaml", [1])
    with pytest.raises(ConfigError, match="the input cannot be written as JSON"):
        engine.run("add.yaml", {"a": object()})


def test_a_run_that_fails_raises_its_error_and_is_retried(engine: SyncEngine) -> None:
    run = engine.run("add.yaml", {"a": "x"})
    with pytest.raises(
        RunFailedError, match=f"run {run} failed: config: the input 'a' of add"
    ) as no:
        run.result()
    assert (no.value.error["kind"], no.value.run) == ("config", run)
    assert [row.run for row in engine.list(status="failed", program="add")] == [run]
    assert engine.list(status=["done", "running"]) == []
    again = engine.retry(run)
    assert again.wait().status is RunStatus.FAILED
    fixed = engine.fork(run, step="sum", input={"a": 1})
    assert fixed.result() == {"total": 6}
    assert len({run, again, fixed}) == 3


def test_a_run_that_waits_for_someone_is_answered_and_signalled(engine: SyncEngine) -> None:
    asked, paid = engine.run("ask.yaml"), engine.run("signal.yaml")
    with pytest.raises(RunWaitingError, match=r"an answer of step ask: Go on\? \(Yes, No\)"):
        asked.result()
    with pytest.raises(RunWaitingError, match="the signal 'payment'"):
        paid.result()
    with pytest.raises(ConfigError, match="Maybe"):
        engine.answer(asked, "Maybe")
    engine.answer(asked, "yes", by="ann")
    assert asked.result(timeout=PATIENCE_SECONDS)["by"] == "ann"
    assert engine.signal(paid, "payment", Numbers(1, 2), id="1") is True
    assert engine.signal(paid, "payment", Numbers(1, 2), id="1") is False
    assert paid.result(timeout=PATIENCE_SECONDS) == {"a": 1, "b": 2}


def test_a_run_is_paused_resumed_and_cancelled(engine: SyncEngine) -> None:
    run = engine.start("sleep.yaml")
    with pytest.raises(TimeoutError, match=r"has not ended after 0\.01 s; it continues"):
        run.wait(timeout=0.01)
    assert engine.pause(run, "for a moment") is True
    assert engine.status(run) == "paused"
    assert engine.resume(run) is True
    assert engine.cancel(run, "enough") is True
    assert engine.cancel(run) is False
    with pytest.raises(RunCancelledError, match=f"run {run} was cancelled"):
        run.result(timeout=PATIENCE_SECONDS)


@pytest.mark.parametrize("method", ["status", "get", "events", "wait", "pause", "resume", "cancel"])
def test_a_run_that_is_not_there_is_said_to_be_missing(engine: SyncEngine, method: str) -> None:
    with pytest.raises(ConfigError, match="there is no run 5"):
        getattr(engine, method)(5)


def test_what_else_is_wrong_is_said(engine: SyncEngine) -> None:
    with pytest.raises(ConfigError, match="no status 'ready'; known are new, queued"):
        engine.list(status="ready")
    with pytest.raises(ConfigError, match=r"cannot read nowhere\.yaml"):
        engine.run("nowhere.yaml")
    assert engine.check("add.yaml") == []


# --- where it may be used ------------------------------------------------------------------------


def test_threads_share_an_engine(engine: SyncEngine) -> None:
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda a: engine.run("add.yaml", {"a": a}), range(8)))
    assert [run.result()["total"] for run in runs] == [2 * (a + 2) for a in range(8)]


def test_a_notebook_has_an_event_loop_running(folder: Path) -> None:
    async def cell() -> object:
        with open_engine("runs.db", tools=add) as engine:
            return engine.run("add.yaml").result()

    assert asyncio.run(cell()) == {"total": 6}
    engine = open_engine("runs.db", tools=[add]).open()
    try:
        assert engine.run("add.yaml").result() == {"total": 6}
    finally:
        engine.close()
    with pytest.raises(ConfigError, match="the engine is closed"):
        engine.list()


def test_both_forms_are_one_engine(folder: Path) -> None:
    async def play() -> object:
        async with open_engine("runs.db", tools=[add]) as engine:
            run = await engine.start("add.yaml", Numbers(1, 1))
            assert isinstance(run, Run)
            return await run.result(Sum, timeout=PATIENCE_SECONDS)

    assert asyncio.run(play()) == Sum(4)


def test_an_engine_that_is_not_open_says_how_to_open_it() -> None:
    with pytest.raises(ConfigError, match=r"with open_engine\(…\) as engine: engine.run\(…\)"):
        open_engine().run("add.yaml")
    with pytest.raises(AttributeError):
        open_engine().nothing  # noqa: B018


def test_a_file_that_another_engine_owns_is_refused(engine: SyncEngine) -> None:
    with (
        pytest.raises(AnewError, match="a PostgreSQL, which many may share"),
        open_engine("runs.db"),
    ):
        pytest.fail("two engines own one file")


def test_the_engine_does_not_wait_for_itself(engine: SyncEngine) -> None:
    heard: list[str] = []

    def listen(run: int, events: object) -> None:
        try:
            engine.status(run)
        except ConfigError as error:
            heard.append(str(error))

    engine.listen(listen)
    engine.run("add.yaml")
    assert "called from its own thread" in heard[0]


def test_an_exception_in_the_block_stops_the_engine_and_another_continues(folder: Path) -> None:
    held, gate = Event(), Event()

    def hold() -> str:
        held.set()
        gate.wait(PATIENCE_SECONDS)
        return "held"

    def give_up() -> None:
        with open_engine("runs.db", tools={"hold": hold}, grace_seconds=0) as engine:
            engine.start("held.yaml", key="once")
            assert held.wait(PATIENCE_SECONDS)
            Thread(target=gate.set).start()
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        give_up()
    with open_engine("runs.db", tools={"hold": lambda: "again"}) as engine:
        (left,) = engine.list()
        assert engine.wait(left.run, PATIENCE_SECONDS).result in ("held", "again")
        assert engine.run("held.yaml", key="once") == left.run


KILLED = """
import os
from anew import open_engine

def charge():
    os.kill(os.getpid(), 9)

with open_engine("runs.db", tools={"hold": charge}) as engine:
    engine.run("held.yaml", key="once")
"""


def test_a_script_that_was_killed_is_started_again_with_the_same_key(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED], check=False)
    assert done.returncode == -9
    with open_engine("runs.db", tools={"hold": lambda: "charged"}) as engine:
        assert len(engine.list()) == 1
        assert engine.run("held.yaml", key="once").result(timeout=PATIENCE_SECONDS) == "charged"
        assert len(engine.list()) == 1


def test_a_process_without_the_code_of_a_program_names_its_module(folder: Path) -> None:
    with open_engine("runs.db", tools=[add, wait_for_ever]) as engine:
        Path("add_held.yaml").write_text(ADD.replace("kind: add", "kind: wait_for_ever", 1))
        run = engine.start("add_held.yaml")
    with open_engine("runs.db", tools=[add]) as engine:
        with pytest.raises(ConfigError, match=f"'wait_for_ever' of the module '{__name__}'"):
            engine.wait(run, PATIENCE_SECONDS)
        assert engine.status(run) == "running"


@tool
async def wait_for_ever(a: int, b: int) -> None:
    await asyncio.Event().wait()
