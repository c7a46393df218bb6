"""What the user has seen of the run a command follows, whoever works on it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from anew.clock import WallClock
from anew.engine.events import Event
from anew.program.program import Program
from anew.store import Archive, RunId
from anew.surfaces.cli.ending import Manner
from anew.surfaces.cli.history import PAGE_EVENTS
from anew.surfaces.cli.live import View, shown, view_for


class Screen:
    """What the user has seen of the run so far, whoever works on it."""

    def __init__(self, manner: Manner) -> None:
        self._is_silent = manner.is_quiet or manner.is_json
        self._view: View | None = None
        self.run: RunId | None = None
        self.seen = 0
        self._is_behind = asyncio.Event()
        self.is_guest = False

    @asynccontextmanager
    async def on(self, run: RunId, program: Program | None) -> AsyncIterator[None]:
        """Show the run while this lasts; a run that takes the place of another from its start."""
        if run != self.run:
            self._view, self.seen = None, 0
        self.run = run
        if self._is_silent:
            yield
            return
        clock = WallClock()
        self._view = self._view or view_for(sys.stdout, clock, program=program)
        async with shown(self._view, clock):
            yield

    def feed(self, events: Sequence[Event]) -> None:
        """Show what is new. What comes too early is in the log, and `keep_up` reads it there."""
        fresh = [event for event in events if event.seq > self.seen]
        if not fresh:
            return
        if fresh[0].seq != self.seen + 1:
            self._is_behind.set()
            return
        if self._view is not None:
            self._view.feed(fresh)
        self.seen = fresh[-1].seq

    @asynccontextmanager
    async def kept_up(self, archive: Archive) -> AsyncIterator[None]:
        """While this lasts, whatever was missed is read from the log."""

        async def keep_up() -> None:
            while True:
                self._is_behind.clear()
                await self.catch_up(archive)
                await self._is_behind.wait()

        keeping = asyncio.create_task(keep_up())
        try:
            yield
        finally:
            keeping.cancel()

    async def catch_up(self, archive: Archive) -> None:
        """Show what happened before someone told us about it."""
        assert self.run is not None
        while page := await archive.events(self.run, after=self.seen, limit=PAGE_EVENTS):
            self.feed(page)
