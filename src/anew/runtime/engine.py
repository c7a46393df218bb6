"""A whole engine in one process: starts runs, works on them, and does what people ask about them.

Puts the parts together and passes on what the ledger reports; each part is a module of its own. A
process is alone with its database, or shares it: see `roles.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from random import random
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from anew.clock import Clock
from anew.credentials import Keychain
from anew.credentials.tool import SecretsTool
from anew.engine.boundaries import Paused, Resumed
from anew.engine.events import Event
from anew.engine.state import RunState, StepRunKey
from anew.errors import AnewError
from anew.runtime.adoption import Adoption
from anew.runtime.artifact_tool import ArtifactTool
from anew.runtime.child_runs import ChildRuns
from anew.runtime.child_tool import ChildTool
from anew.runtime.coordination import Coordinator
from anew.runtime.damage import Damages
from anew.runtime.forks import ForkRequest, Forks
from anew.runtime.guard_operator import GuardOperator
from anew.runtime.guards import SharedGuards
from anew.runtime.ids import RunIds
from anew.runtime.interviewers import Interviewer
from anew.runtime.key_reuse import differences
from anew.runtime.ledger import Ledger
from anew.runtime.payloads import check_workload
from anew.runtime.people import People
from anew.runtime.programs import Programs
from anew.runtime.removal import RunRemoval
from anew.runtime.restart_tool import RestartTool
from anew.runtime.roles import ALONE, ProcessRole
from anew.runtime.run_folders import RunFolders
from anew.runtime.run_starts import RunStarter, Started, StartRequest
from anew.runtime.shared_artifacts import SharedArtifacts
from anew.runtime.signals import Signals
from anew.runtime.singletons import start_alone
from anew.runtime.sleep_tool import SleepTool
from anew.runtime.slots import Slots
from anew.runtime.tool_calls import ToolCaller
from anew.runtime.toolbox import Toolbox
from anew.runtime.wait_skips import WaitSkipper
from anew.runtime.worker import Worker
from anew.store import Database, RunId

if TYPE_CHECKING:
    from anew.languages.dot.extensions import Extensions

# Calls that mostly wait for the network; Python code has processes of its own besides.
SLOTS = 32
# How long calls at work may continue when the process is asked to stop.
GRACE_SECONDS = 5.0

# Is told the events of every commit, in order, once they are durable.
Listener: TypeAlias = Callable[[RunId, Sequence[Event]], None]


class Engine:
    """Make one inside a running event loop; `stop` it when done.

    An `interviewer` is asked the questions of every run that is worked on here. Documents are
    compiled with the `extensions`, those of the catalog as well. `process` is its number in the ids
    of its runs; without it chance gives one.
    """

    def __init__(
        self,
        database: Database,
        scratch: Path,
        role: ProcessRole = ALONE,
        *,
        clock: Clock | None = None,
        slots: int = SLOTS,
        toolbox: Toolbox | None = None,
        draw: Callable[[], float] = random,
        interviewer: Interviewer | None = None,
        extensions: Extensions | None = None,
        process: int | None = None,
    ) -> None:
        clock = clock or database.clock
        self.database, self.role, self.slots = database, role, Slots(slots)
        self._toolbox = toolbox or Toolbox()
        self._listeners: list[Listener] = []
        self._is_stopped = False
        self.before_stop: Callable[[], Awaitable[None]] | None = None
        self.damages = Damages()
        self.keychain = Keychain(database.vault)
        self.programs = Programs(database.catalog, self.keychain, clock, extensions=extensions)
        self.guards = SharedGuards(database.guards, is_shared=role.is_shared)
        self.ledger = Ledger(
            *(database, self.programs, clock),
            role=role,
            slots=self.slots,
            listener=self,
            guards=self.guards,
            draw=draw,
        )
        self.worker = Worker(
            database.store,
            self.ledger,
            ToolCaller(self._toolbox, self.keychain, clock, database.archive),
            clock,
            role=role,
            slots=self.slots,
            folders=RunFolders(scratch, self.programs, role, self._toolbox.sandbox),
            on_damaged=self.damages.keep,
        )
        ids, worker = RunIds(clock, process), self.worker
        self._starter = RunStarter(self.ledger, self.programs, ids, follow=worker.follow)
        self._children = ChildRuns(
            database.archive,
            self.ledger,
            self._starter,
            role,
            abandon=worker.abandon,
            fail=worker.fail,
        )
        self._serve_people(clock, interviewer)
        self._adoption = Adoption(
            database,
            self.ledger,
            worker,
            self._children,
            role,
            on_adopted=self.people.interviews.begin,
        )
        self.removal = RunRemoval(
            database, scratch, abandon=worker.abandon, forget=self._forget_removed
        )
        self.forks = Forks(
            database.archive, self.programs, self._starter, adopt=self.adopt, cancel=self.cancel
        )
        self.guard_operator = GuardOperator(database, self.guards, clock)
        self._add_own_tools(clock)
        self._coordinator = self._coordinate(clock)

    def _serve_people(self, clock: Clock, interviewer: Interviewer | None) -> None:
        """People answer and skip waits, and signals come from anywhere."""
        database, redactor = self.database, self.keychain.redactor
        self.people = People(
            database,
            self.ledger,
            clock,
            fail=self.worker.fail,
            redact=redactor.redact_text,
            interviewer=interviewer,
        )
        self.listen(self.people.interviews.hear)
        self.signals = Signals(database, self.ledger, redact=redactor.redact_outcome)
        self.waits = WaitSkipper(database, self.ledger, clock, redact=redactor.redact_text)

    def _add_own_tools(self, clock: Clock) -> None:
        """Those that need to know of runs."""
        archive, start = self.database.archive, self._children.start
        self._toolbox.add("sleep", SleepTool(clock))
        self._toolbox.add("secrets", SecretsTool(self.keychain))
        children = ChildTool(archive, self.ledger, self.programs, start=start, cancel=self.cancel)
        self._toolbox.add("playbook", children)
        artifacts = self.database.artifacts
        shared = SharedArtifacts(archive, artifacts)
        self._toolbox.add("artifact", ArtifactTool(artifacts, self.ledger, shared))
        restarts = RestartTool(archive, self.ledger, self.programs, start=start, adopt=self.adopt)
        self._toolbox.add("restart", restarts)

    def _coordinate(self, clock: Clock) -> Coordinator | None:
        """Follow what others do, unless this process is alone."""
        if not self.role.is_shared:
            return None
        return Coordinator(
            self.database,
            self.worker,
            self.ledger,
            self.people,
            self.role,
            clock=clock,
            end_orphan=self._children.end_orphan,
            tidy=self.removal.tidy,
        )

    # --- what the ledger reports (LedgerListener) ----------------------------------------------

    def run_starting(self, run: RunId) -> None:
        self._adoption.own(run)

    def committed(self, run: RunId, events: Sequence[Event]) -> None:
        for listener in self._listeners:
            with suppress(Exception):  # who only looks on must not harm the run
                listener(run, events)

    def job_due(self, at: int) -> None:
        self.worker.poller.notice(at)

    def branches_ended(self, run: RunId, keys: Sequence[StepRunKey]) -> None:
        self._children.end_branches(run, keys)

    def waits_changed(self) -> None:
        self.people.look_again()

    def run_ended(self, run: RunId) -> None:
        self._adoption.disown(run)
        self._toolbox.run_ended(str(run))

    def _forget_removed(self, run: RunId) -> None:
        self.ledger.live.forget(run)
        self.run_ended(run)
        self.damages.forget(run)

    # --- runs ----------------------------------------------------------------------------------

    def listen(self, listener: Listener) -> None:
        """Be told the events of every commit, in order, once they are durable."""
        self._listeners.append(listener)

    async def start(self, request: StartRequest) -> Started:
        """Start a run and work on it; one that its key names already is continued."""
        check_workload(request.workload)
        if request.singleton is not None:
            started = await start_alone(self.database.archive, request, self._starter.start)
            if not started.is_new:
                await self.adopt([started.run])
            return started
        started = await self._starter.start(request)
        if started.is_new:
            return started
        differs, notice = await differences(self.database, self.programs, started.run, request)
        await self.adopt([started.run])
        return replace(started, differs=differs, notice=notice)

    async def adopt(self, runs: Iterable[RunId]) -> None:
        """Work on these runs and their children, and on what a dead owner left undone in them."""
        await self._adoption.adopt(runs)

    async def adopt_all(self) -> dict[RunId, AnewError]:
        """Continue every unfinished run that is not paused; those with which that is impossible."""
        return await self._adoption.adopt_all()

    async def wait(self, run: RunId) -> RunState:
        """The run's state when it has ended. A store that fails meanwhile is raised here."""
        return await self.ledger.endings.wait(run)

    async def cancel(self, run: RunId, reason: str | None = None) -> bool:
        """End a run and its children, and stop their calls; False when they had ended already."""
        return await self._children.cancel(run, reason)

    async def pause(self, run: RunId, reason: str | None = None) -> bool:
        """Start nothing more in a run; calls at work continue to their outcome."""
        return (await self.ledger.apply(run, Paused(reason))).has_moved

    async def resume(self, run: RunId) -> bool:
        """Un-pause a run, and work on it. False when it has ended."""
        live = await self.ledger.live.newest(run)
        if live.state.is_final:
            return False
        await self.adopt([run])
        await self.ledger.apply(run, Resumed())
        return True

    async def retry(
        self, run: RunId, step: str | None = None, *, at: int | None = None, key: str | None = None
    ) -> Started:
        """A new run that continues where a step of `run` began, as if it had not been visited.

        The same key gives the same run; KeyInUse when it is not one that retries `run`.
        """
        return await self.forks.retry(run, step, at=at, key=key)

    async def fork(self, request: ForkRequest) -> Started:
        """A new run that shares the log of another up to an event, and continues from there.

        The same key gives the same run; KeyInUse when it is not a fork of that run.
        """
        check_workload(request.workload)
        return await self.forks.fork(request)

    # --- stopping ------------------------------------------------------------------------------

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
            await self._children.finish()
        except asyncio.CancelledError:
            grace_seconds = 0.0  # an interruption that comes this early must not get lost
            raise
        finally:
            try:
                await self.worker.stop(grace_seconds)
            finally:
                if self._coordinator is not None:
                    await self._coordinator.stop()  # not sooner: calls at work need their leases
                await self._toolbox.close(self.keychain.redactor.redact_text)

    @property
    def is_at_work(self) -> bool:
        """Whether `stop` would have to wait for something."""
        return self.worker.is_at_work

    async def leaves_undone(self, besides: RunId) -> bool:
        """Whether this engine was working on other runs that could continue by themselves."""
        return await self._adoption.leaves_undone(besides)

    def hurry(self) -> None:
        """While `stop` waits: let it wait no longer."""
        self.worker.hurry()
