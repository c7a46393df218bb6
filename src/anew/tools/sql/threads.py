"""Run a library that blocks on a thread of its own, and stop it when the call is cancelled.

Knows nothing of SQL: a library only has to offer some way to interrupt it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Lock
from typing import TypeVar

T = TypeVar("T")

# Calls of one tool that work at the same time; the others wait for a thread.
SQL_THREADS_MAX = 8
# An interrupt that comes between two statements is lost: it is repeated until the work has ended.
INTERRUPT_EVERY_SECONDS = 0.05
# A query that does not stop for this long is left behind; its thread ends with it.
INTERRUPT_SECONDS_MAX = 10.0


class Stopped(Exception):
    """The call was cancelled: nobody waits for this work any more."""


class Interruption:
    """How the waiting side reaches the working one. Safe from both threads."""

    def __init__(self) -> None:
        self._asked = Event()
        self._lock = Lock()
        self._interrupt: Callable[[], None] | None = None

    @contextmanager
    def reaching(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """While inside, `stop` calls `interrupt`."""
        self._reach(interrupt)
        try:
            yield
        finally:
            self._reach(None)

    def _reach(self, interrupt: Callable[[], None] | None) -> None:
        with self._lock:
            self._interrupt = interrupt

    def stop(self) -> None:
        self._asked.set()
        with self._lock:
            if self._interrupt is not None:
                self._interrupt()

    def raise_if_stopped(self) -> None:
        if self._asked.is_set():
            raise Stopped

    def wait(self, seconds: float) -> bool:
        """Wait this long, or until someone stops the work: then True."""
        return self._asked.wait(seconds)


class Threads:
    """The threads of one tool, started when they are first needed."""

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(SQL_THREADS_MAX, thread_name_prefix=name)

    async def run(self, work: Callable[[Interruption], T], *, begins: Callable[[], None]) -> T:
        """What `work` returns or raises; when cancelled, not before the work has stopped.

        `begins` is called, on the loop, once a thread was free for the work.
        """
        interruption = Interruption()
        loop = asyncio.get_running_loop()

        def started() -> T:
            loop.call_soon_threadsafe(begins)
            return work(interruption)

        job = self._executor.submit(started)
        future = asyncio.wrap_future(job)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if not job.cancel():  # it has begun
                await _stop(future, interruption)
            raise

    def close(self) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)


async def _stop(future: asyncio.Future[T], interruption: Interruption) -> None:
    future.add_done_callback(_forget)
    deadline = asyncio.get_running_loop().time() + INTERRUPT_SECONDS_MAX
    while not future.done() and asyncio.get_running_loop().time() < deadline:
        interruption.stop()
        await asyncio.wait({future}, timeout=INTERRUPT_EVERY_SECONDS)


def _forget(future: asyncio.Future[T]) -> None:
    """Look at the failure of work nobody waits for, or asyncio reports it as unseen."""
    if not future.cancelled():
        future.exception()
