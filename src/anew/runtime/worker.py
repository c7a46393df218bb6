"""Works on jobs: leases them, calls tools, reports, and follows what the engine decides.

The only loop there is: lease, execute, report, decide, append and hand out. Many runs at once, as
many calls at once as there are slots; no wait holds one that other work is ready for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress

from msgspec import Struct

from anew.clock import Clock
from anew.engine.boundaries import Boundary, Due, Lost, Reported, Taken
from anew.engine.moments import NANOSECONDS
from anew.engine.next_actions import Invoke, Wait, asked_of
from anew.engine.outcome import Outcome
from anew.engine.state import StepRunKey, StepRunStatus
from anew.program.kinds import kind_named
from anew.runtime.ledger import Ledger
from anew.runtime.naps import Naps
from anew.runtime.poller import JobPoller
from anew.runtime.roles import ProcessRole
from anew.runtime.run_folders import RunFolders
from anew.runtime.slots import Slots
from anew.runtime.suspects import SUSPECT_PAUSE_SECONDS, Suspects
from anew.runtime.tool_calls import ToolCaller
from anew.runtime.turns import PARK_SECONDS, Assignment, put_aside
from anew.store import (
    Lease,
    Park,
    RunId,
    StaleLease,
    Store,
    StoreError,
    StoreGone,
    WaitReason,
)
from anew.stores.damage import DamagedRun
from anew.tool import Answer, Parked

# After so many turns a slot goes to whoever waits, so that a long run does not keep others out.
CHAIN_TURNS_MAX = 100
# How long a call may take to clean up after itself when it is stopped.
CLEANUP_SECONDS_MAX = 30.0

# Before a job that this process cannot do is tried again, by another one if there is one.
GIVEN_UP_SECONDS = 5.0
# The same for one of a damaged run: somebody has to restore it first.
DAMAGED_SECONDS = 600.0

_LOG = logging.getLogger(__name__)
_BEGINS = (StepRunStatus.SCHEDULED, StepRunStatus.READY)


class _Chain(Struct):
    """What one slot is used for: a step-run, then those it leads to.

    Only a chain that `is_at_work` (a call, or a short wait) is ever cancelled: in the middle of a
    commit nobody could tell whether it happened. `version` is how far the run had come when it was
    leased.
    """

    lease: Lease
    version: int = 0
    is_at_work: bool = False
    turns: int = 0


class Worker:
    """Works on the runs it adopted, or on every run of the store, as its role says."""

    def __init__(
        self,
        store: Store,
        ledger: Ledger,
        caller: ToolCaller,
        clock: Clock,
        *,
        role: ProcessRole,
        slots: Slots,
        folders: RunFolders,
        on_damaged: Callable[[DamagedRun], None],
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._caller = caller
        self._clock = clock
        self._slots = slots
        self._folders = folders
        self._is_shared = role.is_shared
        self._is_lasting = role.is_lasting
        self._on_damaged = on_damaged
        self._chains: dict[asyncio.Task[None], _Chain] = {}
        self._is_stopping = False
        self._naps = Naps(clock, slots)
        self._suspects = Suspects(
            slots,
            clock,
            is_shared=role.is_shared,
            count=lambda: len(self._chains),
            may_reopen=lambda: not self._is_stopping,
        )
        self.failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # Whoever waits gets it from there; where nobody does, the same error was told elsewhere.
        self.failure.add_done_callback(lambda failure: failure.cancelled() or failure.exception())
        self.poller = JobPoller(
            store,
            clock,
            slots=slots,
            begin=self._begin_leased,
            make_room=self._naps.end,
            role=role,
        )
        self._polling = asyncio.create_task(self._guarded(self.poller.run))

    # --- what others report --------------------------------------------------------------------

    def follow(self, assignments: Iterable[Assignment]) -> None:
        """Do what a turn asked for; its slots are taken already."""
        for assignment in assignments:
            self._spawn(assignment.lease, assignment)

    def abandon(self, run: RunId, keys: Collection[StepRunKey] | None = None) -> None:
        """Stop the calls of a run that has ended, or those of step-runs whose branch has.

        Their tools are cancelled, and nobody reports for them.
        """

        def is_meant(chain: _Chain) -> bool:
            job = chain.lease.job
            return job.run == run and (keys is None or job.key in keys)

        self._cancel(is_meant)

    def leases(self) -> list[Lease]:
        """What this worker holds."""
        return [chain.lease for chain in self._chains.values()] + self.poller.ahead

    def stoppable(self, run: RunId) -> list[Lease]:
        """What it holds of a run and could stop, or not begin: the rest is being committed."""
        held = [chain.lease for chain in self._chains.values() if chain.is_at_work]
        return [lease for lease in held + self.poller.ahead if lease.job.run == run]

    def lose(self, lost: Sequence[Lease]) -> None:
        """These belong to someone else by now, or to nobody: stop their calls."""
        self.poller.lose(lost)
        gone = {(lease.job, lease.token) for lease in lost}
        self._cancel(lambda chain: (chain.lease.job, chain.lease.token) in gone)

    def _cancel(self, is_meant: Callable[[_Chain], bool]) -> None:
        for task, chain in list(self._chains.items()):
            if chain.is_at_work and is_meant(chain):
                # Once only: what a call does to clean up must not be cancelled as well.
                chain.is_at_work = False
                task.cancel()

    async def stop(self, grace_seconds: float | None) -> None:
        """Begin nothing more; wait for the calls at work; hand back what takes too long.

        Without a limit it waits for all of them; not at all where nobody can keep their outcomes.
        """
        if self._is_store_gone:
            grace_seconds = 0.0
        self._is_stopping = True
        self._slots.close()
        self.poller.stop()
        try:
            # Not bare: it ends quietly when cancelled, and an interruption would end there with it.
            await asyncio.gather(self._polling)
            async with asyncio.timeout(CLEANUP_SECONDS_MAX if self._is_lasting else None):
                await self.poller.give_back()
        except (StoreError, TimeoutError):
            if not self._is_lasting:
                raise
            _LOG.warning(
                "jobs leased ahead could not be released; others get them when their leases end"
            )
        except asyncio.CancelledError:
            grace_seconds = 0.0  # whoever interrupts this waits for nothing
            raise
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
    def _is_store_gone(self) -> bool:
        failure = self.failure
        if not failure.done() or failure.cancelled():  # whoever waited for it was interrupted
            return False
        return isinstance(failure.exception(), StoreGone)

    @property
    def is_at_work(self) -> bool:
        """Whether a call is under way, or a short wait."""
        return any(chain.is_at_work for chain in self._chains.values())

    def hurry(self) -> None:
        """Wait no longer for the calls at work, and hand back their jobs: it is to stop."""
        self._is_stopping = True
        self._cancel(lambda _: True)

    # --- doing it ------------------------------------------------------------------------------

    def _begin_leased(self, lease: Lease, version: int) -> None:
        self._spawn(lease, None, version=version)

    def _spawn(self, lease: Lease, assignment: Assignment | None, *, version: int = 0) -> None:
        chain = _Chain(lease, version)
        task = asyncio.create_task(self._guarded(lambda: self._work(chain, assignment), chain))
        self._chains[task] = chain
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._chains[task]
        self._slots.give_back()
        self._suspects.look_again()
        self.poller.look_again()

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
            is_of_run = isinstance(error, DamagedRun) or not isinstance(error, StoreError)
            if chain is not None and is_of_run:
                await self._give_up(chain, error)
            elif chain is not None and self._is_lasting and not isinstance(error, StoreGone):
                self._warn(chain, error)  # others go on with it when its lease runs out
            else:
                self.fail(error)

    async def _give_up(self, chain: _Chain, error: Exception) -> None:
        """This process cannot go on with a run; where others share it, perhaps they can."""
        self._warn(chain, error)
        seconds = GIVEN_UP_SECONDS
        if isinstance(error, DamagedRun):
            self._on_damaged(error)
            seconds = DAMAGED_SECONDS
        with suppress(StoreError):  # the lease runs out, and whoever waits for a parent waits on
            if self._is_shared:
                due = self._clock.now() + int(seconds * NANOSECONDS)
                await self._store.release(chain.lease, due_at=due)
            if not self._is_lasting:
                await self._ledger.endings.give_up(chain.lease.job.run, error)

    def _warn(self, chain: _Chain, error: Exception) -> None:
        if self._is_lasting:
            job = chain.lease.job
            _LOG.warning("step %s of run %s cannot continue here: %s", job.key.step, job.run, error)

    def fail(self, error: BaseException) -> None:
        """Tell whoever waits for anything here."""
        if not self.failure.done():
            self.failure.set_exception(error)
            self._ledger.endings.fail(error)

    async def _work(self, chain: _Chain, assignment: Assignment | None) -> None:
        if assignment is not None or not await self._is_last_chance(chain):
            await self._go_on(chain, assignment)
        elif self._suspects.is_better_elsewhere(chain.lease.job):
            due = self._clock.now() + int(SUSPECT_PAUSE_SECONDS * NANOSECONDS)
            await self._store.release(chain.lease, due_at=due)
        else:
            async with self._suspects.one_at_a_time():
                await self._until_alone(chain)
                await self._go_on(chain, None)

    async def _go_on(self, chain: _Chain, assignment: Assignment | None) -> None:
        """Work on a step-run, and then on those it leads to, as long as there are any."""
        try:
            if assignment is None:
                boundary = await self._begin(chain)
            else:
                boundary = await self._do(chain, assignment)
            while boundary is not None:
                lease = chain.lease
                applied = await self._ledger.apply(
                    lease.job.run, boundary, lease=lease, may_take_over=self._may_take_over(chain)
                )
                if not applied.assignments:
                    return
                self.follow(applied.assignments[1:])
                chain.lease = applied.assignments[0].lease
                boundary = await self._do(chain, applied.assignments[0])
        except StaleLease:
            return  # someone else has the job by now; what was done under it is void

    def _may_take_over(self, chain: _Chain) -> bool:
        """Whether the slot goes on with what its step-run leads to: not for long if others wait."""
        chain.turns += 1
        return chain.turns <= CHAIN_TURNS_MAX or not self.poller.someone_waits

    async def _begin(self, chain: _Chain) -> Boundary | None:
        """What a leased job's state calls for."""
        lease = chain.lease
        live = await self._ledger.live.get(lease.job.run, version=chain.version)
        run = live.state.step_run(lease.job.key)
        if run is None or run.status in _BEGINS:
            return Taken(lease.job.key)
        if run.status is not StepRunStatus.EXECUTING:
            return Due(lease.job.key)
        ask = asked_of(live.program, live.state, run)
        if lease.was_parked or kind_named(ask.tool.kind).is_called_again:
            return await self._do(chain, Assignment(ask, lease))
        return Lost(lease.job.key)

    async def _do(self, chain: _Chain, assignment: Assignment) -> Boundary | None:
        """Wait, or call the tool. None when the job was put aside or handed back."""
        ask = assignment.ask
        if self._is_stopping:
            await self._hand_back(chain.lease)
            return None
        chain.is_at_work = True
        try:
            if not isinstance(ask, Invoke):
                has_slept = await self._naps.until(ask.until)
            else:
                answer = await self._answer(ask, chain.lease.job.run)
        except asyncio.CancelledError:
            chain.is_at_work = False
            await self._leave(chain)
            raise
        finally:
            chain.is_at_work = False
        if not isinstance(ask, Invoke):
            if has_slept:
                return Due(ask.key)
            await self._park_wait(chain.lease, ask)
            return None
        if isinstance(answer, Outcome):
            return Reported(ask.key, answer, ask.started)
        if answer is not None:
            reason = WaitReason(answer.reason)
            park = Park(answer.until, reason, ask.attempt, calls_again=True)
            await self._ledger.park(chain.lease, park)
        return None

    async def _park_wait(self, lease: Lease, wait: Wait) -> None:
        """Other work is ready for the slot in which a short wait was slept."""
        live = await self._ledger.live.get(lease.job.run)
        run = live.state.step_run(wait.key)
        if run is not None:
            await self._ledger.park(lease, put_aside(wait, run))

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
            answer = await self._caller.answer(ask, await self._folders.of(live))
            if isinstance(answer, Outcome) or not self._is_short(answer):
                return answer
            assert answer.until is not None
            if not await self._naps.until(answer.until):
                return answer

    def _is_short(self, parked: Parked) -> bool:
        if parked.until is None:
            return False
        return parked.until - self._clock.now() < PARK_SECONDS * NANOSECONDS

    async def _hand_back(self, lease: Lease) -> None:
        """Give an unfinished job to whoever comes next; it has killed nobody."""
        await self._leave_to_others(lease, Lost(lease.job.key, was_handed_back=True))

    async def recover(self, lease: Lease) -> None:
        """Take a job from an owner that died: what was at work is done again."""
        await self._leave_to_others(lease, Lost(lease.job.key))

    async def _leave_to_others(self, lease: Lease, lost: Lost) -> None:
        live = await self._ledger.live.newest(lease.job.run)
        run = live.state.step_run(lease.job.key)
        is_at_work = run is not None and run.status is StepRunStatus.EXECUTING
        if is_at_work and run is not None:
            kind = asked_of(live.program, live.state, run).tool.kind
            is_at_work = not kind_named(kind).is_called_again
        with suppress(StaleLease):
            if is_at_work:
                await self._ledger.apply(lease.job.run, lost, lease=lease)
            else:
                due = run.resume_at if run is not None else None
                await self._store.release(lease, due_at=due or self._clock.now())

    # --- step-runs that may kill their worker --------------------------------------------------

    async def _is_last_chance(self, chain: _Chain) -> bool:
        """Whether the step-run has lost its workers so often that one more time ends it."""
        lease = chain.lease
        live = await self._ledger.live.get(lease.job.run, version=chain.version)
        run = live.state.step_run(lease.job.key)
        limit = live.program.limits.deliveries
        return run is not None and run.is_lost and 1 < limit <= run.deliveries

    async def _until_alone(self, chain: _Chain) -> None:
        chain.is_at_work = True
        try:
            await self._suspects.until_alone()
        except asyncio.CancelledError:
            chain.is_at_work = False
            await self._leave(chain)
            raise
        finally:
            chain.is_at_work = False
