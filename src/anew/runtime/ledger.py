"""Turn what happened into commits, and tell who listens.

Holds the runs in memory and keeps them true to the store: a change the store refuses makes the run
be read again. Knows nothing of tools.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from random import random

from msgspec import Struct

from anew.clock import Clock
from anew.engine.decide import Boundary, Paused, Requested
from anew.engine.events import Event, HumanAnswered, HumanTimedOut
from anew.engine.fold import fold
from anew.engine.secrets import MissingSecret
from anew.engine.state import Key, RunState, RunStatus
from anew.errors import EngineBug
from anew.runtime.ids import RunIds
from anew.runtime.live import LiveRun, LiveRuns, folder_of
from anew.runtime.programs import Document, Programs
from anew.runtime.retrying import Reopening, renamed
from anew.runtime.slots import Slots
from anew.runtime.turns import Desk, Errand, Turn, head_of, reopening_turn, take_turn
from anew.store import (
    Commit,
    JobRef,
    KeyTaken,
    Lease,
    NewRun,
    Park,
    RunId,
    StaleVersion,
    Store,
    WaitReason,
)
from anew.values import Object

# How often a refused turn is decided again before it counts as a mistake of ours.
TURN_ATTEMPTS_MAX = 100
_FOR_OTHERS = frozenset({WaitReason.PERSON, WaitReason.CHILD})

Listener = Callable[[RunId, Sequence[Event]], None]


class Order(Struct, frozen=True):
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
    errands: list[Errand] = []


class Applied(Struct, frozen=True):
    """What followed: things to do now, on slots already taken; and whether anything happened."""

    errands: list[Errand]
    has_moved: bool


NOTHING = Applied([], has_moved=False)


class Ledger:
    """The one way the runtime changes a run."""

    def __init__(
        self,
        store: Store,
        programs: Programs,
        clock: Clock,
        *,
        slots: Slots,
        draw: Callable[[], float] = random,
    ) -> None:
        self._store = store
        self._programs = programs
        self._clock = clock
        self._slots = slots
        self._draw = draw
        self._ids = RunIds(clock)
        self._endings: dict[RunId, asyncio.Future[RunState]] = {}
        self.live = LiveRuns(store, programs)
        self.listeners: list[Listener] = []
        self.on_handed_out: Callable[[int], None] = _ignore
        self.on_ended: Callable[[RunId], None] = _ignore
        self.on_begins: Callable[[RunId], None] = _ignore
        self.on_stopped: Callable[[RunId, Sequence[Key]], None] = _ignore_stopped
        self.on_question: Callable[[], None] = _nothing
        self._given_up: dict[RunId, Exception] = {}

    async def start(self, order: Order) -> Started:
        """A new run, or the one its key names."""
        await self._programs.keep(order.document)
        for _ in range(TURN_ATTEMPTS_MAX):
            live = self._new_run(order)
            await self.live.refresh_secrets(live)
            try:
                turn = self._first_turn(live, order)
                await self._begin(live, turn)
            except KeyTaken as taken:
                return Started(taken.run, is_new=False)
            except MissingSecret as missing:
                self._programs.learn(live.program, missing)
            except StaleVersion:
                continue  # another process drew the same id
            else:
                return Started(live.id, is_new=True, errands=turn.errands)
        raise EngineBug(f"no run of {order.document.program.name} could be begun")

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

    def _new_run(self, order: Order) -> LiveRun:
        document = order.document
        return LiveRun(
            self._ids.next(),
            document.program,
            document.folder,
            RunState(),
            order.parent,
            order.depth,
        )

    def _first_turn(self, live: LiveRun, order: Order) -> Turn:
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
        return take_turn(live, request, self._desk(holds_slot=False), new=new)

    async def reopen(self, beginning: Reopening, key: str | None = None) -> Started:
        """A new run that shares the beginning of another and goes on from there, in one commit."""
        document, program = beginning.document, beginning.document.program
        for _ in range(TURN_ATTEMPTS_MAX):
            run = self._ids.next()
            events = renamed(beginning.events, run)
            state = fold(events)
            live = LiveRun(run, program, folder_of(state, document), state)
            await self.live.refresh_secrets(live)
            cut = Paused(f"begins again at step {beginning.step}", str(beginning.run))
            labels = {"retry_of": str(beginning.run)}
            new = NewRun(program.name, program.digest, key, labels)
            try:
                turn = reopening_turn(live, events, cut, self._desk(holds_slot=False), new=new)
                await self._begin(live, turn)
            except KeyTaken as taken:
                return Started(taken.run, is_new=False)
            except MissingSecret as missing:
                self._programs.learn(program, missing)
            except StaleVersion:
                continue
            else:
                return Started(run, is_new=True)
        raise EngineBug(f"run {beginning.run} could not be reopened")

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

        With a lease the caller holds a slot, and goes on with the first errand itself. Nothing
        happens once the run is not in the state that `is_meant`.
        """
        for _ in range(TURN_ATTEMPTS_MAX):
            live = await self.live.get(run)
            if live.secrets is not None:
                await self.live.refresh_secrets(live)
                if live.is_stale:
                    continue  # refused while we waited: what it says may never have happened
            if is_meant is not None and not is_meant(live.state):
                return NOTHING
            desk = self._desk(holds_slot=lease is not None, may_take_over=may_take_over)
            try:
                turn = take_turn(live, boundary, desk, lease=lease)
            except MissingSecret as missing:
                live.is_stale = True  # it may have been changed half
                self._programs.learn(live.program, missing)
                continue
            if not turn.commit.events and lease is None:
                return NOTHING
            try:
                await self._commit(live, turn, holds_slot=lease is not None)
            except StaleVersion:
                continue
            return Applied(turn.errands, bool(turn.commit.events))
        raise EngineBug(f"run {run} moved on {TURN_ATTEMPTS_MAX} times while a turn was decided")

    async def park(self, lease: Lease, park: Park) -> None:
        """Put a job aside in the middle of its call. Nothing happened that the log would tell."""
        for _ in range(TURN_ATTEMPTS_MAX):
            live = await self.live.get(lease.job.run)
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
            due = now if park.due_at is None else park.due_at
            try:
                await self._commit(live, Turn(commit, [], due), holds_slot=True)
            except StaleVersion:
                continue
            return
        raise EngineBug(f"run {lease.job.run} moved on too often while a job was parked")

    async def ending(self, run: RunId) -> RunState:
        """The state of a run when it has ended, and its end is in the store."""
        given_up = self._given_up.get(run)
        if given_up is not None:
            raise given_up
        future = self._endings.get(run)
        if future is None:
            future = self._endings[run] = asyncio.get_running_loop().create_future()
        try:
            live = await self.live.get(run)
        except BaseException:
            self._endings.pop(run, None)
            raise
        if live.is_ended and not future.done():
            future.set_result(live.state)
        if future.done():
            self._endings.pop(run, None)
        return await asyncio.shield(future)

    async def give_up(self, run: RunId, error: Exception) -> None:
        """This process cannot go on with a run: whoever waits for it, or for a parent, is told."""
        self._given_up[run] = error
        future = self._endings.pop(run, None)
        if future is not None and not future.done():
            future.set_exception(error)
            future.exception()  # it is known, whether or not anyone still waits
        stored = await self._store.load(run)
        if stored is not None and stored.parent is not None:
            await self.give_up(stored.parent.run, error)

    def try_again(self, run: RunId) -> None:
        """Someone wants to go on with a run that was given up."""
        self._given_up.pop(run, None)

    def _desk(self, *, holds_slot: bool, may_take_over: bool = True) -> Desk:
        free = self._slots.free if may_take_over else -1
        return Desk(self._clock.now(), self._draw, free if holds_slot else free - 1)

    async def _commit(self, live: LiveRun, turn: Turn, *, holds_slot: bool) -> None:
        extra = max(0, len(turn.errands) - (1 if holds_slot else 0))
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
            self.on_ended(live.id)
            ended = self._endings.pop(live.id, None)
            if ended is not None and not ended.done():
                ended.set_result(live.state)


def _concerns_people(commit: Commit) -> bool:
    """Whether the run may now wait for nothing but people, or for one of them no longer."""
    aside = [job.reason for job in commit.jobs]
    aside += [commit.park.reason] if commit.park is not None else []
    if not _FOR_OTHERS.isdisjoint(aside) or commit.drop_all:
        return True
    is_heard = any(isinstance(event, HumanAnswered | HumanTimedOut) for event in commit.events)
    return is_heard or commit.head.status is RunStatus.WAITING


def _ignore(_: int) -> None:
    """Nobody wants to know."""


def _ignore_stopped(_: RunId, __: Sequence[Key]) -> None:
    """Nobody wants to know."""


def _nothing() -> None:
    """Nobody wants to know."""
