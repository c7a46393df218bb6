"""What the user has seen of the run a command follows, whoever works on it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from anew.clock import Clock
from anew.engine.events import Event
from anew.program.program import Program
from anew.runtime.run_logs import PAGE_EVENTS
from anew.store import Archive, Database, RunId, StoreError
from anew.surfaces.cli.final_report import RunOptions
from anew.surfaces.cli.log_watch import LogWatch, watch_log

if TYPE_CHECKING:
    from anew.surfaces.cli.live import View


class Screen:
    """What the user has seen of the run so far, whoever works on it."""

    def __init__(self, options: RunOptions) -> None:
        self._is_silent = options.is_quiet or options.is_json
        self._known = options.known
        self._view: View | None = None
        self.run: RunId | None = None
        self.program: Program | None = None
        self.seen = 0
        self.last_at = 0
        self._news: LogWatch | None = None
        self.is_guest = False

    @asynccontextmanager
    async def on(self, run: RunId, program: Program | None, *, clock: Clock) -> AsyncIterator[None]:
        """Show the run while this lasts; a run that takes the place of another from its start."""
        if run != self.run:
            self._view, self.seen = None, 0
        self.run, self.program = run, program
        if self._is_silent:
            yield
            return
        from anew.surfaces.cli.live import shown, view_for

        known = self._known.get(run, 0)
        self._view = self._view or view_for(sys.stdout, clock, program=program, known=known)
        async with shown(self._view, clock):
            yield

    def feed(self, events: Sequence[Event]) -> None:
        """Show what is new. What comes too early is in the log, and `keep_up` reads it there."""
        fresh = [event for event in events if event.seq > self.seen]
        if not fresh:
            return
        if fresh[0].seq != self.seen + 1:
            if self._news is not None:
                self._news.tell()
            return
        if self._view is not None:
            self._view.feed(fresh)
        self.notice("")
        self.seen, self.last_at = fresh[-1].seq, fresh[-1].at

    def notice(self, text: str) -> None:
        """Something to know that is not in the log; the empty text takes it back."""
        if self._view is not None:
            self._view.notice(text)

    @asynccontextmanager
    async def kept_up(self, database: Database) -> AsyncIterator[None]:
        """While this lasts, whatever was missed, or done by others, is read from the log."""
        assert self.run is not None
        if self._view is None:  # nobody looks
            yield
            return

        async def keep_up(news: LogWatch) -> None:
            while True:
                # A database that is away for a moment is the engine's to complain of.
                with suppress(StoreError):
                    await self.catch_up(database.archive)
                await news.wait()

        with watch_log(database, self.run, is_ours=True) as self._news:
            keeping = asyncio.create_task(keep_up(self._news))
            try:
                yield
            finally:
                keeping.cancel()

    async def catch_up(self, archive: Archive) -> None:
        """Show what happened before someone told us about it."""
        assert self.run is not None
        if self._view is None:
            return
        while page := await archive.events(self.run, after=self.seen, limit=PAGE_EVENTS):
            self.feed(page)
