"""Start runs: decide and commit the first turn of one, or of one that shares another's history.

The same key gives the same run. Knows nothing of what a run does later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from msgspec import Struct

from anew.engine.boundaries import Requested
from anew.engine.fold import fold
from anew.engine.secrets import MissingSecret
from anew.engine.state import RunState
from anew.errors import EngineBug
from anew.expressions import Allowance, TakesLong
from anew.guards.keeper import MissingStates
from anew.runtime.ids import RunIds
from anew.runtime.ledger import TURN_ATTEMPTS_MAX, TURN_OPERATIONS_AT_ONCE, Ledger
from anew.runtime.live_runs import LiveRun
from anew.runtime.programs import Document, Programs
from anew.runtime.shared_history import SharedHistory
from anew.runtime.turns import Assignment, Turn, TurnContext, reopening_turn, take_turn
from anew.store import JobRef, KeyTaken, NewRun, RunId, StaleVersion
from anew.values import Object


class StartRequest(Struct, frozen=True):
    """Which run to start. For `entry`, `continues` and `generation` see `run.requested`.

    Of a `singleton`, one run at a time is unfinished.
    """

    document: Document
    workload: Object
    key: str | None = None
    labels: Mapping[str, str] = {}
    parent: JobRef | None = None
    depth: int = 0
    entry: str | None = None
    continues: str | None = None
    generation: int = 0
    singleton: str | None = None


class Started(Struct, frozen=True):
    """`is_new` is False when a run with this key was there already.

    If it was started with something else, `differs` says what, and `notice` what to do.
    """

    run: RunId
    is_new: bool
    differs: Sequence[str] = ()
    notice: str | None = None


class RunStarter:
    """Of one engine. What a first turn asks for, `follow` does."""

    def __init__(
        self,
        ledger: Ledger,
        programs: Programs,
        ids: RunIds,
        *,
        follow: Callable[[Iterable[Assignment]], None],
    ) -> None:
        self._ledger = ledger
        self._programs = programs
        self._ids = ids
        self._follow = follow

    async def start(self, request: StartRequest) -> Started:
        """A new run, which is worked on if there are slots; or the one its key names."""
        await self._programs.keep(request.document)
        for _ in range(TURN_ATTEMPTS_MAX):
            try:
                live, turn = await self._decided(request)
                await self._ledger.begin(live, turn)
            except KeyTaken as taken:
                return Started(taken.run, is_new=False)
            except StaleVersion:
                continue  # another process drew the same id, or more secrets are needed
            self._follow(turn.assignments)
            return Started(live.id, is_new=True)
        raise EngineBug(f"no run of {request.document.program.name} could be started")

    async def _decided(self, request: StartRequest) -> tuple[LiveRun, Turn]:
        """A new run and its first turn, which is taken in a thread when it is long."""
        ledger = self._ledger
        if ledger.guards.are_wanted:
            await ledger.guards.read()
        for allowance in (Allowance(TURN_OPERATIONS_AT_ONCE), None):
            live = self._new_run(request)
            await ledger.live.refresh_secrets(live)
            ctx = ledger.context(
                allowance=allowance, program=live.program, is_apart=allowance is None
            )
            take = partial(_first_turn, live, request, ctx)
            try:
                turn = take() if allowance else await ledger.patiently(take)
            except MissingStates as missing_states:
                ledger.guards.dropped(ctx.guards)
                ledger.guards.want(missing_states.scopes)
                raise StaleVersion(f"run {live.id} has to be decided with more guards") from None
            except MissingSecret as missing:
                ledger.guards.dropped(ctx.guards)
                self._programs.learn(live.program, missing)
                raise StaleVersion(f"run {live.id} has to be decided with more secrets") from None
            except TakesLong:
                ledger.guards.dropped(ctx.guards)
                continue
            return live, turn
        raise EngineBug("a turn that may take as long as it likes was too long")

    def _new_run(self, request: StartRequest) -> LiveRun:
        program, folder = request.document.program, request.document.folder
        return LiveRun(self._ids.next(), program, folder, RunState(), request.parent, request.depth)

    async def reopen(self, history: SharedHistory, key: str | None = None) -> Started:
        """A new run that shares the history of another and continues from there, in one commit."""
        program, folder = history.document.program, history.folder
        await self._programs.keep(history.document)
        for _ in range(TURN_ATTEMPTS_MAX):
            run = self._ids.next()
            secrets = await self._programs.secrets(program, folder)
            events = history.events_of(run, secrets)
            live = LiveRun(run, program, folder, fold(events), secrets=secrets)
            ctx = self._ledger.context()
            new = NewRun(
                program.name, program.digest, key, history.labels, retry_of=history.retry_of
            )
            try:
                turn = await asyncio.to_thread(
                    reopening_turn, live, events, history.cut(ctx.now), ctx, new=new
                )
                await self._ledger.begin(live, turn)
            except KeyTaken as taken:
                return Started(taken.run, is_new=False)
            except MissingSecret as missing:
                self._programs.learn(program, missing)
            except StaleVersion:
                continue
            else:
                return Started(run, is_new=True)
        raise EngineBug(f"run {history.owner} could not be reopened")


def _first_turn(live: LiveRun, request: StartRequest, ctx: TurnContext) -> Turn:
    new = NewRun(
        program=live.program.name,
        digest=live.program.digest,
        key=request.key,
        labels=request.labels,
        parent=request.parent,
        depth=request.depth,
    )
    requested = Requested(
        str(live.id),
        request.workload,
        request.document.file,
        entry=request.entry,
        continues=request.continues,
        generation=request.generation,
    )
    return take_turn(live, requested, ctx, new=new)
