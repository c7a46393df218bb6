"""The runs people look at, followed as they go on: a page that asks again costs only what is new.

Bounded by how many events the kept runs have; who was not asked for longest goes first. One request
at a time reads or feeds a trace.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct, field

from anew.errors import EngineBug
from anew.program.program import Program
from anew.runtime.damage import out_of_place
from anew.runtime.records import EVENTS_FOLDED_AT_ONCE
from anew.runtime.run_logs import PAGE_EVENTS
from anew.store import Archive, RunId, RunRow
from anew.views.picture.tracing import Trace

# A trace has about half a kilobyte for each event, beside what the run itself keeps.
TRACED_EVENTS_MAX = 200_000
TRACED_RUNS_MAX = 64

# A run, and whether it is looked at in its past.
_Name = tuple[RunId, bool]


class _Kept(Struct):
    """`is_spoiled`: it was left in the middle of an event, and nobody may look at it any more."""

    trace: Trace
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    is_spoiled: bool = False


class Traces:
    """Of one server process. `reading` bounds how many logs are read at once."""

    def __init__(self, archive: Archive, reading: asyncio.Semaphore) -> None:
        self._archive = archive
        self._reading = reading
        self._kept: dict[_Name, _Kept] = {}

    @asynccontextmanager
    async def following(
        self, row: RunRow, program: Program | None, *, at: int | None = None
    ) -> AsyncIterator[Trace]:
        """The trace of a run up to its newest event, or up to `at`; nobody else has it meanwhile.

        Of its past one is kept, too: who moves on in it needs only the events between.
        """
        name = (row.run, at is not None)
        while True:
            kept = self._kept.get(name)
            if kept is None or (at is not None and kept.trace.version > at):
                kept = _Kept(Trace(program))
            self._keep(name, kept)
            async with kept.lock:
                is_ahead = at is not None and kept.trace.version > at
                if kept.is_spoiled or is_ahead:
                    continue
                await self._catch_up(name, kept, row.run, at)
                self._bound()
                yield kept.trace
                return

    def _keep(self, name: _Name, kept: _Kept) -> None:
        """As the one that was asked for last."""
        self._kept.pop(name, None)
        self._kept[name] = kept

    async def _catch_up(self, name: _Name, kept: _Kept, run: RunId, at: int | None) -> None:
        try:
            async with self._reading:
                while await self._feed_page(kept.trace, run, at):
                    pass
        except BaseException:
            # A thread may go on feeding it after whoever asked has gone.
            kept.is_spoiled = True
            if self._kept.get(name) is kept:
                del self._kept[name]
            raise

    async def _feed_page(self, trace: Trace, run: RunId, at: int | None) -> bool:
        """Whether there may be more."""
        limit = PAGE_EVENTS if at is None else min(PAGE_EVENTS, at - trace.version)
        if limit == 0:
            return False
        page = await self._archive.events(run, after=trace.version, limit=limit)
        try:
            if len(page) <= EVENTS_FOLDED_AT_ONCE:
                trace.feed(page)
            else:
                await asyncio.to_thread(trace.feed, page)
        except EngineBug as error:
            event = next(event for event in page if event.seq == trace.version + 1)
            raise out_of_place(run, event, error) from error
        return len(page) == limit

    def _bound(self) -> None:
        """Forget the oldest; the one that was asked for last stays, however long it is."""
        events = sum(kept.trace.version for kept in self._kept.values())
        while len(self._kept) > 1 and (
            events > TRACED_EVENTS_MAX or len(self._kept) > TRACED_RUNS_MAX
        ):
            events -= self._kept.pop(next(iter(self._kept))).trace.version
