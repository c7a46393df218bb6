"""When to look at a log again that others write.

Where processes share a database, notices tell of news; they are hints, so looks go on without them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from anew.store import Database, Notice, RunId

T = TypeVar("T")

# Ten looks a second, each one row of an index while nothing happens.
POLL_SECONDS = 0.1
# Over a network, for what no notice told.
SHARED_POLL_SECONDS = 0.3
# How long an answer may take before whoever watches is told that there is none.
DOUBT_SECONDS = 3.0


class LogWatch:
    """Wakes whoever waits for the next look; without `seconds` only those who tell do."""

    def __init__(self, run: RunId, seconds: float | None) -> None:
        self._run = run
        self._seconds = seconds
        self._is_told = asyncio.Event()

    def tell(self) -> None:
        self._is_told.set()

    def hear(self, notice: Notice) -> None:
        if notice.run == self._run:
            self.tell()

    async def wait(self) -> None:
        """Until there may be something new. What is told while nobody waits is not lost."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._seconds):
                await self._is_told.wait()
        self._is_told.clear()


@contextmanager
def watch_log(database: Database, run: RunId, *, is_ours: bool = False) -> Iterator[LogWatch]:
    """News of a run; `is_ours`: what this process writes itself is told by `tell`."""
    alone = None if is_ours else POLL_SECONDS
    news = LogWatch(run, SHARED_POLL_SECONDS if database.is_shared else alone)
    stop = database.notices.listen(news.hear, runs=[run]) if database.is_shared else None
    try:
        yield news
    finally:
        if stop is not None:
            stop()


async def answered(work: Coroutine[Any, Any, T], tell: Callable[[str], None]) -> T:
    """What comes of it; `tell` is told when that takes long, and told nothing once it came."""
    asking = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({asking}, timeout=DOUBT_SECONDS)
        if done:
            return asking.result()
        tell("no answer; trying again")
        found = await asking
        tell("")
        return found
    finally:
        asking.cancel()
