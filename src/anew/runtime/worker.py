"""Works on jobs: leases them, calls tools, reports, and follows what the engine decides.

The only loop there is: lease, execute, report, decide, append and hand out. Many runs at once, as
many calls at once as there are slots; a wait of a second or more holds none.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from anew.clock import Clock
from anew.engine.decide import Boundary, Due, Lost, Reported, Taken
from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.engine.pipeline import Invoke, Wait, asked_of
from anew.engine.state import Key, StepRunStatus
from anew.runtime.calls import CALLED_AGAIN, Caller, Site
from anew.runtime.ledger import Ledger
from anew.runtime.live import LiveRun
from anew.runtime.slots import Slots
from anew.runtime.turns import PARK_SECONDS, Errand
from anew.store import (
    Batch,
    Lease,
    Park,
    RunId,
    StaleLease,
    Store,
    StoreError,
    WaitReason,
)
from anew.tool import Answer, Parked

# Jobs leased ahead of a free slot, so that one lease serves many of them.
PREFETCH = 32
# A net for wake-ups that were missed; what is due is waited for exactly.
POLL_SECONDS = 5.0
# After so many turns a slot goes to whoever waits, so that a long run does not keep others out.
CHAIN_TURNS_MAX = 100
# A store that cannot lease may be busy for a moment; one that still cannot is broken.
LEASE_ATTEMPTS_MAX = 3
LEASE_PAUSE_SECONDS = 1.0
# How long a call may take to clean up after itself when it is stopped.
CLEANUP_SECONDS_MAX = 30.0

_BEGINS = (StepRunStatus.SCHEDULED, StepRunStatus.READY)


class _Chain(Struct):
    """What one slot is used for: a step-run, then those it leads to.

    Only a chain `at_work` (a call, or a short wait) is ever cancelled: in the middle of a commit
    nobody could tell whether it happened.
    """

    lease: Lease
    is_at_work: bool = False
    turns: int = 0


class Worker:
    """Works on the runs it adopted, or on every run of the store (`adopted` None)."""

    def __init__(
        self,
        store: Store,
        ledger: Ledger,
        caller: Caller,
        clock: Clock,
        *,
        slots: Slots,
        scratch: Path,
        adopted: set[RunId] | None,
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._caller = caller
        self._clock = clock
        self._slots = slots
        self._scratch = scratch
        self.adopted = adopted
        self._chains: dict[asyncio.Task[None], _Chain] = {}
        self._ahead: deque[Lease] = deque()
        self._signal = asyncio.Event()
        self._next_due: int | None = 0
        self._is_stopping = False
        self._last_chance = asyncio.Lock()
        self._suspects: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self.failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # Whoever waits gets it from there; where nobody does, the same error was told elsewhere.
        self.failure.add_done_callback(lambda failure: failure.cancelled() or failure.exception())
        ledger.on_handed_out = self.notice
        ledger.on_ended = self.disown
        self._feeder = asyncio.create_task(self._guarded(self._feed))

    # --- what others tell it -------------------------------------------------------------------

    def notice(self, due: int) -> None:
        """A job will be due then."""
        if self._next_due is None or due < self._next_due:
            self._next_due = due
        self._signal.set()

    def own(self, run: RunId) -> None:
        """Work on the jobs of this run too."""
        if self.adopted is not None:
            self.adopted.add(run)

    def adopt(self, runs: Iterable[RunId]) -> None:
        """Work on these too, and look for what they have to do."""
        for run in runs:
            self.own(run)
        self.notice(0)

    def disown(self, run: RunId) -> None:
        """Look for no more jobs of this run."""
        if self.adopted is not None:
            self.adopted.discard(run)

    def follow(self, errands: Iterable[Errand]) -> None:
        """Do what a turn asked for; its slots are taken already."""
        for errand in errands:
            self._spawn(errand.lease, errand)

    def abandon(self, run: RunId, keys: Collection[Key] | None = None) -> None:
        """Stop the calls of a run that has ended, or those of step-runs whose branch has.

        Their tools are cancelled, and nobody reports for them.
        """

        def is_meant(chain: _Chain) -> bool:
            job = chain.lease.job
            return job.run == run and (keys is None or job.key in keys)

        self._cancel(is_meant)

    def _cancel(self, is_meant: Callable[[_Chain], bool]) -> None:
        for task, chain in list(self._chains.items()):
            if chain.is_at_work and is_meant(chain):
                # Once only: what a call does to clean up must not be cancelled as well.
                chain.is_at_work = False
                task.cancel()

    async def stop(self, grace_seconds: float | None) -> None:
        """Begin nothing more; wait for the calls at work; hand back what takes too long.

        Without a limit it waits for all of them.
        """
        self._is_stopping = True
        self._slots.close()
        self._signal.set()
        await self._feeder
        try:
            while self._ahead:
                await self._store.release(self._ahead.popleft(), due_at=self._clock.now())
        finally:
            await self._end_chains(grace_seconds)

    async def _end_chains(self, grace_seconds: float | None) -> None:
        """Wait for the calls at work, then hand them back; an interruption only shortens it."""
        try:
            if self._chains:
                await asyncio.wait(set(self._chains), timeout=grace_seconds)
        finally:
            while self._chains:
                self.hurry()
                done, _ = await asyncio.wait(set(self._chains), timeout=CLEANUP_SECONDS_MAX)
                if not done:
                    break  # a tool that does not let itself be stopped ends with the process

    @property
    def is_at_work(self) -> bool:
        """Whether a call is under way, or a short wait."""
        return any(chain.is_at_work for chain in self._chains.values())

    def hurry(self) -> None:
        """While it stops: wait no longer for the calls at work, and hand back their jobs."""
        self._cancel(lambda _: True)

    # --- finding work --------------------------------------------------------------------------

    async def _feed(self) -> None:
        while not self._is_stopping:
            await self._until_due()
            wanted = self._slots.free
            if wanted <= 0 or self._ahead:
                self._signal.clear()
                self._fill()
                if not self._is_stopping:
                    await self._signal.wait()
                continue
            self._next_due = None
            batch = await self._lease(wanted + PREFETCH)
            self._ahead.extend(batch.leases)
            self._fill()
            if batch.next_due is not None:
                self.notice(batch.next_due)

    async def _lease(self, limit: int) -> Batch:
        runs = None if self.adopted is None else sorted(self.adopted)
        for attempt in range(LEASE_ATTEMPTS_MAX):
            try:
                return await self._store.lease(
                    now=self._clock.now(), until=LAST_MOMENT, limit=limit, runs=runs
                )
            except StoreError:
                if attempt == LEASE_ATTEMPTS_MAX - 1:
                    raise
                await asyncio.sleep(LEASE_PAUSE_SECONDS)
        raise AssertionError("the last attempt returns or raises")

    def _fill(self) -> None:
        """Put jobs that were leased ahead into the free slots."""
        while self._ahead and self._slots.free > 0:
            self._slots.take(1)
            self._spawn(self._ahead.popleft(), None)

    async def _until_due(self) -> None:
        """Return when a job is due, as far as this worker knows, or when it is to stop."""
        while self._next_due is None or self._next_due > self._clock.now():
            self._signal.clear()
            if self._is_stopping:
                return
            waits: list[asyncio.Future[object]] = [asyncio.ensure_future(self._signal.wait())]
            if self._next_due is not None:
                waits.append(asyncio.ensure_future(self._clock.sleep_until(self._next_due)))
            try:
                done, _ = await asyncio.wait(
                    waits, timeout=POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
            finally:
                for wait in waits:
                    wait.cancel()
            if not done:
                return  # look again, in case nobody told

    # --- doing it ------------------------------------------------------------------------------

    def _spawn(self, lease: Lease, errand: Errand | None) -> None:
        chain = _Chain(lease)
        task = asyncio.create_task(self._guarded(lambda: self._work(chain, errand), chain))
        self._chains[task] = chain
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._chains[task]
        self._slots.give_back()
        self._fill()
        self._changed.set()
        self._signal.set()

    async def _guarded(
        self, work: Callable[[], Awaitable[None]], chain: _Chain | None = None
    ) -> None:
        """A store that fails, or a bug, must reach whoever waits, not vanish with a task.

        What is wrong with one run stops that run alone.
        """
        try:
            await work()
        except asyncio.CancelledError:
            pass
        except Exception as error:
            if chain is not None and not isinstance(error, StoreError):
                await self._ledger.give_up(chain.lease.job.run, error)
            else:
                self.fail(error)

    def fail(self, error: BaseException) -> None:
        """Tell whoever waits for anything here."""
        if not self.failure.done():
            self.failure.set_exception(error)

    async def _work(self, chain: _Chain, errand: Errand | None) -> None:
        if errand is None and await self._is_last_chance(chain.lease):
            await self._alone(chain)
        else:
            await self._go_on(chain, errand)

    async def _go_on(self, chain: _Chain, errand: Errand | None) -> None:
        """Work on a step-run, and then on those it leads to, as long as there are any."""
        try:
            if errand is None:
                boundary = await self._begin(chain)
            else:
                boundary = await self._do(chain, errand)
            while boundary is not None:
                lease = chain.lease
                applied = await self._ledger.apply(
                    lease.job.run, boundary, lease=lease, may_take_over=self._may_take_over(chain)
                )
                if not applied.errands:
                    return
                self.follow(applied.errands[1:])
                chain.lease = applied.errands[0].lease
                boundary = await self._do(chain, applied.errands[0])
        except StaleLease:
            return  # someone else has the job by now; what was done under it is void

    def _may_take_over(self, chain: _Chain) -> bool:
        """Whether the slot goes on with what its step-run leads to: not for long if others wait."""
        chain.turns += 1
        if chain.turns <= CHAIN_TURNS_MAX:
            return True
        someone_waits = self._next_due is not None and self._next_due <= self._clock.now()
        return not someone_waits and not self._ahead

    async def _begin(self, chain: _Chain) -> Boundary | None:
        """What a leased job's state calls for."""
        lease = chain.lease
        live = await self._ledger.live.get(lease.job.run)
        run = live.state.step_run(lease.job.key)
        if run is None or run.status in _BEGINS:
            return Taken(lease.job.key)
        if run.status is not StepRunStatus.EXECUTING:
            return Due(lease.job.key)
        ask = asked_of(live.program, live.state, run)
        if lease.was_parked or ask.tool.kind in CALLED_AGAIN:
            return await self._do(chain, Errand(ask, lease))
        return Lost(lease.job.key)

    async def _do(self, chain: _Chain, errand: Errand) -> Boundary | None:
        """Wait, or call the tool. None when the job was put aside or handed back."""
        ask = errand.ask
        if self._is_stopping:
            await self._hand_back(chain.lease)
            return None
        chain.is_at_work = True
        try:
            if isinstance(ask, Wait):
                await self._clock.sleep_until(ask.until)
                return Due(ask.key)
            answer = await self._answer(ask, chain.lease.job.run)
            if answer is None:
                return None
        except asyncio.CancelledError:
            chain.is_at_work = False
            await self._leave(chain)
            raise
        finally:
            chain.is_at_work = False
        if not isinstance(answer, Parked):
            return Reported(ask.key, answer, ask.started)
        reason = WaitReason(answer.reason)
        park = Park(answer.until, reason, ask.attempt, calls_again=True)
        await self._ledger.park(chain.lease, park)
        return None

    async def _leave(self, chain: _Chain) -> None:
        """A call was stopped: its run or its branch ended, or this worker stops."""
        if self._is_stopping:
            await self._hand_back(chain.lease)

    async def _answer(self, ask: Invoke, run: RunId) -> Answer | None:
        """What the tool says, after short waits it asks for; None once nobody wants it."""
        while True:
            live = await self._ledger.live.get(run)
            wanted = live.state.step_run(ask.key)
            if wanted is None or live.state.is_final:
                return None
            answer = await self._caller.answer(ask, self._site(live))
            if not isinstance(answer, Parked) or not self._is_short(answer):
                return answer
            assert answer.until is not None
            await self._clock.sleep_until(answer.until)

    def _is_short(self, parked: Parked) -> bool:
        if parked.until is None:
            return False
        return parked.until - self._clock.now() < PARK_SECONDS * NANOSECONDS

    def _site(self, live: LiveRun) -> Site:
        if live.scratch is None:
            live.scratch = self._scratch / str(live.id)
        return Site(str(live.id), live.program, live.folder, live.scratch, live.secrets)

    async def _hand_back(self, lease: Lease) -> None:
        """Give an unfinished job to whoever comes next; it has killed nobody."""
        await self._leave_to_others(lease, Lost(lease.job.key, was_handed_back=True))

    async def recover(self, lease: Lease) -> None:
        """Take a job from an owner that died: what was at work is done again."""
        await self._leave_to_others(lease, Lost(lease.job.key))

    async def _leave_to_others(self, lease: Lease, lost: Lost) -> None:
        live = await self._ledger.live.get(lease.job.run)
        run = live.state.step_run(lease.job.key)
        is_at_work = run is not None and run.status is StepRunStatus.EXECUTING
        if is_at_work and run is not None:
            kind = asked_of(live.program, live.state, run).tool.kind
            is_at_work = kind not in CALLED_AGAIN
        with suppress(StaleLease):
            if is_at_work:
                await self._ledger.apply(lease.job.run, lost, lease=lease)
            else:
                due = run.resume_at if run is not None else None
                await self._store.release(lease, due_at=due or self._clock.now())

    # --- step-runs that may kill their worker --------------------------------------------------

    async def _is_last_chance(self, lease: Lease) -> bool:
        """Whether the step-run has lost its workers so often that one more time ends it."""
        live = await self._ledger.live.get(lease.job.run)
        run = live.state.step_run(lease.job.key)
        limit = live.program.limits.deliveries
        return run is not None and run.is_lost and 1 < limit <= run.deliveries

    async def _alone(self, chain: _Chain) -> None:
        """Work on a suspect with nothing beside it, so that it cannot take others down with it."""
        task = asyncio.current_task()
        assert task is not None
        self._suspects.add(task)
        self._changed.set()
        async with self._last_chance:
            self._slots.close()
            try:
                while len(self._chains) > len(self._suspects):
                    self._changed.clear()
                    await self._changed.wait()
                await self._go_on(chain, None)
            finally:
                self._suspects.discard(task)
                if not self._is_stopping:
                    self._slots.open()
