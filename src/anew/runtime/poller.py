"""Finds work for free slots: when to lease, how many jobs, and what to do while there are none.

Knows due times and slots. Does not know what a job is about.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
from random import random
from typing import Any, TypeVar

from anew.clock import Clock
from anew.runtime.roles import ProcessRole
from anew.runtime.slots import Slots
from anew.store import Lease, LeaseResult, RunId, Store, StoreError, StoreGone

_LOG = logging.getLogger(__name__)
T = TypeVar("T")

# Jobs leased ahead of a free slot, so that one lease serves many of them. Where workers share the
# jobs it is few: what one has taken ahead, no other can do.
PREFETCH = 32
PREFETCH_SHARED = 4
# A net for wake-ups that were missed; what is due is waited for exactly. What others do is heard of
# over a network, and where that cannot tell, this is how.
POLL_SECONDS = 5.0
POLL_SECONDS_SHARED = 1.0
# What one worker has leased ahead and cannot begin, another may.
AHEAD_SECONDS_MAX = 1.0
# How long a lease may wait for a job at the other end.
LEASE_WAIT_SECONDS = 20.0
# What is being leased when this stops is worth waiting for, unless the store does not answer.
STOP_SECONDS = 2.0
# A store that cannot lease may be busy for a moment; one that still cannot is broken, for a process
# that has nothing else. One that serves others tries for ever.
LEASE_ATTEMPTS_MAX = 3
LEASE_PAUSE_SECONDS = 1.0
LEASE_PAUSE_SECONDS_MAX = 10.0


class JobPoller:
    """Leases jobs of the `adopted` runs (None: of all) and gives them to `begin`, slot by slot.

    When there are jobs and no slot, `make_room` asks those that only wait for theirs.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        slots: Slots,
        begin: Callable[[Lease, int], None],
        make_room: Callable[[], None],
        role: ProcessRole,
    ) -> None:
        self._store = store
        self._clock = clock
        self._slots = slots
        self._begin = begin
        self._make_room = make_room
        self._role = role
        self._is_shared = role.is_shared
        self._is_lasting = role.is_lasting
        self._looked_at = 0.0
        self._prefetch = PREFETCH_SHARED if role.is_shared else PREFETCH
        self._poll_seconds = POLL_SECONDS_SHARED if role.is_shared else POLL_SECONDS
        self.adopted: set[RunId] | None = None if role.works_on_all else set()
        self._ahead: deque[tuple[Lease, int]] = deque()
        self._signal = asyncio.Event()
        self._next_due: int | None = 0
        self._is_stopping = False
        slots.is_work_waiting = self._is_work_waiting

    # --- what others tell it -------------------------------------------------------------------

    def notice(self, due: int) -> None:
        """A job will be due then."""
        if self._next_due is None or due < self._next_due:
            self._next_due = due
        self._signal.set()

    def look_again(self) -> None:
        """Something changed that may concern it: a slot is free."""
        self._fill()
        self._signal.set()

    def own(self, run: RunId) -> None:
        """Look for jobs of this run too."""
        if self.adopted is not None:
            self.adopted.add(run)

    def adopt(self, runs: Iterable[RunId]) -> None:
        """Look for what these have to do."""
        for run in runs:
            self.own(run)
        self.notice(0)

    def disown(self, run: RunId) -> None:
        """Look for no more jobs of this run."""
        if self.adopted is not None:
            self.adopted.discard(run)

    @property
    def someone_waits(self) -> bool:
        """Whether there is other work for a slot, as far as is known here."""
        is_due = self._next_due is not None and self._next_due <= self._clock.now()
        return is_due or bool(self._ahead)

    def _is_work_waiting(self) -> bool:
        # What waits at the other end of a long poll is known only once a slot is free for it.
        return self._store.waits or self.someone_waits

    @property
    def ahead(self) -> list[Lease]:
        """What is leased and has no slot yet."""
        return [lease for lease, _ in self._ahead]

    def lose(self, lost: Sequence[Lease]) -> None:
        """These belong to someone else by now."""
        gone = {(lease.job, lease.token) for lease in lost}
        kept = [pair for pair in self._ahead if (pair[0].job, pair[0].token) not in gone]
        self._ahead = deque(kept)

    def stop(self) -> None:
        """Lease nothing more; `run` returns soon."""
        self._is_stopping = True
        self._signal.set()

    async def give_back(self) -> None:
        """Hand back what was leased ahead."""
        while self._ahead:
            lease, _ = self._ahead.popleft()
            await self._release(lease)

    async def _release(self, lease: Lease) -> None:
        try:
            await self._store.release(lease, due_at=self._clock.now())
        except StoreError:
            if not self._is_lasting:
                raise
            # Its lease runs out, and then it is someone else's.

    # --- the loop ------------------------------------------------------------------------------

    async def run(self) -> None:
        while not self._is_stopping:
            if not self._store.waits:
                await self._until_due()
            wanted = self._slots.free
            if wanted <= 0 or self._ahead:
                self._signal.clear()
                self._fill()
                if self._slots.are_contended:
                    self._make_room()
                if not self._is_stopping:
                    await self._until_told()
                continue
            self._next_due = None
            batch = await self._lease(wanted + self._prefetch)
            await self._take_in(batch)
            if batch.next_due is not None:
                self.notice(batch.next_due)

    async def _until_told(self) -> None:
        """Return when a slot may be free. Nobody else can do what is leased ahead meanwhile."""
        if not (self._ahead and self._is_shared):
            await self._signal.wait()
            return
        try:
            async with asyncio.timeout(AHEAD_SECONDS_MAX):
                await self._signal.wait()
        except TimeoutError:
            await self.give_back()

    async def _take_in(self, batch: LeaseResult) -> None:
        """Begin with what came; what there is no room for any more is for others."""
        self._ahead.extend((lease, batch.versions.get(lease.job.run, 0)) for lease in batch.leases)
        self._fill()
        while len(self._ahead) > self._prefetch:
            lease, _ = self._ahead.pop()
            await self._release(lease)

    async def _lease(self, limit: int) -> LeaseResult:
        """What there is to do; nothing once this is to stop."""
        attempt = 0
        while not self._is_stopping:
            try:
                return await self._lease_once(limit)
            except StoreGone:
                raise
            except StoreError as error:
                attempt += 1
                if attempt >= LEASE_ATTEMPTS_MAX and not self._is_lasting:
                    raise
                pause = min(LEASE_PAUSE_SECONDS_MAX, LEASE_PAUSE_SECONDS * attempt)
                if attempt > 1 and self._is_lasting:
                    _LOG.warning("cannot lease jobs (%s); retrying in %g s", error, pause)
                await self._unless_stopped(asyncio.sleep(pause * (0.5 + random() / 2)))
        return LeaseResult([], None)

    async def _lease_once(self, limit: int) -> LeaseResult:
        now, self._looked_at = self._clock.now(), asyncio.get_running_loop().time()
        asked = self._store.lease(
            now=now,
            until=self._role.lease_end(now),
            limit=limit,
            pools=self._role.pools,
            runs=None if self.adopted is None else sorted(self.adopted),
            wait_seconds=LEASE_WAIT_SECONDS,
        )
        if not self._is_lasting:
            return await asked
        grace = 0.0 if self._store.waits else STOP_SECONDS
        return await self._unless_stopped(asked, grace) or LeaseResult([], None)

    async def _unless_stopped(
        self, work: Coroutine[Any, Any, T], grace_seconds: float = 0.0
    ) -> T | None:
        """What comes of it, unless this is to stop before, and it takes much longer still."""
        task = asyncio.ensure_future(work)
        try:
            while not task.done() and not self._is_stopping:
                self._signal.clear()
                told = asyncio.ensure_future(self._signal.wait())
                first: set[asyncio.Future[Any]] = {task, told}
                try:
                    await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    told.cancel()
            if not task.done() and grace_seconds:
                await asyncio.wait({task}, timeout=grace_seconds)
            return task.result() if task.done() else None
        finally:
            if task.cancel():
                await asyncio.gather(task, return_exceptions=True)

    def _fill(self) -> None:
        """Put jobs that were leased ahead into the free slots."""
        while self._ahead and self._slots.free > 0:
            self._slots.take(1)
            lease, version = self._ahead.popleft()
            self._begin(lease, version)

    async def _until_due(self) -> None:
        """Return when a job is due, as far as is known here, or when this is to stop."""
        while self._next_due is None or self._next_due > self._clock.now():
            self._signal.clear()
            if self._is_stopping:
                return
            waits: list[asyncio.Future[object]] = [asyncio.ensure_future(self._signal.wait())]
            if self._next_due is not None:
                waits.append(asyncio.ensure_future(self._clock.sleep_until(self._next_due)))
            # From the last look on, however much is told meanwhile.
            left = self._looked_at + self._poll_seconds - asyncio.get_running_loop().time()
            try:
                done, _ = await asyncio.wait(
                    waits, timeout=max(0.0, left), return_when=asyncio.FIRST_COMPLETED
                )
            finally:
                for wait in waits:
                    wait.cancel()
            if not done:
                return  # look again, in case nobody told
