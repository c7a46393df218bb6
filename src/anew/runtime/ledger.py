"""Turn what happened into commits, and tell who listens.

Holds the runs in memory and keeps them true to the store: a change the store refuses makes the run
be read again. Knows nothing of tools.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from itertools import count
from random import random
from typing import Protocol
from weakref import WeakValueDictionary

from msgspec import Struct
from msgspec.structs import replace

from anew.clock import Clock
from anew.engine.boundaries import Boundary
from anew.engine.events import (
    Event,
    HumanAnswered,
    HumanTimedOut,
    SignalReceived,
    SignalTimedOut,
)
from anew.engine.secrets import MissingSecret
from anew.engine.state import RunState, RunStatus, StepRunKey
from anew.errors import EngineBug
from anew.expressions import Allowance, TakesLong
from anew.guards.keeper import MissingStates
from anew.program.program import Program
from anew.runtime.endings import Endings
from anew.runtime.guards import SharedGuards
from anew.runtime.live_runs import LiveRun, LiveRuns
from anew.runtime.programs import Programs
from anew.runtime.roles import ProcessRole
from anew.runtime.slots import Slots
from anew.runtime.turns import Assignment, Turn, TurnContext, head_of, take_turn
from anew.store import (
    Commit,
    Database,
    Lease,
    Park,
    RunId,
    StaleVersion,
    WaitReason,
)

# How often a refused turn is decided again before it counts as a mistake of ours. Among processes
# that share a run it is no mistake: whoever comes second decides again, after a pause that grows.
TURN_ATTEMPTS_MAX = 100
TURN_PAUSE_SECONDS_MAX = 0.1
# Evaluations of a turn that others wait for: about 10 ms. A longer turn is taken in a thread, one
# after the other: they share the interpreter with whoever answers requests.
TURN_OPERATIONS_AT_ONCE = 5_000
_FOR_OTHERS = frozenset({WaitReason.PERSON, WaitReason.SIGNAL, WaitReason.CHILD})
_HEARD = frozenset({HumanAnswered, HumanTimedOut, SignalReceived, SignalTimedOut})
# What a turn waits for where nobody else takes turns.
_NOBODY: AbstractAsyncContextManager[None] = nullcontext()


class LedgerListener(Protocol):
    """Who learns what the ledger does; of commits once they are durable, in their order."""

    def run_starting(self, run: RunId) -> None:
        """This process is about to commit the first turn of a run."""

    def committed(self, run: RunId, events: Sequence[Event]) -> None:
        """These happened."""

    def job_due(self, at: int) -> None:
        """A job can be worked on then, or a slot is free for one."""

    def branches_ended(self, run: RunId, keys: Sequence[StepRunKey]) -> None:
        """Calls of these step-runs have no use any more."""

    def waits_changed(self) -> None:
        """A run may now wait for nothing but others, or for one of them no longer."""

    def run_ended(self, run: RunId) -> None:
        """It has ended, or could not be started."""


class Applied(Struct, frozen=True):
    """What followed: things to do now, on slots already taken; and what happened, if anything."""

    assignments: list[Assignment]
    has_moved: bool
    events: Sequence[Event] = ()


NOTHING = Applied([], has_moved=False)


class Ledger:
    """The one way the runtime changes a run.

    What it does, one `listener` is told; `endings` are for those who wait for a run.
    """

    def __init__(
        self,
        database: Database,
        programs: Programs,
        clock: Clock,
        *,
        role: ProcessRole,
        slots: Slots,
        listener: LedgerListener,
        guards: SharedGuards,
        draw: Callable[[], float] = random,
    ) -> None:
        self._store = database.store
        self._programs = programs
        self._clock = clock
        self._slots = slots
        self._draw = draw
        self.guards = guards
        self._role = role
        self._is_shared = role.is_shared
        self._listener = listener
        self._pools = None if role.pools is None else frozenset(role.pools)
        self._turns: WeakValueDictionary[RunId, asyncio.Lock] = WeakValueDictionary()
        # Runs that took a long turn: theirs are taken one after the other.
        self._long: set[RunId] = set()
        self._one_long_turn = asyncio.Lock()
        archive = database.archive if role.is_shared else None
        self.live = LiveRuns(database.store, programs, archive)
        self.endings = Endings(self.live, database.archive)

    async def begin(self, live: LiveRun, turn: Turn) -> None:
        """Commit the first turn of a run, which is this process's before anyone can see it."""
        self._listener.run_starting(live.id)
        try:
            await self._commit(live, turn, holds_slot=False)
        except BaseException:
            self._listener.run_ended(live.id)
            raise
        if not live.is_ended:
            self.live.add(live)

    async def apply(
        self,
        run: RunId,
        boundary: Boundary,
        *,
        lease: Lease | None = None,
        may_take_over: bool = True,
        is_meant: Callable[[RunState], bool] | None = None,
    ) -> Applied:
        """Make `boundary` true.

        With a lease the caller holds a slot, and goes on with the first assignment itself. Nothing
        happens once the run is not in the state that `is_meant`.
        """
        for attempt in self._attempts():
            if attempt > 1:
                await self._pause(attempt)
            async with self._turn_of(run):
                try:
                    return await self._try(
                        run, boundary, lease=lease, may_take_over=may_take_over, is_meant=is_meant
                    )
                except StaleVersion:
                    continue
        raise EngineBug(f"run {run} moved on {TURN_ATTEMPTS_MAX} times while a turn was decided")

    async def _try(
        self,
        run: RunId,
        boundary: Boundary,
        *,
        lease: Lease | None,
        may_take_over: bool,
        is_meant: Callable[[RunState], bool] | None,
    ) -> Applied:
        """Decide once; StaleVersion when that has to be done again."""
        # Whoever holds a lease is told by its fence that others were faster; who holds none would
        # take an old state for the answer.
        if self.guards.are_wanted:
            await self.guards.read()
        live = await (self.live.newest(run) if lease is None else self.live.get(run))
        if live.secrets is not None:
            await self.live.refresh_secrets(live)
            if live.is_stale:  # refused while we waited: what it says may never have happened
                raise StaleVersion(f"run {run} was refused meanwhile")
        if is_meant is not None and not is_meant(live.state):
            return NOTHING
        ctx = self.context(
            holds_slot=lease is not None,
            may_take_over=may_take_over,
            allowance=Allowance(TURN_OPERATIONS_AT_ONCE),
            program=live.program,
        )
        turn: Turn | None
        try:
            turn = take_turn(live, boundary, ctx, lease=lease)
        except TakesLong:
            live.is_stale = True
            self.guards.dropped(ctx.guards)
            live, turn = await self._take_beside(run, boundary, ctx, lease, is_meant)
        except BaseException as error:
            live.is_stale = True  # it may have been changed half
            self.guards.dropped(ctx.guards)
            self._learn(live, error)
            raise
        if turn is None:
            return NOTHING
        if not turn.commit.events and lease is None:
            self.guards.refused(turn.commit.guards)
            return NOTHING
        await self._commit(live, turn, holds_slot=lease is not None)
        events = turn.commit.events
        return Applied(turn.assignments, bool(events), events)

    async def _take_beside(
        self,
        run: RunId,
        boundary: Boundary,
        ctx: TurnContext,
        lease: Lease | None,
        is_meant: Callable[[RunState], bool] | None,
    ) -> tuple[LiveRun, Turn | None]:
        """Take a long turn in a thread, on a state that nobody else sees meanwhile.

        None when the run is not in the state that `is_meant` any more.
        """
        if not self._is_alone(run):
            raise StaleVersion(f"run {run} takes a long turn, for which others have to wait")
        live = await self.live.apart(run)
        if is_meant is not None and not is_meant(live.state):
            return live, None
        apart = self.guards.of(live.program, is_apart=True)
        patient = replace(ctx, allowance=None, guards=apart)
        try:
            take = partial(take_turn, live, boundary, patient, lease=lease)
            turn = await self.patiently(take)
        except BaseException as error:
            self._learn(live, error)
            raise
        self.live.add(live)
        return live, turn

    async def patiently(self, take: Callable[[], Turn]) -> Turn:
        """Take a long turn in a thread, after those before it."""
        async with self._one_long_turn:
            return await asyncio.to_thread(take)

    def _is_alone(self, run: RunId) -> bool:
        """Whether this turn keeps others from theirs; if not, the next one of the run will."""
        was_alone = self._is_shared or run in self._long
        self._long.add(run)
        return was_alone

    def _learn(self, live: LiveRun, error: BaseException) -> None:
        if isinstance(error, MissingSecret):
            self._programs.learn(live.program, error)
            raise StaleVersion(f"run {live.id} has to be decided with more secrets") from error
        if isinstance(error, MissingStates):
            self.guards.want(error.scopes)
            raise StaleVersion(f"run {live.id} has to be decided with more guards") from error

    def _turn_of(self, run: RunId) -> AbstractAsyncContextManager[None]:
        """Where others move a run on too, decide upon what is in the store and nothing else.

        The store compares versions. A turn of ours that was decided upon another one, which was
        refused, could otherwise follow a turn of theirs that happens to be as long.
        """
        if not self._is_shared and run not in self._long:
            return _NOBODY
        lock = self._turns.get(run)
        if lock is None:
            lock = self._turns[run] = asyncio.Lock()
        return lock

    async def park(self, lease: Lease, park: Park) -> None:
        """Put a job aside in the middle of its call. Nothing happened that the log would tell."""
        for attempt in self._attempts():
            if attempt > 1:
                await self._pause(attempt)
            async with self._turn_of(lease.job.run):
                live = await self.live.get(lease.job.run)
                try:
                    await self._commit(live, self._parking(live, lease, park), holds_slot=True)
                except StaleVersion:
                    continue
                return
        raise EngineBug(f"run {lease.job.run} moved on too often while a job was suspended")

    def _parking(self, live: LiveRun, lease: Lease, park: Park) -> Turn:
        now = self._clock.now()
        commit = Commit(
            run=live.id,
            expected=live.state.version,
            at=now,
            events=(),
            head=head_of(live, now),
            lease=lease,
            park=park,
        )
        # What it waits for may have come while it was on its way: then it is due now.
        return Turn(commit, [], now if park.due_at is None else park.due_at)

    def _attempts(self) -> Iterable[int]:
        return count() if self._is_shared else range(TURN_ATTEMPTS_MAX)

    async def _pause(self, attempt: int) -> None:
        """Let others who share the run go on, before a turn they have refused more than once."""
        if self._is_shared:
            most = min(TURN_PAUSE_SECONDS_MAX, 0.001 * 2 ** min(attempt, 10))
            await asyncio.sleep(most * random())

    def context(
        self,
        *,
        holds_slot: bool = False,
        may_take_over: bool = True,
        allowance: Allowance | None = None,
        program: Program | None = None,
        is_apart: bool = False,
    ) -> TurnContext:
        """What a turn of `program` brings along; `is_apart`: it is taken beside others."""
        free, now = self._slots.free if may_take_over else -1, self._clock.now()
        slots = free if holds_slot else free - 1
        return TurnContext(
            now,
            self._draw,
            slots,
            self._pools,
            self._role.lease_end(now),
            allowance,
            parks_all=self._slots.are_contended,
            guards=None if program is None else self.guards.of(program, is_apart=is_apart),
        )

    async def _commit(self, live: LiveRun, turn: Turn, *, holds_slot: bool) -> None:
        extra = max(0, len(turn.assignments) - (1 if holds_slot else 0))
        self._slots.take(extra)
        try:
            await self._store.commit(turn.commit)
        except BaseException:
            # What was decided may not be true; whoever decided on top of it is refused as well.
            live.is_stale = True
            self.guards.refused(turn.commit.guards)
            if extra:
                self._slots.give_back(extra)
                self._listener.job_due(self._clock.now())  # others may use them
            raise
        self.guards.committed(turn.guards)
        self._report(live, turn)

    def _report(self, live: LiveRun, turn: Turn) -> None:
        listener, commit = self._listener, turn.commit
        self.live.moved(live.id)
        if commit.events:
            listener.committed(live.id, commit.events)
        if turn.next_due is not None:
            listener.job_due(turn.next_due)
        if commit.wakes:
            listener.job_due(commit.at)
        if turn.stopped:
            listener.branches_ended(live.id, turn.stopped)
        if turn.stopped or _concerns_people(commit):
            listener.waits_changed()
        if commit.drop_all:
            live.is_ended = True
            self.live.forget(live.id)
            self._long.discard(live.id)
            listener.run_ended(live.id)
            self.endings.report(live.id, live.state)


def _concerns_people(commit: Commit) -> bool:
    """Whether the run may now wait for nothing but others, or for one of them no longer."""
    if commit.drop_all or commit.head.status is RunStatus.WAITING:
        return True
    aside = [job.reason for job in commit.jobs]
    if commit.park is not None:
        aside.append(commit.park.reason)
    is_aside = not _FOR_OTHERS.isdisjoint(aside)
    return is_aside or not _HEARD.isdisjoint(map(type, commit.events))
