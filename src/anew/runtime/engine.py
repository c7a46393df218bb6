"""A whole engine in one process: starts runs, works on them, and takes orders about them.

The process owns its database. Whatever an earlier owner was doing when it died is found by its
leases, which are void, and done again as the log says.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from random import random
from typing import TYPE_CHECKING, Any

import msgspec

from anew.clock import Clock
from anew.credentials import Keychain
from anew.credentials.tool import SecretsTool
from anew.engine.boundaries import Cancelled, Paused, Resumed
from anew.engine.moments import LAST_MOMENT, NANOSECONDS
from anew.engine.state import FINAL, RunState, RunStatus, StepRunKey
from anew.errors import AnewError, ConfigError, EngineBug, ProgramError
from anew.runtime.child_tool import ChildTool
from anew.runtime.coordination import Coordinator
from anew.runtime.damage import Damages
from anew.runtime.dropping import parent_of_dropped
from anew.runtime.families import families, unfinished_runs
from anew.runtime.forks import ForkRequest, Forks
from anew.runtime.interviewers import Interviewer
from anew.runtime.keys import KeyInUse
from anew.runtime.ledger import Ledger, Listener, Started, StartRequest
from anew.runtime.live_runs import LiveRun
from anew.runtime.people import People
from anew.runtime.programs import Document, Programs
from anew.runtime.restarts import RestartTool
from anew.runtime.run_folders import RunFolders
from anew.runtime.signals import Signals
from anew.runtime.sleep_tool import SleepTool
from anew.runtime.slots import Slots
from anew.runtime.tool_calls import ToolCaller
from anew.runtime.toolbox import Toolbox
from anew.runtime.wait_skips import WaitSkipper
from anew.runtime.worker import Worker
from anew.store import Database, RunId, RunRow, StoreError
from anew.stores.damage import DamagedRun
from anew.values import Object
from anew.weight import problem_of

if TYPE_CHECKING:
    from anew.languages.dot.extensions import Extensions

_LOG = logging.getLogger(__name__)

# Calls that mostly wait for the network; Python code has processes of its own besides.
SLOTS = 32
# A request holds what a person or a program says about one run.
PAYLOAD_BYTES_MAX = 10 * 1024 * 1024
# How long the files of a run that ended are kept where nobody prunes them.
SCRATCH_SECONDS = 24 * 3600
# How long calls at work may go on when the process is asked to stop.
GRACE_SECONDS = 5.0


class WorkloadTooLarge(ConfigError):
    """A request may not lay so much over a workload."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"the payload has {size:,} bytes; the limit (ANEW_PAYLOAD_BYTES_MAX) is {limit:,}"
        )
        self.size = size
        self.limit = limit


