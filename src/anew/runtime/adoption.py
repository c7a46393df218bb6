"""Which runs a process works on, and how it takes up what an owner that died left undone.

The leases of a dead owner are void; what was at work under one is done again, as the log says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct, field

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


class Adoption(Struct, eq=False):
    """Of one engine. `on_adopted` is called for each run that is worked on from now on."""

    database: Database
    ledger: Ledger
    worker: Worker
    children: ChildRuns
    role: ProcessRole
    on_adopted: Callable[[RunId], None]
    ours: set[RunId] = field(default_factory=set)

    async def adopt(self, runs: Iterable[RunId]) -> None:
        """Work on these runs and their children, and on what a dead owner left undone in them.

        Only what this process has not worked on can be a dead owner's.
        """
        wanted = await self._open(runs)
        for run in wanted:
            self.ledger.endings.try_again(run)
        found = await families(self.database.archive, wanted)
        family = await self.children.without_orphans(found)
        strange = [run for run in family if run not in self.ours]
        self.ours.update(strange)
        try:
            if strange:
                for lease in await self.database.store.expired(self._void_before(), runs=strange):
                    await self.worker.recover(lease)
        except BaseException:
            self.ours.difference_update(strange)  # what is not recovered is still to be
            raise
        self.worker.poller.adopt(family)
        for run in family:
            self.on_adopted(run)

    async def adopt_all(self) -> dict[RunId, AnewError]:
        """Continue every unfinished run that is not paused; those with which that is impossible.

        A child whose parent was cancelled by a process that died over it is cancelled as well.
        """
        problems: dict[RunId, AnewError] = {}
        for row in await unfinished_runs(self.database.archive):
            try:
                if row.parent is not None:
                    await self.children.end_child_of_ended(row)
                elif row.status is not RunStatus.PAUSED:
                    await self.adopt([row.run])
            except OF_ONE_RUN as error:
                problems[row.run] = error
        return problems

    def _void_before(self) -> int:
        """Leases that ended before this are nobody's: all of them, where this process is alone."""
        return self.database.clock.now() if self.role.is_shared else LAST_MOMENT + 1

    def own(self, run: RunId) -> None:
        """A run that this process starts."""
        if not self.role.works_on_all:  # else they may end anywhere, and all are ours
            self.ours.add(run)
        self.worker.poller.own(run)

    def disown(self, run: RunId) -> None:
        """A run that has ended, or is gone."""
        self.ours.discard(run)
        self.worker.poller.disown(run)

    async def leaves_undone(self, besides: RunId) -> bool:
        """Whether this process was working on other runs that could continue by themselves."""
        family = await families(self.database.archive, [besides])
        for run in await self._open(self.ours.difference(family)):
            row = await self.database.archive.run(run)
            if row is not None and row.status is not RunStatus.WAITING:
                return True
        return False

    async def _open(self, runs: Iterable[RunId]) -> list[RunId]:
        """Those that have not ended."""
        found = []
        for run in list(runs):
            row = await self.database.archive.run(run)
            if row is not None and row.status not in FINAL:
                found.append(run)
        return found
