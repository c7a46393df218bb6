"""What a store can be asked for. `stores/` has the implementations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field

from anew.clock import Clock
from anew.engine.events import Event
from anew.engine.statuses import DetailedStatus
from anew.errors import StoreGone
from anew.store.artifacts import Artifacts
from anew.store.catalog import SealedCredential, StoredProgram
from anew.store.commits import Commit, PackedCommit, PackedEvents, PackedRun, StoredRun
from anew.store.guards import GuardStates
from anew.store.jobs import JobRef, JobRow, Lease, LeaseResult, PoolLoad, Presence, RunId
from anew.store.runs import FailedRunGroup, FailureFilter, RunFilter, RunPoint, RunRow

# In a notice: the job may be of any pool.
ANY_POOL = "*"


class RunLog(Protocol):
    """The logs of runs. `write` and `read` are `commit` and `load` for what is packed.

    They are for whoever passes on what another has packed, over a network, say.
    """

    async def commit(self, commit: Commit) -> None: ...

    async def load(self, run: RunId) -> StoredRun | None: ...

    async def write(self, commit: PackedCommit) -> None:
        """As `commit` does."""

    async def read(self, run: RunId, *, knows: str) -> PackedRun | None:
        """As `load` does; with a snapshot only if its format is the one the reader `knows`."""


class JobQueue(Protocol):
    """The jobs of runs: handed out for a while, and taken back.

    `waits`: a `lease` that finds nothing may wait at the other end until a job is due.
    """

    @property
    def waits(self) -> bool: ...

    async def lease(
        self,
        *,
        now: int,
        until: int,
        limit: int,
        pools: Sequence[str] | None = None,
        runs: Sequence[RunId] | None = None,
        wait_seconds: float = 0.0,
    ) -> LeaseResult:
        """Take up to `limit` due jobs, those due longest first.

        Of `pools` and of `runs` only, where they are given. A store that `waits` and finds nothing
        answers as soon as there is something, after `wait_seconds` at the latest; others at once.
        """

    async def extend(self, leases: Sequence[Lease], until: int) -> list[Lease]:
        """Keep leases a while longer; the ones in the answer are still held."""

    async def expired(self, now: int, *, runs: Sequence[RunId] | None = None) -> list[Lease]:
        """Leases that ran out before `now`. Whoever answers first, its commit wins."""

    async def release(self, lease: Lease, *, due_at: int) -> None:
        """Hand a job back untouched. A lease that is lost meanwhile is nobody's problem."""

    async def wake(self, job: JobRef) -> None:
        """Make a parked job due now; a leased one will be when it parks. No job: nothing."""


class Store(RunLog, JobQueue, Protocol):
    """What the runtime lives by. Every method is safe to call from many tasks at once."""

    async def close(self) -> None: ...


class Archive(Protocol):
    """What people read, and how old runs go away."""

    async def run(self, run: RunId) -> RunRow | None: ...

    async def runs(self, asked: RunFilter) -> list[RunRow]: ...

    async def run_of_key(self, key: str) -> RunId | None: ...

    async def events(self, run: RunId, *, after: int = 0, limit: int = 1000) -> list[Event]: ...

    async def rows(self, run: RunId, *, after: int = 0, limit: int = 1000) -> PackedEvents:
        """As `events` does, packed. What is damaged comes as it is; what is missing, not at all."""

    async def jobs(self, run: RunId) -> list[JobRow]: ...

    async def prune(self, *, ended_before: int, limit: int = 1000) -> int:
        """Remove up to `limit` runs that ended before a moment, logs and blobs with them.

        A child goes no sooner than its parent has ended. Returns how many went.
        """

    async def remove(self, run: RunId) -> bool:
        """Remove one run, however it stands, with its jobs; False when there is none."""


class Statistics(Protocol):
    """Very many runs at a glance."""

    async def counts(self, asked: RunFilter) -> dict[DetailedStatus, int]:
        """How many runs there are in each state that one of them has, without regard to limit."""

    async def points(self, asked: RunFilter) -> list[RunPoint]:
        """What `runs` of the archive lists, and little of each."""

    async def failures(self, asked: FailureFilter) -> list[FailedRunGroup]:
        """The group that failed last comes first; at the same moment by fingerprint.

        Of its programs PROGRAMS_OF_FAILURE_MAX are named, in order.
        """

    async def programs(self, limit: int = 1000) -> list[str]:
        """The names that runs have, in order."""

    async def versions(self, digests: Collection[str]) -> dict[str, int]:
        """The newest version that each of these documents is registered as, if it is."""


