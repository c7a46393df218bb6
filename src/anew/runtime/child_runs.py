"""Child runs: how one is started for a tool, and how a run ends with its children.

A child whose parent, or whose branch of it, has ended is an orphan: nobody waits for it, and it is
cancelled. Whoever ends a parent looks for its children afterwards, and whoever starts a child looks
for its parent, so that one of the two finds out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from anew.engine.boundaries import Cancelled
from anew.engine.state import FINAL, StepRunKey
from anew.runtime.families import unfinished_runs
from anew.runtime.ledger import Ledger
from anew.runtime.live_runs import LiveRun
from anew.runtime.roles import ProcessRole
from anew.runtime.run_starts import RunStarter, Started, StartRequest
from anew.store import Archive, JobRef, RunId, RunRow, StoreError

_LOG = logging.getLogger(__name__)


class ChildRuns:
    """Starts children for the tools of one engine, and ends runs with their children.

    `abandon` stops the calls of a run or of some of its step-runs; `fail` reports an error to
    whoever waits for a run.
    """

    def __init__(
        self,
        archive: Archive,
        ledger: Ledger,
        starter: RunStarter,
        role: ProcessRole,
        *,
        abandon: Callable[[RunId, Sequence[StepRunKey] | None], None],
        fail: Callable[[BaseException], None],
    ) -> None:
        self._archive = archive
        self._ledger = ledger
        self._starter = starter
        self._role = role
        self._abandon = abandon
        self._fail = fail
        self._starting: set[asyncio.Task[Started]] = set()
        self._ending: set[asyncio.Task[None]] = set()

    async def start(self, request: StartRequest) -> Started:
        """Start a run for a tool, which may be cancelled meanwhile: the start is not."""
        task = asyncio.create_task(self._start(request))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)
        return await asyncio.shield(task)

    async def _start(self, request: StartRequest) -> Started:
        started = await self._starter.start(request)
        parent = request.parent
        if self._role.is_shared and parent is not None and not await self._is_wanted(parent):
            self._in_background(self._cancel_orphan(started.run, parent.run))
        return started

    async def cancel(self, run: RunId, reason: str | None = None) -> bool:
        """End a run and its children, and stop their calls; False when they had ended already."""
        # Whoever cancels has no slot: what is to be undone is for a worker to take.
        applied = await self._ledger.apply(run, Cancelled(reason), may_take_over=False)
        has_moved = applied.has_moved
        if await self._is_undoing(run):
            return has_moved  # what it had at work was stopped, as in branches that are over
        self._abandon(run, None)
        await self._finish_starting()
        for child in await unfinished_runs(self._archive, run):
            has_moved = await self.cancel(child.run, f"its parent run {run} ended") or has_moved
        return has_moved

    def end_branches(self, run: RunId, keys: Sequence[StepRunKey]) -> None:
        """The branches of these step-runs are over: stop their calls, cancel their children."""
        self._abandon(run, keys)
        self._in_background(self._cancel_children(run, frozenset(keys)))

    async def _cancel_children(self, run: RunId, keys: frozenset[StepRunKey]) -> None:
        await self._finish_starting()
        for child in await unfinished_runs(self._archive, run):
            if child.parent is not None and child.parent.key in keys:
                await self.cancel(child.run, f"its branch of run {run} ended")

    # --- orphans -------------------------------------------------------------------------------

    async def end_orphan(self, live: LiveRun) -> None:
        """Cancel a run whose parent ended, if who ended it died before it could."""
        if live.parent is not None and not await self._is_wanted(live.parent):
            await self._cancel_orphan(live.id, live.parent.run)

    async def end_child_of_ended(self, child: RunRow) -> None:
        """The same for a child whose parent may not be readable any more."""
        assert child.parent is not None
        parent = await self._archive.run(child.parent.run)
        is_over = parent is None or parent.status in FINAL
        if is_over and not await self._is_undoing(child.run):
            await self.cancel(child.run, f"its parent run {child.parent.run} has ended")

    async def without_orphans(self, family: Sequence[RunId]) -> list[RunId]:
        """Those of a family that are waited for; the others are cancelled.

        A branch may have ended in a process that died before it cancelled the branch's children.
        """
        kept = []
        for run in family:
            row = await self._archive.run(run)
            parent = None if row is None else row.parent
            if parent is not None and parent.run in family:
                live = await self._ledger.live.newest(parent.run)
                if live.state.step_run(parent.key) is None:
                    await self._cancel_orphan(run, parent.run)
                    if not await self._is_undoing(run):
                        continue
            kept.append(run)
        return kept

    async def _is_wanted(self, parent: JobRef) -> bool:
        state = (await self._ledger.live.newest(parent.run)).state
        return not state.is_final and state.step_run(parent.key) is not None

    async def _is_undoing(self, run: RunId) -> bool:
        """Whether a run undoes what it did: to cancel it once more would keep it from that."""
        state = (await self._ledger.live.newest(run)).state
        return state.compensation is not None and not state.is_final

    async def _cancel_orphan(self, run: RunId, parent: RunId) -> None:
        if not await self._is_undoing(run):
            await self.cancel(run, f"its parent run {parent} waits for it no longer")

    # --- beside all else -----------------------------------------------------------------------

    async def finish(self) -> None:
        """Return when no child is being started or ended."""
        await self._finish_starting()
        if self._ending:
            await asyncio.wait(set(self._ending))

    async def _finish_starting(self) -> None:
        if self._starting:
            await asyncio.wait(set(self._starting))

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Where it fails on a shared store, `end_orphan` does it later."""
        task = asyncio.create_task(work)
        self._ending.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._ending.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, StoreError) and self._role.is_shared:
            _LOG.warning("%s", error)
        elif error is not None:
            self._fail(error)
