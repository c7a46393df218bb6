"""Calls of the tools that start processes, and what tests ask about processes."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from anew.engine.outcome import Outcome
from anew.tool import AttemptRef, Call, Timeout
from anew.tools.python.tool import PythonTool
from anew.tools.sandbox import NO_SANDBOX, Sandbox
from anew.tools.shell import ShellTool
from anew.values import Value

# Only ever waited for in full by a test that fails.
PATIENCE_SECONDS = 20.0

T = TypeVar("T")


def call_of(kind: str, folder: Path, *, scratch: Path | None = None, **inputs: Value) -> Call:
    place = AttemptRef(run="71", step="work", visit=1, iteration=None, task="count", attempt=2)
    return Call(kind, inputs, place, "key-1", 0, Timeout(), folder, scratch or folder / "run")


def with_python(work: Callable[[PythonTool], Awaitable[T]]) -> T:
    async def session() -> T:
        tool = PythonTool()
        try:
            return await asyncio.wait_for(work(tool), PATIENCE_SECONDS)
        finally:
            await tool.close()

    return asyncio.run(session())


def python(folder: Path, code: str | None = None, **inputs: Value) -> Outcome:
    given = inputs if code is None else {"code": code, **inputs}
    return with_python(lambda tool: tool.call(call_of("python", folder, **given)))


def pythons(folder: Path, *codes: str) -> list[Outcome]:
    """One tool, one call after the other."""

    async def work(tool: PythonTool) -> list[Outcome]:
        return [await tool.call(call_of("python", folder, code=code)) for code in codes]

    return with_python(work)


def shell(
    folder: Path,
    command: Value,
    *,
    sandbox: Sandbox = NO_SANDBOX,
    scratch: Path | None = None,
    **inputs: Value,
) -> Outcome:
    call = call_of("shell", folder, scratch=scratch, command=command, **inputs)

    async def session() -> Outcome:
        return await asyncio.wait_for(ShellTool(sandbox).call(call), PATIENCE_SECONDS)

    return asyncio.run(session())


def error_of(outcome: Outcome) -> dict[str, Value]:
    assert outcome.error is not None, outcome
    return outcome.error


async def cancelled_once(tool: PythonTool | ShellTool, call: Call, *, when: Path) -> str:
    """Cancel the call when the file is written; what is in it."""
    task = asyncio.ensure_future(tool.call(call))
    text = await written(when)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return text
    raise AssertionError("the cancellation did not get through")


async def written(path: Path) -> str:
    """The text of a file, once it has a whole line."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if path.exists() and (text := path.read_text()).endswith("\n"):
            return text
        await asyncio.sleep(0.005)
    raise AssertionError(f"{path.name} was not written")


def has_ended(pid: int) -> bool:
    """Gone, or dead and waiting for whoever adopted it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state in "ZX"


def wait_until_ended(pid: int) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not has_ended(pid):
        assert time.monotonic() < end, f"process {pid} is still there"
        time.sleep(0.005)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def own_children() -> list[int]:
    """Processes of ours that live or were not reaped."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(parent) == os.getpid():
            found.append(int(folder.name))
    return found
