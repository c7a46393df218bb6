"""Sides that block, on threads: readers as sources and writers as targets.

Knows nothing of what is read or written, only how a call that is cancelled stops it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Protocol, TypeVar

from anew.tools.sql.threads import Interruption, Threads
from anew.tools.transfer.sides import Batch, Copied, Row
from anew.values import Value

T = TypeVar("T")


class RowReader(Protocol):
    """A source on a thread. `open` goes to a position; `read` gives up to so many rows."""

    def open(self, position: Value, interruption: Interruption) -> None: ...

    def read(self, count: int, interruption: Interruption) -> Batch: ...

    def close(self) -> None: ...


class RowWriter(Protocol):
    """A target on a thread."""

    def begin(self, interruption: Interruption) -> Copied: ...

    def write(
        self,
        rows: list[Row],
        before: Copied,
        after: Copied,
        interruption: Interruption,
    ) -> None: ...

    def close(self) -> None: ...


def _nothing() -> None:
    """A transfer does not say that a batch waits for a thread."""


async def _run(threads: Threads, work: Callable[[Interruption], T]) -> T:
    return await threads.run(work, begins=_nothing)


class ThreadedSource:
    def __init__(self, reader: RowReader, threads: Threads) -> None:
        self._reader = reader
        self._threads = threads

    async def batches(self, position: Value, size: int) -> AsyncGenerator[Batch, None]:
        reader = self._reader
        try:
            await _run(self._threads, lambda stop: reader.open(position, stop))
            while True:
                batch = await _run(self._threads, lambda stop: reader.read(size, stop))
                if not batch.rows:
                    return
                yield batch
        finally:
            reader.close()


class ThreadedTarget:
    def __init__(self, writer: RowWriter, threads: Threads) -> None:
        self._writer = writer
        self._threads = threads

    async def begin(self) -> Copied:
        return await _run(self._threads, self._writer.begin)

    async def write(self, rows: list[Row], before: Copied, after: Copied) -> None:
        await _run(self._threads, lambda stop: self._writer.write(rows, before, after, stop))

    async def close(self) -> None:
        self._writer.close()
