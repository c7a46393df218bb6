"""Calls that wait for a Python process: the time they wait is not their own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from anew.engine.outcome import Outcome
from anew.engine.state import RunState, RunStatus
from anew.runtime.engine import Engine
from anew.runtime.programs import read_document
from anew.runtime.run_starts import StartRequest
from anew.stores.memory import MemoryDatabase
from anew.tools.python.tool import PythonTool
from tests.tools.code_calls import call_of, has_ended, with_python, written

# One call takes a quarter of its time, so that a busy machine does not matter; six take more.
SIX = """
workflow:
  - step: work
    loop: {in: [1, 2, 3, 4, 5, 6], iterator: n, spec: {mode: parallel}}
    tool:
      kind: python
      spec: {timeout: 2.4}
      args: {n: "{{ iter.n }}"}
      code: |
        import time
        time.sleep(0.6)
        result = n
"""


async def _ended(folder: Path, text: str) -> RunState:
    engine = Engine(MemoryDatabase(), folder / "scratch")
    try:
        run = (
            await engine.start(StartRequest(read_document(text, str(folder / "test.yaml")), {}))
        ).run
        return await asyncio.wait_for(engine.wait(run), 60)
    finally:
        await engine.stop(0)


def test_calls_that_wait_for_a_process_do_not_time_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_PYTHON_PROCESSES", "1")
    state = asyncio.run(_ended(tmp_path, SIX))
    assert state.status is RunStatus.DONE
    assert state.last_result["results"] == [1, 2, 3, 4, 5, 6]


def test_a_call_that_takes_too_long_times_out_once_it_has_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_PYTHON_PROCESSES", "1")
    state = asyncio.run(_ended(tmp_path, SIX.replace("0.6", "99").replace("2.4", "0.2")))
    assert state.status is RunStatus.FAILED


def test_the_time_of_a_call_begins_when_it_has_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANEW_PYTHON_PROCESSES", "1")
    code = """
import pathlib, time
pathlib.Path("here").write_text("x\\n")
while not pathlib.Path("go").exists(): time.sleep(0.002)
"""
    begun: list[str] = []

    async def work(tool: PythonTool) -> list[Outcome]:
        call = call_of("python", tmp_path, code=code)
        calls = [replace(call, begins=lambda n=n: begun.append(n)) for n in ("one", "two")]
        tasks = [asyncio.create_task(tool.call(each)) for each in calls]
        await written(tmp_path / "here")
        assert begun == ["one"]
        (tmp_path / "go").touch()
        return await asyncio.gather(*tasks)

    with_python(work)
    assert begun == ["one", "two"]


def test_the_process_of_a_run_ends_with_the_run(tmp_path: Path) -> None:
    text = """
workflow:
  - step: work
    tool: {kind: python, code: "import os\\nresult = {'pid': os.getpid()}"}
"""

    async def session() -> bool:
        engine = Engine(MemoryDatabase(), tmp_path / "scratch")
        try:
            document = read_document(text, str(tmp_path / "test.yaml"))
            state = await engine.wait((await engine.start(StartRequest(document, {}))).run)
            async with asyncio.timeout(20):
                while not has_ended(state.last_result["pid"]):
                    await asyncio.sleep(0.002)
            return True
        finally:
            await engine.stop(0)

    assert asyncio.run(session())
