"""Remove runs and the files they left: one that has ended or is damaged, or all of an age."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Collection
from pathlib import Path

from msgspec import Struct

from anew.engine.moments import NANOSECONDS
from anew.engine.state import FINAL, RunStatus
from anew.errors import ConfigError
from anew.runtime.families import existing_run
from anew.runtime.questions import readable_state
from anew.store import Archive, Database, JobRef, RunFilter, RunId, RunRow

# How long the files of a run that ended are kept where nobody prunes them.
SCRATCH_SECONDS = 24 * 3600
_PAGE = 500


class RunRemoval(Struct, frozen=True, eq=False):
    """Of one engine. `abandon` stops the calls of a run, `forget` lets go of it in memory."""

    database: Database
    scratch: Path
    abandon: Callable[[RunId], None]
    forget: Callable[[RunId], None]

    async def prune(self, ended_before: int, statuses: Collection[RunStatus] = ()) -> int:
        """Remove runs that ended before a moment, with all they left behind; how many.

        With `statuses` only those that ended so.
        """
        archive, removed = self.database.archive, 0
        if statuses:
            async for row in prunable_runs(archive, ended_before, statuses):
                removed += await archive.remove(row.run)
        else:
            while count := await archive.prune(ended_before=ended_before):
                removed += count
        if removed:
            await self.tidy(ended_before)
        return removed

    async def drop(self, run: RunId) -> None:
        """Remove one run that has ended, or that is damaged; ConfigError for any other."""
        parent = await _parent_of_dropped(self.database, run)
        self.abandon(run)
        await self.database.archive.remove(run)
        self.forget(run)
        await asyncio.to_thread(shutil.rmtree, self.scratch / str(run), ignore_errors=True)
        if parent is not None:  # it may wait for this run, and starts another in its place then
            await self.database.store.wake(parent)

    async def tidy(self, ended_before: int | None = None) -> None:
        """Remove the files of runs that are gone, or ended before a moment (a day ago)."""
        if ended_before is None:
            ended_before = self.database.clock.now() - SCRATCH_SECONDS * NANOSECONDS
        for folder in self.scratch.glob("*"):
            if folder.name.isascii() and folder.name.isdigit():
                row = await self.database.archive.run(RunId(int(folder.name)))
                if row is None or (row.ended_at is not None and row.ended_at < ended_before):
                    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def prunable_runs(
    archive: Archive, ended_before: int, statuses: Collection[RunStatus] = ()
) -> AsyncIterator[RunRow]:
    """The runs that pruning removes, newest first: a child no sooner than its parent has ended."""
    ended = [status for status in statuses or FINAL if status in FINAL]
    before = None
    while ended:
        asked = RunFilter(statuses=ended, until=ended_before, before=before, limit=_PAGE)
        page = await archive.runs(asked)
        parents = {row.parent.run for row in page if row.parent is not None}
        above = RunFilter(runs=list(parents), limit=max(1, len(parents)))
        going_on = {row.run for row in await archive.runs(above) if row.status not in FINAL}
        for row in page:
            is_old = row.ended_at is not None and row.ended_at < ended_before
            if is_old and (row.parent is None or row.parent.run not in going_on):
                yield row
        if len(page) < _PAGE:
            return
        before = page[-1].run


async def _parent_of_dropped(database: Database, run: RunId) -> JobRef | None:
    """The job that may wait for a run which may be dropped; ConfigError when it may not."""
    row = await existing_run(database.archive, run)
    if row.damage is None and await readable_state(database.store, run) is not None:
        await _check_over(database, row)
    return row.parent


async def _check_over(database: Database, row: RunRow) -> None:
    """A run that goes on cannot be dropped, nor one whose parent may not have read its end yet."""
    if row.status not in FINAL:
        raise ConfigError(
            f"run {row.run} has not ended ({row.status.value}) and is not damaged. Cancel it "
            f"first: `anew cancel {row.run}`."
        )
    parent = None if row.parent is None else await database.archive.run(row.parent.run)
    if parent is not None and parent.status not in FINAL:
        raise ConfigError(
            f"run {row.run} belongs to run {parent.run}, which has not ended. Drop it after that "
            "one."
        )
