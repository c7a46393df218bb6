"""One transition of a run, as it is decided and as it is written down.

What is packed has every value encoded: it can wait and travel, and whoever writes it need not know
events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from anew.engine.causes import Cause
from anew.engine.events import Event
from anew.engine.state import RunState, RunStatus, StepRunKey
from anew.store.guards import GuardWrite
from anew.store.jobs import JobRef, Lease, NewJob, Park, RunId
from anew.values import Object


class RunHead(Struct, frozen=True, gc=False):
    """What lists of runs show, written with every commit.

    `cause` is the failure behind the `error`, where the step that failed dealt with another's.
    """

    status: RunStatus
    error: Object | None = None
    ended_at: int | None = None
    cause: Cause | None = None


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
    `drop_all` takes every job of the run away (it ended). `wakes` are jobs of any run. `guards` are
    the states that it was decided from, and what became of them.
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
    drops: Sequence[StepRunKey] = ()
    drop_all: bool = False
    wakes: Sequence[JobRef] = ()
    new: NewRun | None = None
    snapshot: RunState | None = None
    guards: Sequence[GuardWrite] = ()


class StoredRun(Struct, frozen=True):
    """A run as it lies in the store: the newest snapshot, and the events after it.

    `last_at` is the moment of its newest event, snapshot or not.
    """

    digest: str
    parent: JobRef | None
    depth: int
    snapshot: RunState | None
    events: list[Event]
    last_at: int = 0


class Blob(Struct, frozen=True):
    """A value kept apart. `checksum` is its address within its run."""

    checksum: str
    data: bytes


class StoredEvent(Struct, frozen=True, gc=False):
    """An event as stores keep it. `replaced` is JSON, None for an event that has all its values."""

    seq: int
    at: int
    name: str
    data: str
    replaced: str | None = None


class Snapshot(Struct, frozen=True):
    """The state of a run at a version; only who knows its `format` can read it."""

    version: int
    format: str
    data: bytes


class Failure(Struct, frozen=True):
    """What a failed run is found by."""

    kind: str
    message: str
    fingerprint: str


class PackedCommit(Struct, frozen=True, omit_defaults=True, gc=False):
    """A `Commit`, field by field, encoded. `error` is JSON. `failure` is set if the run failed."""

    run: RunId
    expected: int
    at: int
    rows: list[StoredEvent]
    status: RunStatus
    ended_at: int | None = None
    error: str | None = None
    blobs: list[Blob] = []
    lease: Lease | None = None
    park: Park | None = None
    keeps_lease: bool = False
    jobs: Sequence[NewJob] = ()
    drops: Sequence[StepRunKey] = ()
    drop_all: bool = False
    wakes: Sequence[JobRef] = ()
    new: NewRun | None = None
    snapshot: Snapshot | None = None
    failure: Failure | None = None
    guards: Sequence[GuardWrite] = ()

    @property
    def version(self) -> int:
        """That of the run, once this is written."""
        return self.expected + len(self.rows)


class PackedEvents(Struct, frozen=True):
    """Events as they were written, with the blobs they need."""

    rows: list[StoredEvent]
    blobs: list[Blob] = []


class PackedRun(Struct, frozen=True):
    """A `StoredRun`, encoded."""

    digest: str
    parent: JobRef | None
    depth: int
    last_at: int
    events: PackedEvents
    snapshot: Snapshot | None = None
