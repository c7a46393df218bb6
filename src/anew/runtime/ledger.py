"""Turn what happened into commits, and tell who listens.

Holds the runs in memory and keeps them true to the store: a change the store refuses makes the run
be read again. Knows nothing of tools.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from functools import partial
from itertools import count
from random import random
from weakref import WeakValueDictionary

from msgspec import Struct
from msgspec.structs import replace

from anew.clock import Clock
from anew.engine.boundaries import Boundary, Requested
from anew.engine.events import (
    Event,
    HumanAnswered,
    HumanTimedOut,
    SignalReceived,
    SignalTimedOut,
)
from anew.engine.fold import fold
from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.engine.secrets import MissingSecret
from anew.engine.state import RunState, RunStatus, StepRunKey
from anew.errors import EngineBug
from anew.expressions import Allowance, TakesLong
from anew.runtime.ids import RunIds
from anew.runtime.live_runs import LiveRun, LiveRuns
from anew.runtime.programs import Document, Programs
from anew.runtime.shared_history import SharedHistory
from anew.runtime.slots import Slots
from anew.runtime.turns import Assignment, Turn, TurnContext, head_of, reopening_turn, take_turn
from anew.store import (
    Commit,
    Database,
    JobRef,
    KeyTaken,
    Lease,
    NewRun,
    Park,
    RunId,
    StaleVersion,
    WaitReason,
)
from anew.values import Object

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

Listener = Callable[[RunId, Sequence[Event]], None]


class StartRequest(Struct, frozen=True):
    """A wish for a run. For `entry`, `continues` and `generation` see `run.requested`."""

    document: Document
    workload: Object
    key: str | None = None
    labels: Mapping[str, str] = {}
    parent: JobRef | None = None
    depth: int = 0
    entry: str | None = None
    continues: str | None = None
    generation: int = 0


class Started(Struct, frozen=True):
    """`is_new` is False when a run with this key was there already."""

    run: RunId
    is_new: bool
    assignments: list[Assignment] = []


class Applied(Struct, frozen=True):
    """What followed: things to do now, on slots already taken; and what happened, if anything."""

    assignments: list[Assignment]
    has_moved: bool
    events: Sequence[Event] = ()


class _Ending(Struct):
    """What is known once a run has ended, and how many wait to know it."""

    future: asyncio.Future[RunState]
    waiters: int = 0

    def fail(self, error: BaseException) -> None:
        if not self.future.done():
            self.future.set_exception(error)
            self.future.exception()  # it is known, whether or not anyone still waits


NOTHING = Applied([], has_moved=False)


class Ledger:
    """The one way the runtime changes a run.

    `lease_seconds` is how long a worker may keep a job before it must say that it is alive: None
    where one process works alone, and nobody else moves its runs on.
    """

    def __init__(
        self,
        database: Database,
        programs: Programs,
        clock: Clock,
        *,
        slots: Slots,
        draw: Callable[[], float] = random,
        pools: Iterable[str] | None = None,
        lease_seconds: float | None = None,
        process: int | None = None,
    ) -> None:
        self._store = database.store
        self._archive = database.archive
        self._programs = programs
        self._clock = clock
        self._slots = slots
        self._draw = draw
        self._pools = None if pools is None else frozenset(pools)
        self._lease_seconds = lease_seconds
        self._turns: WeakValueDictionary[RunId, asyncio.Lock] = WeakValueDictionary()
        self._ids = RunIds(clock, process)
        self._endings: dict[RunId, _Ending] = {}
        # Runs that took a long turn: theirs are taken one after the other.
        self._long: set[RunId] = set()
        self._one_long_turn = asyncio.Lock()
        archive = None if lease_seconds is None else database.archive
        self.live = LiveRuns(database.store, programs, archive)
        self.listeners: list[Listener] = []
        self.on_handed_out: Callable[[int], None] = _ignore
        self.on_ended: Callable[[RunId], None] = _ignore
        self.on_begins: Callable[[RunId], None] = _ignore
        self.on_stopped: Callable[[RunId, Sequence[StepRunKey]], None] = _ignore_stopped
        self.on_question: Callable[[], None] = _nothing
        self._given_up: dict[RunId, Exception] = {}
        self._failure: BaseException | None = None

    async def start(self, order: StartRequest) -> Started:
        """A new run, or the one its key names."""
        await self._programs.keep(order.document)
        for _ in range(TURN_ATTEMPTS_MAX):
            try:
                live, turn = await self._decided_first(order)
                await self._begin(live, turn)
            except KeyTaken as taken:
                return Started(taken.run, is_new=False)
            except StaleVersion:
                continue  # another process drew the same id, or more secrets are needed
            else:
                return Started(live.id, is_new=True, assignments=turn.assignments)
        raise EngineBug(f"no run of {order.document.program.name} could be begun")

    async def _decided_first(self, order: StartRequest) -> tuple[LiveRun, Turn]:
        """A new run and its first turn, which is taken in a thread when it is long."""
        for allowance in (Allowance(TURN_OPERATIONS_AT_ONCE), None):
            live = self._new_run(order)
            await self.live.refresh_secrets(live)
            take = partial(self._first_turn, live, order, self._context(allowance=allowance))
            try:
                turn = take() if allowance else await self._patiently(take)
            except MissingSecret as missing:
                self._programs.learn(live.program, missing)
                raise StaleVersion(f"run {live.id} has to be decided with more secrets") from None
            except TakesLong:
                continue
            return live, turn
        raise EngineBug("a turn that may take as long as it likes was too long")

    async def _begin(self, live: LiveRun, turn: Turn) -> None:
        """Commit the first turn of a run, which is this process's before anyone can see it."""
        self.on_begins(live.id)
        try:
            await self._commit(live, turn, holds_slot=False)
        except BaseException:
            self.on_ended(live.id)
            raise
        if not live.is_ended:
            self.live.add(live)

    def _new_run(self, order: StartRequest) -> LiveRun:
        document = order.document
        return LiveRun(
            self._ids.next(),
            document.program,
            document.folder,
            RunState(),
            order.parent,
            order.depth,
        )

    def _first_turn(self, live: LiveRun, order: StartRequest, ctx: TurnContext) -> Turn:
        new = NewRun(
            program=live.program.name,
            digest=live.program.digest,
            key=order.key,
            labels=order.labels,
            parent=order.parent,
            depth=order.depth,
        )
        request = Requested(
            str(live.id),
            order.workload,
            order.document.file,
            entry=order.entry,
            continues=order.continues,
            generation=order.generation,
        )
        return take_turn(live, request, ctx, new=new)

    async def reopen(self, beginning: SharedHistory, key: str | None = None) -> Started:
        """A new run that shares the beginning of another and goes on from there, in one commit."""
        program, folder = beginning.document.program, beginning.folder
        await self._programs.keep(beginning.document)
        for _ in range(TURN_ATTEMPTS_MAX):
            run = self._ids.next()
            secrets = await self._programs.secrets(program, folder)
            events = beginning.told_of(run, secrets)
            live = LiveRun(run, program, folder, fold(events), secrets=secrets)
            ctx = self._context()
            new = NewRun(
                program.name, program.digest, key, beginning.labels, retry_of=beginning.retry_of
            )
            try:
                turn = await asyncio.to_thread(
                    reopening_turn, live, events, beginning.cut(ctx.now), ctx, new=new
                )
                await self._begin(live, turn)
            except KeyTaken as taken:
                return Started(taken.run, is_new=False)
            except MissingSecret as missing:
                self._programs.learn(program, missing)
            except StaleVersion:
                continue
            else:
                return Started(run, is_new=True)
        raise EngineBug(f"run {beginning.owner} could not be reopened")

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
        live = await (self.live.newest(run) if lease is None else self.live.get(run))
        if live.secrets is not None:
            await self.live.refresh_secrets(live)
            if live.is_stale:  # refused while we waited: what it says may never have happened
                raise StaleVersion(f"run {run} was refused meanwhile")
        if is_meant is not None and not is_meant(live.state):
            return NOTHING
        ctx = self._context(
            holds_slot=lease is not None,
            may_take_over=may_take_over,
            allowance=Allowance(TURN_OPERATIONS_AT_ONCE),
        )
        turn: Turn | None
        try:
            turn = take_turn(live, boundary, ctx, lease=lease)
        except TakesLong:
            live.is_stale = True
            live, turn = await self._take_beside(run, boundary, ctx, lease, is_meant)
        except BaseException as error:
            live.is_stale = True  # it may have been changed half
            self._learn(live, error)
            raise
        if turn is None:
            return NOTHING
        if not turn.commit.events and lease is None:
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
        patient = replace(ctx, allowance=None)
        try:
            take = partial(take_turn, live, boundary, patient, lease=lease)
            turn = await self._patiently(take)
        except BaseException as error:
            self._learn(live, error)
            raise
        self.live.add(live)
        return live, turn

    async def _patiently(self, take: Callable[[], Turn]) -> Turn:
        async with self._one_long_turn:
            return await asyncio.to_thread(take)

    def _is_alone(self, run: RunId) -> bool:
        """Whether this turn keeps others from theirs; if not, the next one of the run will."""
        was_alone = self._lease_seconds is not None or run in self._long
        self._long.add(run)
        return was_alone

    def _learn(self, live: LiveRun, error: BaseException) -> None:
        if isinstance(error, MissingSecret):
            self._programs.learn(live.program, error)
            raise StaleVersion(f"run {live.id} has to be decided with more secrets") from error

    def _turn_of(self, run: RunId) -> AbstractAsyncContextManager[None]:
        """Where others move a run on too, decide upon what is in the store and nothing else.

        The store compares versions. A turn of ours that was decided upon another one, which was
        refused, could otherwise follow a turn of theirs that happens to be as long.
        """
        if self._lease_seconds is None and run not in self._long:
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
        raise EngineBug(f"run {lease.job.run} moved on too often while a job was parked")

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
        return range(TURN_ATTEMPTS_MAX) if self._lease_seconds is None else count()

    async def _pause(self, attempt: int) -> None:
        """Let others who share the run go on, before a turn they have refused more than once."""
        if self._lease_seconds is not None:
            most = min(TURN_PAUSE_SECONDS_MAX, 0.001 * 2 ** min(attempt, 10))
            await asyncio.sleep(most * random())

    async def ending(self, run: RunId) -> RunState:
        """The state of a run when it has ended, and its end is in the store.

        Raises what keeps it from ending here.
        """
        given_up = self._given_up.get(run)
        if given_up is not None:
            raise given_up.with_traceback(None)
        ending = self._endings.get(run)
        if ending is None:
            ending = self._endings[run] = _Ending(asyncio.get_running_loop().create_future())
        ending.waiters += 1
        try:
            await self.look(run)
            if self._failure is not None and not ending.future.done():
                raise self._failure.with_traceback(None)
            return await asyncio.shield(ending.future)
        finally:
            ending.waiters -= 1
            if not ending.waiters and self._endings.get(run) is ending:
                del self._endings[run]

    @property
    def awaited(self) -> list[RunId]:
        """The runs whose end somebody here waits for."""
        return list(self._endings)

    async def look(self, run: RunId) -> None:
        """Tell those who wait for a run if it has ended, here or elsewhere."""
        if run in self._endings:
            live = await self.live.newest(run)
            if live.is_ended:
                self._tell_ended(run, live.state)

    def _tell_ended(self, run: RunId, state: RunState) -> None:
        ending = self._endings.pop(run, None)
        if ending is not None and not ending.future.done():
            ending.future.set_result(state)

    async def give_up(self, run: RunId, error: Exception) -> None:
        """This process cannot go on with a run: whoever waits for it, or for a parent, is told."""
        self._given_up[run] = error
        ending = self._endings.pop(run, None)
        if ending is not None:
            ending.fail(error)
        row = await self._archive.run(run)
        if row is not None and row.parent is not None:
            await self.give_up(row.parent.run, error)

    def fail(self, error: BaseException) -> None:
        """Nothing can go on here: whoever waits for any run is told."""
        self._failure = error
        for ending in self._endings.values():
            ending.fail(error)
        self._endings.clear()

    def try_again(self, run: RunId) -> None:
        """Someone wants to go on with a run that was given up."""
        self._given_up.pop(run, None)

    def lease_end(self, now: int) -> int:
        """Until when a job that is taken now is kept."""
        if self._lease_seconds is None:
            return LAST_MOMENT
        return now + int(self._lease_seconds * NANOSECONDS)

    def _context(
        self,
        *,
        holds_slot: bool = False,
        may_take_over: bool = True,
        allowance: Allowance | None = None,
    ) -> TurnContext:
        free, now = self._slots.free if may_take_over else -1, self._clock.now()
        slots = free if holds_slot else free - 1
        return TurnContext(now, self._draw, slots, self._pools, self.lease_end(now), allowance)

    async def _commit(self, live: LiveRun, turn: Turn, *, holds_slot: bool) -> None:
        extra = max(0, len(turn.assignments) - (1 if holds_slot else 0))
        self._slots.take(extra)
        try:
            await self._store.commit(turn.commit)
        except BaseException:
            # What was decided may not be true; whoever decided on top of it is refused as well.
            live.is_stale = True
            if extra:
                self._slots.give_back(extra)
                self.on_handed_out(self._clock.now())  # others may use them
            raise
        self._tell(live, turn)

    def _tell(self, live: LiveRun, turn: Turn) -> None:
        self.live.moved(live.id)
        if turn.commit.events:
            for listener in self.listeners:
                with suppress(Exception):  # who only looks on must not harm the run
                    listener(live.id, turn.commit.events)
        if turn.next_due is not None:
            self.on_handed_out(turn.next_due)
        if turn.commit.wakes:
            self.on_handed_out(turn.commit.at)
        if turn.stopped:
            self.on_stopped(live.id, turn.stopped)
        if turn.stopped or _concerns_people(turn.commit):
            self.on_question()
        if turn.commit.drop_all:
            live.is_ended = True
            self.live.forget(live.id)
            self._long.discard(live.id)
            self.on_ended(live.id)
            self._tell_ended(live.id, live.state)


def _concerns_people(commit: Commit) -> bool:
    """Whether the run may now wait for nothing but others, or for one of them no longer."""
    if commit.drop_all or commit.head.status is RunStatus.WAITING:
        return True
    aside = [job.reason for job in commit.jobs]
    if commit.park is not None:
        aside.append(commit.park.reason)
    is_aside = not _FOR_OTHERS.isdisjoint(aside)
    return is_aside or not _HEARD.isdisjoint(map(type, commit.events))


def _ignore(_: int) -> None:
    """Nobody wants to know."""


def _ignore_stopped(_: RunId, __: Sequence[StepRunKey]) -> None:
    """Nobody wants to know."""


def _nothing() -> None:
    """Nobody wants to know."""
