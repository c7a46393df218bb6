"""A database that forgets: everything in dictionaries, gone with the process.

The reference for the others, and what tests run on. It keeps what it is given as a real store
would, encoded, so that nobody can change what was committed. No method waits between reading and
writing, which makes each of them atomic among the tasks of one loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import nsmallest

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from anew.clock import WallClock
from anew.engine.events import Event
from anew.engine.state import StepRunKey
from anew.store import (
    Blob,
    Commit,
    JobRef,
    JobRow,
    KeyTaken,
    Lease,
    LeaseResult,
    NewJob,
    NewRun,
    PackedCommit,
    PackedEvents,
    PackedRun,
    RunFilter,
    RunId,
    RunRow,
    Snapshot,
    StoredEvent,
    StoredRun,
    StoreGone,
    WaitReason,
)
from anew.stores.codec import checksums_in
from anew.stores.matching import fits, says_most
from anew.stores.memory_artifacts import MemoryArtifacts
from anew.stores.memory_catalog import MemoryCatalog, MemoryVault
from anew.stores.memory_guards import MemoryGuards
from anew.stores.memory_roster import MemoryRoster
from anew.stores.memory_statistics import MemoryStatistics
from anew.stores.notices import LocalNotices, notices_of, woken
from anew.stores.packing import load_packed, pack, unpack_events
from anew.stores.refusals import lost_lease, unexpected_version


class _Job(Struct):
    """One open job. `is_woken`: a wake-up came while it was leased."""

    pool: str
    due_at: int | None
    reason: WaitReason
    attempt: int
    token: int = 0
    leased_until: int | None = None
    calls_again: bool = False
    is_woken: bool = False

    def wake(self) -> None:
        if self.leased_until is not None:
            self.is_woken = True
        else:
            self.due_at, self.reason = 0, WaitReason.READY


class _Run(Struct):
    row: RunRow
    retry_of: RunId | None = None
    events: list[StoredEvent] = field(default_factory=list)
    blobs: dict[str, Blob] = field(default_factory=dict)
    snapshot: Snapshot | None = None
    jobs: dict[StepRunKey, _Job] = field(default_factory=dict)


_Runs = dict[RunId, _Run]


class MemoryStore:
    """The runtime's side."""

    waits = False

    def __init__(self, runs: _Runs, notices: LocalNotices, guards: MemoryGuards) -> None:
        self._runs = runs
        self._notices = notices
        self._guards = guards

    async def commit(self, commit: Commit) -> None:
        await self.write(pack(commit))

    async def write(self, commit: PackedCommit) -> None:
        if not self._is_written(commit):
            self._write(commit)
        self._notices.tell(notices_of(commit))

    def _is_written(self, commit: PackedCommit) -> bool:
        """Whether the run has these very events already."""
        run = self._runs.get(commit.run)
        if run is None or not commit.rows:
            return False
        return run.events[commit.expected : commit.version] == commit.rows

    def _write(self, commit: PackedCommit) -> None:
        run = self._checked(commit)
        self._guards.change(commit.guards)
        _append(run, commit)
        _settle_lease(run, commit)
        for key in list(run.jobs) if commit.drop_all else commit.drops:
            run.jobs.pop(key, None)
        for job in commit.jobs:
            run.jobs[job.key] = _new_job(job, run.jobs.get(job.key))
        for ref in commit.wakes:
            self._wake(ref)

    async def load(self, run: RunId) -> StoredRun | None:
        return await load_packed(self, run)

    async def read(self, run: RunId, *, knows: str) -> PackedRun | None:
        found = self._runs.get(run)
        if found is None:
            return None
        is_known = found.snapshot is not None and found.snapshot.format == knows
        snapshot = found.snapshot if is_known else None
        events = _packed(found, found.events[snapshot.version if snapshot else 0 :])
        row = found.row
        return PackedRun(row.digest, row.parent, row.depth, row.updated_at, events, snapshot)

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
        del wait_seconds
        waiting = [
            (job.due_at, ref.run, _in_order(ref.key), ref, job)
            for ref, job in self._jobs(runs)
            if job.leased_until is None and job.due_at is not None
            if pools is None or job.pool in pools
        ]
        due = nsmallest(limit, (entry for entry in waiting if entry[0] <= now), key=_first_three)
        for *_, job in due:
            job.leased_until, job.token = until, job.token + 1
        left = [entry[0] for entry in waiting if entry[-1].leased_until is None]
        leases = [_lease_of(ref, job) for *_, ref, job in due]
        versions = {lease.job.run: self._runs[lease.job.run].row.version for lease in leases}
        return LeaseResult(leases, min(left, default=None), versions)

    async def extend(self, leases: Sequence[Lease], until: int) -> list[Lease]:
        held = []
        for lease in leases:
            job = self._held(lease)
            if job is not None:
                job.leased_until = until
                held.append(replace(lease, until=until))
        return held

    async def expired(self, now: int, *, runs: Sequence[RunId] | None = None) -> list[Lease]:
        leases = [_lease_of(ref, job) for ref, job in self._jobs(runs) if job.leased_until]
        late = [lease for lease in leases if lease.until < now]
        return sorted(
            late, key=lambda lease: (lease.until, lease.job.run, _in_order(lease.job.key))
        )

    async def release(self, lease: Lease, *, due_at: int) -> None:
        job = self._held(lease)
        if job is not None:
            job.due_at, job.leased_until = due_at, None
            if job.is_woken:
                job.wake()
            job.is_woken = False
            self._notices.tell([woken(lease.job, due_at)])

    async def wake(self, job: JobRef) -> None:
        self._wake(job)
        self._notices.tell([woken(job, 0)])

    def _wake(self, job: JobRef) -> None:
        run = self._runs.get(job.run)
        if run is not None and job.key in run.jobs:
            run.jobs[job.key].wake()

    async def close(self) -> None:
        pass

    def _checked(self, commit: PackedCommit) -> _Run:
        """The run to write to. Nothing has changed when this refuses."""
        if commit.new is not None:
            self._check_key(commit.new.key)
        if commit.lease is not None and self._held(commit.lease) is None:
            raise lost_lease(commit.lease)
        found = self._runs.get(commit.run)
        version = found.row.version if found is not None else None
        if (version or 0) != commit.expected or (found is None) != (commit.new is not None):
            raise unexpected_version(commit, version)
        self._guards.check(commit.guards)
        if commit.new is not None:
            row = _first_row(commit, commit.new)
            found = self._runs[commit.run] = _Run(row, commit.new.retry_of)
        assert found is not None
        return found

    def _check_key(self, key: str | None) -> None:
        for run in self._runs.values() if key is not None else ():
            if run.row.key == key:
                raise KeyTaken(run.row.run)

    def _held(self, lease: Lease) -> _Job | None:
        """The job of a lease, unless that is lost."""
        run = self._runs.get(lease.job.run)
        job = run.jobs.get(lease.job.key) if run is not None else None
        is_held = job is not None and job.token == lease.token and job.leased_until is not None
        return job if is_held else None

    def open_jobs(self) -> list[JobRow]:
        """Every job there is, of all runs."""
        return [_job_row(ref, job) for ref, job in self._jobs(None)]

    def _jobs(self, runs: Sequence[RunId] | None) -> Iterator[tuple[JobRef, _Job]]:
        for run, kept in self._runs.items():
            if runs is None or run in runs:
                yield from ((JobRef(run, key), job) for key, job in kept.jobs.items())


