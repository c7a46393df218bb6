"""Jobs: what is handed out, leased and put aside, and who works on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NewType, TypeAlias

from msgspec import Struct, field

from anew.engine.state import StepRunKey
from anew.engine.statuses import WaitReason, rank_of

RunId = NewType("RunId", int)
DEFAULT_POOL = "default"
# Longer ago is no news: a process that was killed stays in the list for so long.
WORKERS_KEPT_SECONDS_MAX = 24 * 3600
WorkerKind: TypeAlias = Literal["server", "worker", "command"]


class JobRef(Struct, frozen=True, order=True, gc=False):
    """Names one job: the step-run of a run."""

    run: RunId
    key: StepRunKey


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

    key: StepRunKey
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


class LeaseResult(Struct, frozen=True):
    """What `lease` found: jobs to do now, and when the next one is due (None: none is).

    `versions` tells how far the runs of the leases had come: who has an older state in memory reads
    the run again.
    """

    leases: list[Lease]
    next_due: int | None
    versions: Mapping[RunId, int] = field(default_factory=dict)


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