class Catalog(Protocol):
    """Programs by digest (runs are pinned to one), and by name and version once registered."""

    async def keep(self, program: StoredProgram) -> None:
        """Keep a document under its digest; the same again only adds a path that was missing."""

    async def register(self, program: StoredProgram) -> StoredProgram:
        """Keep a document and make it the newest version of its name; the row as registered.

        Versions count from 1. Registering the newest again changes nothing; an older one becomes a
        new version. `version` of the argument is ignored.
        """

    async def get(self, digest: str) -> StoredProgram | None: ...

    async def find(self, name: str, version: int | None = None) -> StoredProgram | None:
        """A registered one, by name; the newest version unless one is asked for."""

    async def at_path(self, path: str) -> list[StoredProgram]:
        """The newest version of each registered program, if that has this path; by name."""

    async def programs(self) -> list[StoredProgram]:
        """The newest version of each registered program, by name."""


class Vault(Protocol):
    """Credentials, encrypted before they get here."""

    async def seal(self, credential: SealedCredential) -> None:
        """Keep it, in place of an older one of the same name."""

    async def sealed(self, name: str) -> SealedCredential | None: ...

    async def names(self) -> list[SealedCredential]: ...

    async def forget(self, name: str) -> bool: ...


class Roster(Protocol):
    """Who works on the database, and what waits for workers and for people.

    Nothing is decided by it: what is in it is for people to read.
    """

    async def beat(self, presence: Presence) -> None:
        """Keep it, in place of what the same worker said before.

        Whoever was not seen for WORKERS_KEPT_SECONDS_MAX before it is forgotten.
        """

    async def leave(self, worker: str) -> None:
        """Forget a worker; one that is not known is nobody's problem."""

    async def workers(self, limit: int = 1000) -> list[Presence]:
        """Those seen last first; at the same moment by name."""

    async def loads(self, now: int) -> list[PoolLoad]:
        """Every pool that has a job, by name."""

    async def asking(self, limit: int = 1000) -> list[JobRow]:
        """The jobs that wait for a person: the soonest deadline first, those without one last."""


class Notice(Struct, frozen=True):
    """What a commit changed for others. Only a hint: one may get lost, or come twice.

    `version` is that of the run, 0 where it is not known. `due` tells by pool when a job can be
    worked on. `has_turned`: the run's status changed, or calls of it may have no use any more.
    """

    run: RunId
    version: int = 0
    due: Mapping[str, int] = field(default_factory=dict)
    has_turned: bool = False


NoticeListener = Callable[[Notice], None]


class Notices(Protocol):
    """Tells of every change made in this process, and of those of others that matter here."""

    def listen(
        self,
        hear: NoticeListener,
        *,
        turns_only: bool = False,
        runs: Collection[RunId] | None = None,
    ) -> Callable[[], None]:
        """Be told, in the event loop; the answer ends it. A listener must not raise.

        `turns_only`: only of what `has_turned`. `runs`: only of these; None is all of them.
        """


class Database(Protocol):
    """One place that is all of these at once.

    `is_shared`: other processes work on it as well. Then leases run out, and what is in memory may
    be behind. `clock` is the one its moments are of, the same for all who share it.
    """

    @property
    def is_shared(self) -> bool: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def notices(self) -> Notices: ...

    @property
    def store(self) -> Store: ...

    @property
    def archive(self) -> Archive: ...

    @property
    def statistics(self) -> Statistics: ...

    @property
    def catalog(self) -> Catalog: ...

    @property
    def artifacts(self) -> Artifacts: ...

    @property
    def vault(self) -> Vault: ...

    @property
    def roster(self) -> Roster: ...

    @property
    def guards(self) -> GuardStates: ...

    def on_loss(self, hear: Callable[[StoreGone], None]) -> None:
        """Be told, in any thread, that the files of this database are gone for good.

        One without files of its own never tells.
        """

    async def maintain(self) -> None:
        """Do what has to be done every few hours, if anything has."""

    async def close(self) -> None: ...