class Engine:
    """Make one inside a running event loop; `stop` it when done.

    `works_on_all` makes every unfinished run of the database its own, not only those it is told of.
    An `interviewer` is asked the questions of every run that is worked on here. Documents are
    compiled with the `extensions`, those of the catalog as well. It takes jobs of `pools` only,
    where they are given. With `lease_seconds` others work on the database as well; without, this
    process is alone. `process` is its number in the ids of its runs; without it chance gives one.
    """

    def __init__(
        self,
        database: Database,
        scratch: Path,
        *,
        clock: Clock | None = None,
        slots: int = SLOTS,
        toolbox: Toolbox | None = None,
        draw: Callable[[], float] = random,
        works_on_all: bool = False,
        interviewer: Interviewer | None = None,
        extensions: Extensions | None = None,
        pools: Sequence[str] | None = None,
        lease_seconds: float | None = None,
        process: int | None = None,
    ) -> None:
        clock = clock or database.clock
        places = Slots(slots)
        self.slots, self.pools = places, pools
        self.database = database
        self._scratch = scratch
        self._toolbox = toolbox or Toolbox()
        self.keychain = Keychain(database.vault)
        self.programs = Programs(database.catalog, self.keychain, clock, extensions=extensions)
        self.ledger = Ledger(
            database,
            self.programs,
            clock,
            slots=places,
            draw=draw,
            pools=pools,
            lease_seconds=lease_seconds,
            process=process,
        )
        self.worker = Worker(
            database.store,
            self.ledger,
            ToolCaller(self._toolbox, self.keychain, clock),
            clock,
            slots=places,
            sites=RunFolders(
                scratch,
                self.programs,
                is_shared=lease_seconds is not None,
                has_mounts=self._toolbox.sandbox.has_mounts,
            ),
            adopted=None if works_on_all else set(),
            pools=pools,
            is_shared=lease_seconds is not None,
            is_lasting=lease_seconds is not None and works_on_all,
        )
        self._add_own_tools(clock)
        self._heed_others(clock, interviewer)
        self.forks = Forks(
            database, self.programs, self.ledger, adopt=self.adopt, cancel=self.cancel
        )
        self.damages = Damages()
        self.worker.on_damaged = self.damages.keep
        self._is_stopped = False
        self.before_stop: Callable[[], Awaitable[None]] | None = None
        self._ours: set[RunId] = set()
        self._starting: set[asyncio.Task[Started]] = set()
        self._clearing: set[asyncio.Task[None]] = set()
        self._listen_to_ledger()
        self._sharing = self._share(clock, pools, lease_seconds)

    def _heed_others(self, clock: Clock, interviewer: Interviewer | None) -> None:
        """People answer and skip waits, and signals come from anywhere."""
        database, redactor = self.database, self.keychain.redactor
        self.people = People(
            database,
            self.ledger,
            clock,
            wait=self.wait,
            fail=self.worker.fail,
            redact=redactor.redact_text,
            interviewer=interviewer,
        )
        self.signals = Signals(
            database,
            self.ledger,
            redact=redactor.redact_outcome,
            payload_bytes_max=payload_bytes_max,
        )
        self.skipping = WaitSkipper(database, self.ledger, clock, redact=redactor.redact_text)

    def _share(
        self, clock: Clock, pools: Sequence[str] | None, lease_seconds: float | None
    ) -> Coordinator | None:
        """Heed what others do, unless this process is alone."""
        if lease_seconds is None:
            return None
        return Coordinator(
            self.database,
            self.worker,
            self.ledger,
            self.people,
            clock=clock,
            pools=pools,
            lease_seconds=lease_seconds,
            end_orphan=self._end_orphan,
            tidy=self._tidy,
        )

    def _listen_to_ledger(self) -> None:
        self.ledger.on_begins = self._own
        self.ledger.on_ended = self._forget
        self.ledger.on_stopped = self._stop_branches
        self.ledger.on_question = self.people.look_again
        self.listen(self.people.interviews.hear)

    def _add_own_tools(self, clock: Clock) -> None:
        """Those that need to know of runs."""
        archive = self.database.archive
        self._toolbox.add("sleep", SleepTool(clock))
        self._toolbox.add("secrets", SecretsTool(self.keychain))
        children = ChildTool(
            archive, self.ledger, self.programs, start=self._start_child, cancel=self.cancel
        )
        self._toolbox.add("playbook", children)
        restarts = RestartTool(
            archive, self.ledger, self.programs, start=self._start_child, adopt=self.adopt
        )
        self._toolbox.add("restart", restarts)

    def listen(self, listener: Listener) -> None:
        """Be told the events of every commit, in order, once they are durable."""
        self.ledger.listeners.append(listener)

    async def register(self, document: Document) -> int:
        """Keep a document under its name; its version."""
        return await self.programs.register(document)

    async def start(self, order: StartRequest) -> Started:
        """Start a run and work on it; a run its key names already is gone on with."""
        check_workload(order.workload)
        started = await self._begin(order)
        if not started.is_new:
            await self._check_same(started.run, order)
            await self.adopt([started.run])
        return started

    async def _check_same(self, run: RunId, order: StartRequest) -> None:
        """A key names one run; it cannot mean a run of another program."""
        row = await self.database.archive.run(run)
        if row is not None and row.program != order.document.program.name:
            raise KeyInUse(
                f"the key {order.key!r} belongs to run {run} of program {row.program!r}. "
                "Choose another key."
            )

    async def _begin(self, order: StartRequest) -> Started:
        started = await self.ledger.start(order)
        self.worker.follow(started.assignments)
        return started

    async def _start_child(self, order: StartRequest) -> Started:
        """Start a run for a tool, which may be cancelled meanwhile: the start is not."""
        task = asyncio.create_task(self._begin_child(order))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)
        return await asyncio.shield(task)

    async def _begin_child(self, order: StartRequest) -> Started:
        """Begin a run, and end it again if its parent waits for it no longer.

        Whoever ends a parent looks for its children afterwards, so that one of the two finds out.
        """
        started = await self._begin(order)
        if self._sharing is not None and order.parent is not None:
            parent = await self.ledger.live.newest(order.parent.run)
            if parent.state.is_final or parent.state.step_run(order.parent.key) is None:
                self._clear(self._cancel_orphan_of(parent.id, started.run))
        return started

    async def _end_orphan(self, live: LiveRun) -> None:
        """Cancel a run whose parent ended, if who ended it died before it could."""
        assert live.parent is not None
        parent = await self.ledger.live.newest(live.parent.run)
        if parent.state.is_final or parent.state.step_run(live.parent.key) is None:
            await self._cancel_orphan_of(parent.id, live.id)

    async def _cancel_orphan_of(self, parent: RunId, child: RunId) -> None:
        await self.cancel(child, f"its parent run {parent} waits for it no longer")

    async def _finish_starting(self) -> None:
        if self._starting:
            await asyncio.wait(set(self._starting))

    async def adopt(self, runs: Iterable[RunId]) -> None:
        """Work on these runs and their children, and on what a dead owner left undone in them.

        Only what this process has not worked on can be a dead owner's.
        """
        wanted = await self._open(runs)
        for run in wanted:
            self.ledger.try_again(run)
        family = await self._without_orphans(await families(self.database.archive, wanted))
        strange = [run for run in family if run not in self._ours]
        self._ours.update(strange)
        try:
            if strange:
                for lease in await self.database.store.expired(self._dead(), runs=strange):
                    await self.worker.recover(lease)
        except BaseException:
            self._ours.difference_update(strange)  # what is not recovered is still to be
            raise
        self.worker.poller.adopt(family)
        for run in family:
            self.people.interviews.begin(run)

    def _dead(self) -> int:
        """Leases that ended before this are nobody's: all of them, where this process is alone."""
        return LAST_MOMENT + 1 if self._sharing is None else self.database.clock.now()

    async def _without_orphans(self, family: list[RunId]) -> list[RunId]:
        """Those of a family that are waited for; the others are cancelled.

        A branch may have ended in a process that died before it cancelled the branch's children.
        """
        kept = []
        for run in family:
            row = await self.database.archive.run(run)
            if row is not None and row.parent is not None and row.parent.run in family:
                parent = await self.ledger.live.newest(row.parent.run)
                if parent.state.step_run(row.parent.key) is None:
                    await self.cancel(run, f"its parent run {parent.id} waits for it no longer")
                    continue
            kept.append(run)
        return kept

    async def _open(self, runs: Iterable[RunId]) -> list[RunId]:
        """Those that have not ended."""
        found = []
        for run in list(runs):
            row = await self.database.archive.run(run)
            if row is not None and row.status not in FINAL:
                found.append(run)
        return found

    async def adopt_all(self) -> dict[RunId, AnewError]:
        """Go on with every unfinished run that is not paused; those with which that is impossible.

        A child whose parent was cancelled by a process that died over it is cancelled as well.
        """
        problems: dict[RunId, AnewError] = {}
        for row in await self.unfinished(None):
            try:
                if row.parent is not None:
                    await self._cancel_orphan(row)
                elif row.status is not RunStatus.PAUSED:
                    await self.adopt([row.run])
            except (ConfigError, ProgramError, EngineBug, DamagedRun) as error:
                problems[row.run] = error
        return problems

    async def _cancel_orphan(self, row: RunRow) -> None:
        assert row.parent is not None
        parent = await self.database.archive.run(row.parent.run)
        if parent is None or parent.status in FINAL:
            await self.cancel(row.run, f"its parent run {row.parent.run} has ended")

    def _own(self, run: RunId) -> None:
        if self.worker.poller.adopted is not None:  # else they may end anywhere, and all are ours
            self._ours.add(run)
        self.worker.poller.own(run)

    def _forget(self, run: RunId) -> None:
        self._ours.discard(run)
        self.worker.poller.disown(run)
        self._toolbox.run_ended(str(run))

    async def wait(self, run: RunId) -> RunState:
        """The run's state when it has ended. A store that fails meanwhile is raised here."""
        return await self.ledger.ending(run)

    async def cancel(self, run: RunId, reason: str | None = None) -> bool:
        """End a run and its children, and stop their calls; False when they had ended already."""
        has_moved = (await self.ledger.apply(run, Cancelled(reason))).has_moved
        self.worker.abandon(run)
        await self._finish_starting()
        for child in await self.unfinished(run):
            has_moved = await self.cancel(child.run, f"its parent run {run} ended") or has_moved
        return has_moved

    def _stop_branches(self, run: RunId, keys: Sequence[StepRunKey]) -> None:
        """The branches of these step-runs are over: stop their calls, cancel their children."""
        self.worker.abandon(run, keys)
        self._clear(self._cancel_children(run, frozenset(keys)))

    async def _cancel_children(self, run: RunId, keys: frozenset[StepRunKey]) -> None:
        await self._finish_starting()
        for child in await self.unfinished(run):
            if child.parent is not None and child.parent.key in keys:
                await self.cancel(child.run, f"its branch of run {run} ended")

    def _clear(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it beside all else. Where it fails on a shared store, `_end_orphan` does it later."""
        task = asyncio.create_task(work)
        self._clearing.add(task)
        task.add_done_callback(self._cleared)

    def _cleared(self, task: asyncio.Task[None]) -> None:
        self._clearing.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, StoreError) and self._sharing is not None:
            _LOG.warning("%s", error)
        elif error is not None:
            self.worker.fail(error)

    async def pause(self, run: RunId, reason: str | None = None) -> bool:
        """Start nothing more in a run; calls at work go on to their outcome."""
        return (await self.ledger.apply(run, Paused(reason))).has_moved

    async def resume(self, run: RunId) -> bool:
        """Go on with a run: un-pause it, and work on it. False when it has ended."""
        live = await self.ledger.live.newest(run)
        if live.state.is_final:
            return False
        await self.adopt([run])
        await self.ledger.apply(run, Resumed())
        return True

    async def skip(
        self,
        run: RunId,
        step: str | None = None,
        *,
        visit: int | None = None,
        iteration: int | None = None,
        by: str | None = None,
    ) -> int:
        """End the waits of a run for a retry, a jump or a sleep, or those of a step; how many."""
        ended = await self.skipping.skip(run, step, visit=visit, iteration=iteration, by=by)
        return len(ended)

    async def retry(
        self, run: RunId, step: str | None = None, *, at: int | None = None, key: str | None = None
    ) -> Started:
        """A new run that goes on where a step of `run` began, as if it had not been visited.

        The same key gives the same run; KeyInUse when it is not one that retries `run`.
        """
        return await self.forks.retry(run, step, at=at, key=key)

    async def fork(self, order: ForkRequest) -> Started:
        """A new run that shares the log of another up to an event, and goes on from there.

        The same key gives the same run; KeyInUse when it is not a fork of that run.
        """
        check_workload(order.workload)
        return await self.forks.fork(order)

    async def prune(self, ended_before: int) -> int:
        """Remove runs that ended before a moment, with all they left behind; how many."""
        removed = 0
        while count := await self.database.archive.prune(ended_before=ended_before):
            removed += count
        if removed:
            await self._tidy(ended_before)
        return removed

    async def drop(self, run: RunId) -> None:
        """Remove one run that has ended, or that is damaged; ConfigError for any other."""
        parent = await parent_of_dropped(self.database, run)
        self.worker.abandon(run)
        await self.database.archive.remove(run)
        self.ledger.live.forget(run)
        self._forget(run)
        self.damages.forget(run)
        await asyncio.to_thread(shutil.rmtree, self._scratch / str(run), ignore_errors=True)
        if parent is not None:  # it may wait for this run, and begins another in its place then
            await self.database.store.wake(parent)

    async def _tidy(self, ended_before: int | None = None) -> None:
        """Remove the files of runs that are gone, or ended before a moment (a day ago)."""
        if ended_before is None:
            ended_before = self.database.clock.now() - SCRATCH_SECONDS * NANOSECONDS
        for folder in self._scratch.glob("*"):
            if folder.name.isascii() and folder.name.isdigit():
                row = await self.database.archive.run(RunId(int(folder.name)))
                if row is None or (row.ended_at is not None and row.ended_at < ended_before):
                    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def stop(self, grace_seconds: float | None = GRACE_SECONDS) -> None:
        """Finish or hand back what is at work, and close the tools. The database stays open.

        Without a limit it waits for all calls. Asked again, it does nothing.
        """
        if self._is_stopped:
            return
        self._is_stopped = True
        try:
            if self.before_stop is not None:
                await self.before_stop()
            await self.people.interviews.stop()
            await self._finish_starting()
            if self._clearing:
                await asyncio.wait(set(self._clearing))
        except asyncio.CancelledError:
            grace_seconds = 0.0  # an interruption that comes this early must not get lost
            raise
        finally:
            try:
                await self.worker.stop(grace_seconds)
            finally:
                if self._sharing is not None:
                    await self._sharing.stop()  # not sooner: calls at work need their leases
                await self._toolbox.close(self.keychain.redactor.redact_text)

    @property
    def is_at_work(self) -> bool:
        """Whether `stop` would have to wait for something."""
        return self.worker.is_at_work

    async def leaves_undone(self, besides: RunId) -> bool:
        """Whether this engine was working on other runs that could go on by themselves."""
        family = await families(self.database.archive, [besides])
        for run in await self._open(self._ours.difference(family)):
            row = await self.database.archive.run(run)
            if row is not None and row.status is not RunStatus.WAITING:
                return True
        return False

    def hurry(self) -> None:
        """While `stop` waits: let it wait no longer."""
        self.worker.hurry()

    async def unfinished(self, parent: RunId | None) -> list[RunRow]:
        """Every run that has not ended; of one parent, if one is named."""
        return await unfinished_runs(self.database.archive, parent)


def check_workload(workload: Object) -> None:
    """ConfigError when a run cannot be begun with this."""
    problem = problem_of(workload)
    if problem is not None:
        raise ConfigError(f"the workload {problem}")
    size, limit = len(msgspec.json.encode(workload)), payload_bytes_max()
    if size > limit:
        raise WorkloadTooLarge(size, limit)


def payload_bytes_max() -> int:
    """How much a request may lay over a workload."""
    said = os.environ.get("ANEW_PAYLOAD_BYTES_MAX", str(PAYLOAD_BYTES_MAX))
    if not said.isdecimal() or int(said) < 1:
        raise ConfigError(f"ANEW_PAYLOAD_BYTES_MAX is {said!r}; it must be a number of bytes")
    return int(said)