class MemoryArchive:
    """The readers' side."""

    def __init__(self, runs: _Runs, artifacts: MemoryArtifacts) -> None:
        self._runs = runs
        self._artifacts = artifacts

    async def run(self, run: RunId) -> RunRow | None:
        found = self._runs.get(run)
        if found is None:
            return None
        retries = {one.retry_of: id for id, one in sorted(self._runs.items())}
        return _whole_row(found, retries)

    async def runs(self, asked: RunFilter) -> list[RunRow]:
        return self.choose(asked)[: asked.limit]

    def choose(self, asked: RunFilter) -> list[RunRow]:
        """The runs that are asked for, newest first, however many."""
        newest = sorted(self._runs.values(), key=lambda run: run.row.run, reverse=True)
        retries = {run.retry_of: run.row.run for run in reversed(newest)}
        rows = [(_whole_row(run, retries), _job_rows(run)) for run in newest]
        return [row for row, jobs in rows if fits(row, jobs, asked)]

    async def run_of_key(self, key: str) -> RunId | None:
        return next((run.row.run for run in self._runs.values() if run.row.key == key), None)

    async def events(self, run: RunId, *, after: int = 0, limit: int = 1000) -> list[Event]:
        return unpack_events(run, await self.rows(run, after=after, limit=limit), after=after)

    async def rows(self, run: RunId, *, after: int = 0, limit: int = 1000) -> PackedEvents:
        found = self._runs.get(run)
        if found is None:
            return PackedEvents([])
        return _packed(found, found.events[after : after + limit])

    async def jobs(self, run: RunId) -> list[JobRow]:
        found = self._runs.get(run)
        return _job_rows(found) if found is not None else []

    async def prune(self, *, ended_before: int, limit: int = 1000) -> int:
        old = [
            (run.row.ended_at, run.row.run)
            for run in self._runs.values()
            if run.row.ended_at is not None
            and run.row.ended_at < ended_before
            and not self._is_parent_open(run.row)
        ]
        going = nsmallest(limit, old)
        for _, run in going:
            await self.remove(run)
        return len(going)

    async def remove(self, run: RunId) -> bool:
        is_there = self._runs.pop(run, None) is not None
        if is_there:
            self._artifacts.forget(run)
        return is_there

    def _is_parent_open(self, row: RunRow) -> bool:
        parent = self._runs.get(row.parent.run) if row.parent is not None else None
        return parent is not None and parent.row.ended_at is None


