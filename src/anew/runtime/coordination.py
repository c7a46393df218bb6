"""Keeps a process true to what others do with the same database.

Hears their notices, says that its own jobs are alive, takes over the jobs of those who are not, and
asks now and then what it may not have been told.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from random import uniform
from typing import Any, TypeAlias

from anew.clock import Clock
from anew.engine.moments import NANOSECONDS
from anew.runtime.leases import BEATS_PER_LEASE
from anew.runtime.ledger import Ledger
from anew.runtime.live_runs import LiveRun
from anew.runtime.people import People
from anew.runtime.roles import ProcessRole
from anew.runtime.worker import Worker
from anew.store import Database, JobRef, Lease, Notice, RunId

_LOG = logging.getLogger(__name__)

# Whatever a database wants to have done now and then.
MAINTENANCE_SECONDS = 6 * 3600.0
# How often what operators have set on dependencies is looked at; a call that names its own finds
# out at once.
GUARDS_SECONDS = 5.0
# How often those who wait for a run look for themselves.
POLL_SECONDS = 1.0

_Seen: TypeAlias = tuple[JobRef, int, int]


class Coordinator:
    """Make one inside a running event loop; `stop` it before the database is closed."""

    def __init__(
        self,
        database: Database,
        worker: Worker,
        ledger: Ledger,
        people: People,
        role: ProcessRole,
        *,
        clock: Clock,
        end_orphan: Callable[[LiveRun], Awaitable[None]],
        tidy: Callable[[], Awaitable[None]],
    ) -> None:
        self._store = database.store
        self._worker = worker
        self._ledger = ledger
        self._people = people
        self._clock = clock
        self._role = role
        assert role.lease_seconds is not None
        self._beat_seconds = role.lease_seconds / BEATS_PER_LEASE
        self._end_orphan = end_orphan
        self._suspected: dict[_Seen, int] = {}
        self._turning: set[RunId] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._stop_listening = database.notices.listen(self._hear, turns_only=database.store.waits)
        self._begin(self._every(lambda: self._beat_seconds, self._say_alive))
        if not database.store.waits:  # the server at the other end does that
            self._begin(self._every(self._look_seconds, self._take_over))
            self._begin(self._every(lambda: MAINTENANCE_SECONDS, database.maintain))
        self._begin(self._every(lambda: MAINTENANCE_SECONDS, tidy))
        self._begin(self._every(lambda: GUARDS_SECONDS, ledger.guards.refresh))
        self._begin(self._look_for_ends())

    async def stop(self) -> None:
        self._stop_listening()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _every(
        self, seconds: Callable[[], float], work: Callable[[], Awaitable[None]]
    ) -> None:
        due = self._clock.now()
        while True:
            # From when the last one began: how long it took is no reason to come later.
            due = max(due + int(seconds() * NANOSECONDS), self._clock.now())
            await self._clock.sleep_until(due)
            await self._guarded(work)

    async def _guarded(self, work: Callable[[], Awaitable[None]], run: RunId | None = None) -> None:
        """What cannot be done now is tried again later; who waits for a run is told elsewhere."""
        try:
            await work()
        except Exception as error:  # one that is not foreseen must not end what keeps leases alive
            _LOG.warning("%s%s", "" if run is None else f"run {run}: ", error)

    # --- what others do ------------------------------------------------------------------------

    def _hear(self, notice: Notice) -> None:
        poller = self._worker.poller
        if notice.due and (poller.adopted is None or notice.run in poller.adopted):
            ours = [due for pool, due in notice.due.items() if self._role.takes(pool)]
            if ours:
                poller.notice(min(ours))
        if notice.has_turned and notice.run not in self._turning:
            self._turning.add(notice.run)
            self._begin(self._guarded(partial(self._turn, notice.run), notice.run))

    async def _turn(self, run: RunId) -> None:
        """A run changed its status, or some of its calls may have no use any more."""
        self._turning.discard(run)
        await self._keep(self._worker.stoppable(run))
        await self._ledger.endings.look(run)
        self._people.look_again()

    async def _look_for_ends(self) -> None:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            for run in self._ledger.endings.awaited:
                await self._guarded(partial(self._ledger.endings.look, run), run)
                self._people.look_again()

    # --- leases --------------------------------------------------------------------------------

    async def _say_alive(self) -> None:
        await self._keep(self._worker.leases())
        for run in {lease.job.run for lease in self._worker.leases()}:
            live = self._ledger.live.known(run)
            if live is not None and live.parent is not None:
                await self._guarded(partial(self._end_orphan, live), run)

    async def _keep(self, leases: Sequence[Lease]) -> None:
        if not leases:
            return
        until = self._role.lease_end(self._clock.now())
        kept = await self._store.extend(leases, until)
        still = {(lease.job, lease.token) for lease in kept}
        self._worker.lose([one for one in leases if (one.job, one.token) not in still])

    def _look_seconds(self) -> float:
        """A heartbeat apart at least; and not all at once, as whoever is first does it for all."""
        return self._beat_seconds * uniform(1.05, 1.35)

    async def _take_over(self) -> None:
        """Hand out again what belonged to workers that are gone.

        One whose lease ran out is gone only if nobody extends it for a heartbeat longer: after a
        time in which nobody could reach the database, all are late and none is dead.
        """
        ours = {(lease.job, lease.token) for lease in self._worker.leases()}
        seen = {
            (lease.job, lease.token, lease.until): lease
            for lease in await self._store.expired(self._clock.now())
            if (lease.job, lease.token) not in ours
        }
        now = self._clock.now()
        self._suspected = {key: self._suspected.get(key, now) for key in seen}
        beat = int(self._beat_seconds * NANOSECONDS)
        for key, since in self._suspected.items():
            if now - since >= beat:
                await self._guarded(partial(self._recover, seen[key]), seen[key].job.run)

    async def _recover(self, lease: Lease) -> None:
        """Unless its worker has said meanwhile that it is alive."""
        late = await self._store.expired(self._clock.now(), runs=[lease.job.run])
        if lease in late:
            await self._worker.recover(lease)
