"""A python tool shared by many cases, and what they ask about the processes below it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from anew.engine.outcome import Outcome
from anew.tool import Call
from anew.tools.descendants import children_of
from anew.tools.python.forks import Fork
from anew.tools.python.tool import PythonTool
from anew.values import Value
from tests.tools.code_calls import PATIENCE_SECONDS, call_of, has_ended, written

T = TypeVar("T")
_RUNS = count(1)


class World:
    """Every call is made in the same loop by the same tool, as in a worker."""

    def __init__(self, runner: asyncio.Runner, tool: PythonTool, folder: Path) -> None:
        self._runner, self.tool, self.folder = runner, tool, folder

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(asyncio.wait_for(work, PATIENCE_SECONDS))

    def call(self, run: str, code: str, **args: Value) -> Outcome:
        return self.run(self.tool.call(self.call_of(run, code, **args)))

    def call_of(self, run: str, code: str, **args: Value) -> Call:
        call = call_of("python", self.folder, code=code, args=args)
        return replace(call, place=replace(call.place, run=run))

    def cancelled(self, run: str, code: str, *, when: Path, **args: Value) -> None:
        """Make the call, and cancel it once the file is there, unless it has ended by itself."""
        self.run(self._cancelled(self.call_of(run, code, **args), when))

    async def _cancelled(self, call: Call, when: Path) -> None:
        task = asyncio.ensure_future(self.tool.call(call))
        await written(when)
        task.cancel()
        await asyncio.wait({task})

    @property
    def server(self) -> int:
        """The process all others are forked from."""
        server = self.tool._hosts._server
        assert server is not None
        return server._process.pid

    def forks(self) -> list[Fork]:
        server = self.tool._hosts._server
        assert server is not None
        return list(server._forks.values())

    def strays(self) -> set[int]:
        """What lives below the server and was not asked for."""
        # One that is being forked was asked for.
        for fork in self.forks():
            self.run(fork.has_started())
        known = {fork.pid for fork in self.forks() if fork.pid is not None}
        below = children_of(self.server) - known
        for pid in known:
            below |= children_of(pid)
        return {pid for pid in below if not has_ended(pid)}


@contextmanager
def world(folder: Path) -> Iterator[World]:
    with asyncio.Runner() as runner:

        async def made() -> PythonTool:
            return PythonTool()

        tool = runner.run(made())
        try:
            yield World(runner, tool, folder)
        finally:
            runner.run(tool.close())


def new_run(name: str) -> str:
    return f"{name}-{next(_RUNS)}"


def pids_in(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def is_root() -> bool:
    return os.geteuid() == 0