class MemoryDatabase:
    """All of it, over the same dictionaries."""

    is_shared = False

    def __init__(self) -> None:
        runs: _Runs = {}
        self.clock = WallClock()
        self.notices = LocalNotices()
        self.guards = MemoryGuards()
        self.store = MemoryStore(runs, self.notices, self.guards)
        self.artifacts = MemoryArtifacts(runs.__contains__)
        self.archive = MemoryArchive(runs, self.artifacts)
        self.catalog = MemoryCatalog()
        self.statistics = MemoryStatistics(self.archive.choose, self.catalog.registered)
        self.vault = MemoryVault()
        self.roster = MemoryRoster(self.store.open_jobs)

    def on_loss(self, hear: Callable[[StoreGone], None]) -> None:
        """It has no files."""

    async def maintain(self) -> None:
        """It is gone before that."""

    async def close(self) -> None:
        await self.store.close()


def _first_row(commit: PackedCommit, new: NewRun) -> RunRow:
    return RunRow(
        run=commit.run,
        program=new.program,
        digest=new.digest,
        status=commit.status,
        version=0,
        created_at=commit.at,
        updated_at=commit.at,
        ended_at=None,
        error=None,
        key=new.key,
        labels=dict(new.labels),
        parent=new.parent,
        depth=new.depth,
    )


def _append(run: _Run, commit: PackedCommit) -> None:
    run.events += commit.rows
    run.blobs.update((blob.checksum, blob) for blob in commit.blobs)
    run.row = replace(
        run.row,
        status=commit.status,
        version=commit.version,
        updated_at=commit.rows[-1].at if commit.rows else run.row.updated_at,
        ended_at=commit.ended_at,
        error=msgspec.json.decode(commit.error) if commit.error is not None else None,
        error_kind=commit.failure.kind if commit.failure is not None else None,
        fingerprint=commit.failure.fingerprint if commit.failure is not None else None,
    )
    if commit.snapshot is not None:
        run.snapshot = commit.snapshot


def _settle_lease(run: _Run, commit: PackedCommit) -> None:
    """What becomes of the job that this commit answers."""
    if commit.lease is None:
        return
    job = run.jobs[commit.lease.job.key]
    park = commit.park
    if park is not None:
        job.leased_until, job.attempt = None, park.attempt
        job.due_at, job.reason, job.calls_again = park.due_at, park.reason, park.calls_again
        if job.is_woken:
            job.wake()
        job.is_woken = False
    elif not commit.keeps_lease and all(new.key != commit.lease.job.key for new in commit.jobs):
        del run.jobs[commit.lease.job.key]


def _new_job(new: NewJob, old: _Job | None) -> _Job:
    token = (old.token if old is not None else 0) + (new.taken_until is not None)
    return _Job(new.pool, new.due_at, new.reason, new.attempt, token, new.taken_until)


def _job_row(ref: JobRef, job: _Job) -> JobRow:
    return JobRow(
        job=ref,
        reason=job.reason,
        due_at=job.due_at,
        attempt=job.attempt,
        pool=job.pool,
        leased_until=job.leased_until,
        token=job.token,
    )


def _lease_of(ref: JobRef, job: _Job) -> Lease:
    return Lease(ref, job.token, job.leased_until or 0, job.calls_again)


def _packed(run: _Run, rows: list[StoredEvent]) -> PackedEvents:
    return PackedEvents(rows, [run.blobs[name] for name in checksums_in(rows)])


def _in_order(key: StepRunKey) -> tuple[str, int, int]:
    return key.step, key.visit, -1 if key.iteration is None else key.iteration


def _first_three(entry: tuple[object, ...]) -> tuple[object, ...]:
    return entry[:3]


def _whole_row(run: _Run, retries: Mapping[RunId | None, RunId]) -> RunRow:
    """`retries` tells which run takes up which."""
    retried_as = retries.get(run.row.run)
    return replace(run.row, open=says_most(_job_rows(run)), retried_as=retried_as)


def _job_rows(run: _Run) -> list[JobRow]:
    jobs = sorted(run.jobs.items(), key=lambda item: _in_order(item[0]))
    return [_job_row(JobRef(run.row.run, key), job) for key, job in jobs]
