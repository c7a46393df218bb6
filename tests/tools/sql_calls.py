"""Calls for the tests of the SQL tools, as a worker would make them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

from anew.engine.outcome import Outcome
from anew.tool import AttemptRef, Call, Timeout

# A condition that does not come true within this long never will.
SOON_SECONDS = 30.0


class SqlTool(Protocol):
    async def call(self, call: Call) -> Outcome: ...

    async def close(self) -> None: ...


def call_of(
    folder: Path, kind: str = "sqlite", *, timeout: Timeout | None = None, **inputs: Any
) -> Call:
    return Call(
        kind=kind,
        inputs=inputs,
        place=AttemptRef("run-1", "step", 1, None, "task", 1),
        idempotency_key="key",
        asked_at=0,
        timeout=timeout or Timeout(seconds=60.0),
        folder=folder,
        scratch=folder / "scratch",
    )


def play(make: Callable[[], SqlTool], scene: Callable[[SqlTool], Awaitable[Any]]) -> Any:
    """What `scene` returns, given a tool that is closed afterwards."""

    async def run() -> Any:
        tool = make()
        try:
            async with asyncio.timeout(SOON_SECONDS * 2):
                return await scene(tool)
        finally:
            await tool.close()

    return asyncio.run(run())


def outcomes(make: Callable[[], SqlTool], *calls: Call) -> list[Outcome]:
    """One call after the other on one tool."""

    async def scene(tool: SqlTool) -> list[Outcome]:
        return [await tool.call(call) for call in calls]

    return play(make, scene)


def result_of(outcome: Outcome) -> dict[str, Any]:
    assert outcome.error is None, outcome.error
    return outcome.result


def rows_of(outcome: Outcome) -> list[dict[str, Any]]:
    return result_of(outcome)["rows"]


def error_of(outcome: Outcome) -> dict[str, Any]:
    assert outcome.error is not None, outcome.result
    return outcome.error


async def until(is_true: Callable[[], bool]) -> None:
    """Ask again and again until it holds, off the loop."""
    async with asyncio.timeout(SOON_SECONDS):
        while not await asyncio.to_thread(is_true):
            await asyncio.sleep(0.01)


async def cancel(task: asyncio.Task[Any]) -> None:
    """Cancel it, and see that it lets the cancellation through soon."""
    task.cancel()
    done, _ = await asyncio.wait({task}, timeout=SOON_SECONDS)
    assert done == {task}
    assert task.cancelled()
