"""Who waits for the end of which run, and what they are told: its state, or why it cannot come.

Knows who waits in this process, and reads runs. Changes none.
"""

from __future__ import annotations

import asyncio

from msgspec import Struct

from anew.engine.state import RunState
from anew.runtime.live_runs import LiveRuns
from anew.store import Archive, RunId


class _Ending(Struct):
    """What is known once a run has ended, and how many wait to know it."""

    future: asyncio.Future[RunState]
    waiters: int = 0

    def fail(self, error: BaseException) -> None:
        if not self.future.done():
            self.future.set_exception(error)
            self.future.exception()  # it is known, whether or not anyone still waits


class Endings:
    """Of the runs of one ledger."""

    def __init__(self, live: LiveRuns, archive: Archive) -> None:
        self._live = live
        self._archive = archive
        self._awaited: dict[RunId, _Ending] = {}
        self._given_up: dict[RunId, Exception] = {}
        self._failure: BaseException | None = None

    async def wait(self, run: RunId) -> RunState:
        """The state of a run when it has ended, and its end is in the store.

        Raises what keeps it from ending here.
        """
        given_up = self._given_up.get(run)
        if given_up is not None:
            raise given_up.with_traceback(None)
        ending = self._awaited.get(run)
        if ending is None:
            ending = self._awaited[run] = _Ending(asyncio.get_running_loop().create_future())
        ending.waiters += 1
        try:
            await self.look(run)
            if self._failure is not None and not ending.future.done():
                raise self._failure.with_traceback(None)
            return await asyncio.shield(ending.future)
        finally:
            ending.waiters -= 1
            if not ending.waiters and self._awaited.get(run) is ending:
                del self._awaited[run]

    @property
    def awaited(self) -> list[RunId]:
        """The runs whose end somebody here waits for."""
        return list(self._awaited)

    async def look(self, run: RunId) -> None:
        """Report to those who wait for a run if it has ended, here or elsewhere."""
        if run in self._awaited:
            live = await self._live.newest(run)
            if live.is_ended:
                self.report(run, live.state)

    def report(self, run: RunId, state: RunState) -> None:
        """The run has ended."""
        ending = self._awaited.pop(run, None)
        if ending is not None and not ending.future.done():
            ending.future.set_result(state)

    async def give_up(self, run: RunId, error: Exception) -> None:
        """This process cannot continue a run: whoever waits for it, or for a parent, gets that."""
        self._given_up[run] = error
        ending = self._awaited.pop(run, None)
        if ending is not None:
            ending.fail(error)
        row = await self._archive.run(run)
        if row is not None and row.parent is not None:
            await self.give_up(row.parent.run, error)

    def try_again(self, run: RunId) -> None:
        """Someone wants to continue a run that was given up."""
        self._given_up.pop(run, None)

    def fail(self, error: BaseException) -> None:
        """Nothing can continue here: whoever waits for any run gets that."""
        self._failure = error
        for ending in self._awaited.values():
            ending.fail(error)
        self._awaited.clear()
