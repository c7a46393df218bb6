"""What a store is: the log of every run, the queue of its jobs, and the catalog of programs.

The protocols here are the contract, `stores/` has the implementations, and
`anew.stores.contract` is the suite every implementation must pass. A store keeps what it is given:
it knows events only as things to write down and read back, and decides nothing.

Two rules carry everything else:
1. A commit happens whole or not at all, and is on disk when it returns. The same commit once more
   changes nothing and is no error: who did not hear the answer may ask again.
2. A commit that answers a lease is refused once that lease is lost (`StaleLease`), and one whose
   run has moved on is refused too (`StaleVersion`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from typing import Literal, NewType, Protocol, TypeAlias

from msgspec import Struct, field

from anew.clock import Clock
from anew.engine.events import Event
from anew.engine.standing import State, rank_of, state_of
from anew.engine.state import Key, RunState, RunStatus
from anew.errors import KeyTaken, StaleLease, StaleVersion, StoreError, StoreGone
from anew.values import Object

# What a store raises is named with the rest of its contract; `errors.py` has the tree.
__all__ = ["KeyTaken", "StaleLease", "StaleVersion", "StoreError", "StoreGone"]

RunId = NewType("RunId", int)
DEFAULT_POOL = "default"
# In a notice: the job may be of any pool.
ANY_POOL = "*"
# Keys that begin so were made because nobody gave one. They are not shown, nor searched.
HIDDEN_KEYS = "asked:"
# A problem of more programs than these is no problem of theirs.
PROGRAMS_OF_FAILURE_MAX = 20
# Longer ago is no news: a process that was killed stays in the list for so long.
WORKERS_KEPT_SECONDS_MAX = 24 * 3600
WorkerKind: TypeAlias = Literal["server", "worker", "command"]


class WaitReason(StrEnum):
    """Why a job is not to be worked on before its due time."""

    READY = "ready"  # it is not waiting, except for a worker
    RETRY = "retry"  # the delay of a retry, or of a jump
    SLEEP = "sleep"
    CHILD = "child"  # a child run
    HELD = "held"  # its run is paused
    PERSON = "person"  # an answer
    SIGNAL = "signal"


class JobRef(Struct, frozen=True, order=True, gc=False):
    """Names one job: the step-run of a run."""

    run: RunId
    key: Key


class Lease(Struct, frozen=True, gc=False):
    """The right to work on a job until `until`. `token` is the fence: it grows with each lease.

    `was_parked`: the job had been put aside by its tool and is to be called again.
    """

    job: JobRef
    token: int
    until: int
    was_parked: bool = False


class NewJob(Struct, frozen=True, gc=False):
    """A step-run to hand out. A row for the same step-run is replaced, its token kept.

    `due_at` None holds it until it is woken. `taken_until` leases it to the committer at once:
    its token is then the kept one plus 1 (1 for a new row). `is_fresh` promises that the step-run
    was never handed out before, so that a store need not look for a row to replace.
    """

    key: Key
    due_at: int | None = 0
    reason: WaitReason = WaitReason.READY
    pool: str = DEFAULT_POOL
    attempt: int = 1
    taken_until: int | None = None
    is_fresh: bool = False


class Park(Struct, frozen=True, gc=False):
    """Put the job of the commit's lease aside until `due_at`, or until it is woken (None).

    A wake-up that came while it was leased is not lost: the job is then due at once.
    `calls_again`: its tool put it aside in the middle of a call.
    """

    due_at: int | None
    reason: WaitReason
    attempt: int = 1
    calls_again: bool = False


class RunHead(Struct, frozen=True, gc=False):
    """What lists of runs show, written with every commit."""

    status: RunStatus
    error: Object | None = None
    ended_at: int | None = None


class NewRun(Struct, frozen=True):
    """What a run is born with. Only the first commit of a run carries it.

    `retry_of` is the run that it takes up.
    """

    program: str
    digest: str
    key: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    parent: JobRef | None = None
    depth: int = 0
    retry_of: RunId | None = None


class Commit(Struct, frozen=True, gc=False):
    """One transition: all of it becomes durable, or none.

    `expected` is the version (last sequence number) the events follow; they are gap-free from
    `expected + 1`. Committed again, with the very same events, it changes nothing; one without
    events cannot be told from another, and is refused like any other whose lease is lost.
    `lease` is the one being answered: its job row goes, unless `park` puts it
    aside or `keeps_lease` says that the same worker goes on with it.
    `drop_all` takes every job of the run away (it ended). `wakes` are jobs of any run.
    """

    run: RunId
    expected: int
    at: int
    events: Sequence[Event]
    head: RunHead
    lease: Lease | None = None
    park: Park | None = None
    keeps_lease: bool = False
    jobs: Sequence[NewJob] = ()
    drops: Sequence[Key] = ()
    drop_all: bool = False
    wakes: Sequence[JobRef] = ()
    new: NewRun | None = None
    snapshot: RunState | None = None


class Stored(Struct, frozen=True):
    """A run as it lies in the store: the newest snapshot, and the events after it.

    `last_at` is the moment of its newest event, snapshot or not.
    """

    digest: str
    parent: JobRef | None
    depth: int
    snapshot: RunState | None
    events: list[Event]
    last_at: int = 0


class Batch(Struct, frozen=True):
    """What `lease` found: jobs to do now, and when the next one is due (None: none is).

    `versions` tells how far the runs of the leases had come: who has an older state in memory reads
    the run again.
    """

    leases: list[Lease]
    next_due: int | None
    versions: Mapping[RunId, int] = field(default_factory=dict)


class Notice(Struct, frozen=True):
    """What a commit changed for others. Only a hint: one may get lost, or come twice.

    `version` is that of the run, 0 where it is not known. `due` tells by pool when a job can be
    worked on. `has_turned`: the run's status changed, or calls of it may have no use any more.
    """

    run: RunId
    version: int = 0
    due: Mapping[str, int] = field(default_factory=dict)
    has_turned: bool = False


Hear = Callable[[Notice], None]


class Notices(Protocol):
    """Tells of every change made in this process, and of those of others that matter here."""

    def listen(
        self, hear: Hear, *, turns_only: bool = False, runs: Collection[RunId] | None = None
    ) -> Callable[[], None]:
        """Be told, in the event loop; the answer ends it. A listener must not raise.

        `turns_only`: only of what `has_turned`. `runs`: only of these; None is all of them.
        """


class Store(Protocol):
    """What the runtime lives by. Every method is safe to call from many tasks at once.

    `waits`: a `lease` that finds nothing may wait at the other end until a job is due.
    """

    @property
    def waits(self) -> bool: ...

    async def commit(self, commit: Commit) -> None: ...

    async def load(self, run: RunId) -> Stored | None: ...

    async def lease(
        self,
        *,
        now: int,
        until: int,
        limit: int,
        pools: Sequence[str] | None = None,
        runs: Sequence[RunId] | None = None,
        wait_seconds: float = 0.0,
    ) -> Batch:
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

    async def close(self) -> None: ...


class JobRow(Struct, frozen=True):
    """One open job as people see it."""

    job: JobRef
    reason: WaitReason
    due_at: int | None
    attempt: int
    pool: str
    leased_until: int | None
    token: int

    @property
    def rank(self) -> int:
        """How much it says about its run: 1 says most."""
        return rank_of(self.reason, is_leased=self.leased_until is not None)


class RunRow(Struct, frozen=True):
    """One run as lists show it.

    `error_kind` and `fingerprint` are there once it has failed; not at once where an older version
    of Anew wrote that. `open` is the job that says most: the lowest rank, then the one due first.
    `retried_as` is the newest run that takes it up. `damage` says what of the row cannot be read.
    """

    run: RunId
    program: str
    digest: str
    status: RunStatus
    version: int
    created_at: int
    updated_at: int
    ended_at: int | None
    error: Object | None
    key: str | None
    labels: Mapping[str, str]
    parent: JobRef | None
    depth: int
    error_kind: str | None = None
    fingerprint: str | None = None
    open: JobRow | None = None
    retried_as: RunId | None = None
    damage: str | None = None

    @property
    def state(self) -> State:
        """How it stands."""
        rank = self.open.rank if self.open is not None else None
        return state_of(self.status, error_kind=self.error_kind, rank=rank)


class RunFilter(Struct, frozen=True):
    """Which runs to list, newest first. `before` is a cursor: older than this run.

    They began at `since` or later, and before `until`. `attempt_min`: a job of it is at this
    attempt or a later one. `due_before`: a retry of it is due by then. `text` is in its id, its
    program, its key, its labels or the message of its error; A to Z and a to z are alike.
    `is_child`: it has a parent. `is_delayed`: a job of it waits for the moment of a retry or a
    sleep. `is_retried`: whether another run takes it up.
    """

    statuses: Sequence[RunStatus] = ()
    program: str | None = None
    retrying: bool = False
    since: int | None = None
    parent: RunId | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    before: RunId | None = None
    limit: int = 50
    states: Sequence[State] = ()
    digests: Sequence[str] | None = None
    runs: Sequence[RunId] | None = None
    until: int | None = None
    attempt_min: int | None = None
    due_before: int | None = None
    error_kind: str | None = None
    fingerprint: str | None = None
    text: str | None = None
    is_child: bool = False
    is_delayed: bool = False
    is_retried: bool | None = None


class Archive(Protocol):
    """What people read, and how old runs go away."""

    async def run(self, run: RunId) -> RunRow | None: ...

    async def runs(self, asked: RunFilter) -> list[RunRow]: ...

    async def run_of_key(self, key: str) -> RunId | None: ...

    async def events(self, run: RunId, *, after: int = 0, limit: int = 1000) -> list[Event]: ...

    async def jobs(self, run: RunId) -> list[JobRow]: ...

    async def prune(self, *, ended_before: int, limit: int = 1000) -> int:
        """Remove up to `limit` runs that ended before a moment, logs and blobs with them.

        A child goes no sooner than its parent has ended. Returns how many went.
        """

    async def remove(self, run: RunId) -> bool:
        """Remove one run, however it stands, with its jobs; False when there is none."""


class RunPoint(Struct, frozen=True):
    """One run among very many."""

    run: RunId
    created_at: int
    ended_at: int | None
    state: State


class FailureFilter(Struct, frozen=True):
    """Which failed runs to group: those that ended at `since` or later, and before `until`.

    Those that were retried are counted apart, and are in their group only if `with_retried`.
    """

    since: int | None = None
    until: int | None = None
    program: str | None = None
    limit: int = 50
    with_retried: bool = False


class FailureGroup(Struct, frozen=True):
    """The failed runs with one fingerprint; `message` is that of the `newest`, which ended last.

    `dead` of them were given up because workers died over them. `retried` tells of all that were
    asked for, in the group or not, how many another run takes up.
    """

    fingerprint: str
    kind: str
    message: str
    programs: Sequence[str]
    count: int
    dead: int
    first_at: int
    last_at: int
    newest: RunId
    retried: int = 0


class Survey(Protocol):
    """Very many runs at a glance."""

    async def counts(self, asked: RunFilter) -> dict[State, int]:
        """How many runs there are in each state that one of them has, without regard to limit."""

    async def points(self, asked: RunFilter) -> list[RunPoint]:
        """What `runs` of the archive lists, and little of each."""

    async def failures(self, asked: FailureFilter) -> list[FailureGroup]:
        """The group that failed last comes first; at the same moment by fingerprint.

        Of its programs PROGRAMS_OF_FAILURE_MAX are named, in order.
        """

    async def programs(self, limit: int = 1000) -> list[str]:
        """The names that runs have, in order."""

    async def versions(self, digests: Collection[str]) -> dict[str, int]:
        """The newest version that each of these documents is registered as, if it is."""


class StoredProgram(Struct, frozen=True):
    """A document as it was run or registered; `version` is 0 for one that was only run.

    With the `dialect` that was chosen for it and the texts of the `files` it names, by name, it can
    be compiled again wherever the catalog is. `path` is the `metadata.path` of a playbook.
    """

    digest: str
    name: str
    version: int
    source: str
    file: str
    registered_at: int
    dialect: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    path: str | None = None


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

    async def programs(self) -> list[StoredProgram]:
        """The newest version of each registered program, by name."""


class SealedCredential(Struct, frozen=True):
    """A credential as it lies at rest: `sealed` can be read with the key only."""

    name: str
    kind: str
    sealed: bytes
    created_at: int


class Vault(Protocol):
    """Credentials, encrypted before they get here."""

    async def seal(self, credential: SealedCredential) -> None:
        """Keep it, in place of an older one of the same name."""

    async def sealed(self, name: str) -> SealedCredential | None: ...

    async def names(self) -> list[SealedCredential]: ...

    async def forget(self, name: str) -> bool: ...


class HeldJob(Struct, frozen=True):
    """A job that a worker holds; `token` tells its lease from those before and after it."""

    job: JobRef
    token: int


class Presence(Struct, frozen=True):
    """A process that works on the database, as it last said.

    `pools` are those it takes jobs of, none for all. `busy` of its `slots` have a call at work.
    `jobs` are some of those it has leased.
    """

    worker: str
    host: str
    process: int
    kind: WorkerKind
    pools: Sequence[str]
    slots: int
    busy: int
    leases: int
    version: str
    started_at: int
    seen_at: int
    jobs: Sequence[HeldJob] = field(default_factory=list)


class PoolLoad(Struct, frozen=True):
    """The open jobs of one pool.

    `ready` are due and taken by nobody; `oldest_ready_at` is when the first of them was due, None
    where that is not known. `waiting` are put aside, and the first is due at `next_due_at`.
    `expired` counts the leases that ran out; `leased` has them too.
    """

    pool: str
    ready: int
    oldest_ready_at: int | None
    waiting: int
    next_due_at: int | None
    leased: int
    expired: int


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
    def survey(self) -> Survey: ...

    @property
    def catalog(self) -> Catalog: ...

    @property
    def vault(self) -> Vault: ...

    @property
    def roster(self) -> Roster: ...

    async def maintain(self) -> None:
        """Do what has to be done every few hours, if anything has."""

    async def close(self) -> None: ...
