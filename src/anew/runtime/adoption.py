"""Which runs a process works on, and how it takes up what an owner that died left undone.

The leases of a dead owner are void; what was at work under one is done again, as the log says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from anew.engine.moments import LAST_MOMENT
from anew.engine.state import FINAL, RunStatus
from anew.errors import AnewError, ConfigError, EngineBug, ProgramError
from anew.runtime.child_runs import ChildRuns
from anew.runtime.families import families, unfinished_runs
from anew.runtime.ledger import Ledger
from anew.runtime.roles import ProcessRole
from anew.runtime.worker import Worker
from anew.store import Database, RunId
from anew.stores.damage import DamagedRun

# What is wrong with one run alone (extensions it needs, say), and no reason to leave the others.
OF_ONE_RUN = (ConfigError, ProgramError, EngineBug, DamagedRun)


class Adoption:
    """Of one engine. `on_adopted` is called for each run that is worked on from now on."""

    def __init__(
        self,
        database: Database,
        ledger: Ledger,
        worker: Worker,
        children: ChildRuns,
        role: ProcessRole,
        *,
        on_adopted: Callable[[RunId], None],
    ) -> None:
        self._database = database
        self._ledger = ledger
        self._worker = worker
        self._children = children
        self._role = role
        self._on_adopted = on_adopted
        self._ours: set[RunId] = set()

    async def adopt(self, runs: Iterable[RunId]) -> None:
        """Work on these runs and their children, and on what a dead owner left undone in them.

        Only what this process has not worked on can be a dead owner's.
        """
        wanted = await self._open(runs)
        for run in wanted:
            self._ledger.endings.try_again(run)
        found = await families(self._database.archive, wanted)
        family = await self._children.without_orphans(found)
        strange = [run for run in family if run not in self._ours]
        self._ours.update(strange)
        try:
            if strange:
                for lease in await self._database.store.expired(self._void_before(), runs=strange):
                    await self._worker.recover(lease)
        except BaseException:
            self._ours.difference_update(strange)  # what is not recovered is still to be
            raise
        self._worker.poller.adopt(family)
        for run in family:
            self._on_adopted(run)

    async def adopt_all(self) -> dict[RunId, AnewError]:
        """Continue every unfinished run that is not paused; those with which that is impossible.

        A child whose parent was cancelled by a process that died over it is cancelled as well.
        """
        problems: dict[RunId, AnewError] = {}
        for row in await unfinished_runs(self._database.archive):
            try:
                if row.parent is not None:
                    await self._children.end_child_of_ended(row)
                elif row.status is not RunStatus.PAUSED:
                    await self.adopt([row.run])
            except OF_ONE_RUN as error:
                problems[row.run] = error
        return problems

    def _void_before(self) -> int:
        """Leases that ended before this are nobody's: all of them, where this process is alone."""
        return self._database.clock.now() if self._role.is_shared else LAST_MOMENT + 1

    def own(self, run: RunId) -> None:
        """A run that this process starts."""
        if not self._role.works_on_all:  # else they may end anywhere, and all are ours
            self._ours.add(run)
        self._worker.poller.own(run)

    def disown(self, run: RunId) -> None:
        """A run that has ended, or is gone."""
        self._ours.discard(run)
        self._worker.poller.disown(run)

    async def leaves_undone(self, besides: RunId) -> bool:
        """Whether this process was working on other runs that could continue by themselves."""
        family = await families(self._database.archive, [besides])
        for run in await self._open(self._ours.difference(family)):
            row = await self._database.archive.run(run)
            if row is not None and row.status is not RunStatus.WAITING:
                return True
        return False

    async def _open(self, runs: Iterable[RunId]) -> list[RunId]:
        """Those that have not ended."""
        found = []
        for run in list(runs):
            row = await self._database.archive.run(run)
            if row is not None and row.status not in FINAL:
                found.append(run)
        return found
