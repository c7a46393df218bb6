"""Commits and runs with every value already encoded: fit to wait, to travel and to be written.

Whoever packs a commit may go on to change its state. Who writes a packed one neither decodes nor
encodes events, and need not know them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec
from msgspec import Struct

from anew.engine.events import Event
from anew.engine.fingerprints import fingerprint_of, kind_of, message_of
from anew.engine.state import Key, RunStatus
from anew.errors import EngineBug
from anew.store import Commit, JobRef, Lease, NewJob, NewRun, Park, RunId, Stored
from anew.stores.codec import (
    Blob,
    EventRow,
    checksums_in,
    decode_event,
    decode_snapshot,
    encode_events,
    encode_snapshot,
    snapshot_format,
)
from anew.stores.damage import DamagedRun
from anew.values import Object

# What a reader knows who wants no snapshot.
NO_FORMAT = ""
# What a longer message says after this is not found by searching for it.
SEARCHED_MESSAGE_CHARACTERS_MAX = 2_000
ERROR_KIND_CHARACTERS_MAX = 200
_FAILED = RunStatus.FAILED


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
    rows: list[EventRow]
    status: RunStatus
    ended_at: int | None = None
    error: str | None = None
    blobs: list[Blob] = []
    lease: Lease | None = None
    park: Park | None = None
    keeps_lease: bool = False
    jobs: Sequence[NewJob] = ()
    drops: Sequence[Key] = ()
    drop_all: bool = False
    wakes: Sequence[JobRef] = ()
    new: NewRun | None = None
    snapshot: Snapshot | None = None
    failure: Failure | None = None

    @property
    def version(self) -> int:
        """That of the run, once this is written."""
        return self.expected + len(self.rows)


class PackedEvents(Struct, frozen=True):
    """Events as they were written, with the blobs they need."""

    rows: list[EventRow]
    blobs: list[Blob] = []


class PackedRun(Struct, frozen=True):
    """A `Stored`, encoded."""

    digest: str
    parent: JobRef | None
    depth: int
    last_at: int
    events: PackedEvents
    snapshot: Snapshot | None = None


class WritesPacked(Protocol):
    """What a store can do besides, so that others may reach it over a network."""

    async def write(self, commit: PackedCommit) -> None:
        """As `commit` does."""

    async def read(self, run: RunId, *, knows: str) -> PackedRun | None:
        """As `load` does; with a snapshot only if its format is the one the reader `knows`."""


class ReadsPacked(Protocol):
    """The same for an archive."""

    async def rows(self, run: RunId, *, after: int = 0, limit: int = 1000) -> PackedEvents:
        """As `events` does; what is damaged comes as it is, and what is missing does not."""


def pack(commit: Commit) -> PackedCommit:
    """Refuses what no caller may ask for, before anything waits."""
    if commit.park is not None and commit.lease is None:
        raise EngineBug(f"a commit of run {commit.run} parks a job without its lease")
    rows, blobs = encode_events(commit.events, after=commit.expected)
    error = commit.head.error
    return PackedCommit(
        run=commit.run,
        expected=commit.expected,
        at=commit.at,
        rows=rows,
        status=commit.head.status,
        ended_at=commit.head.ended_at,
        error=msgspec.json.encode(error).decode() if error is not None else None,
        blobs=blobs,
        lease=commit.lease,
        park=commit.park,
        keeps_lease=commit.keeps_lease,
        jobs=commit.jobs,
        drops=commit.drops,
        drop_all=commit.drop_all,
        wakes=commit.wakes,
        new=commit.new,
        snapshot=_snapshot(commit),
        failure=failure_of(error) if commit.head.status is _FAILED else None,
    )


def failure_of(error: Object | None) -> Failure:
    kind = kind_of(error)[:ERROR_KIND_CHARACTERS_MAX].replace("\0", " ")
    return Failure(kind, message_searched(error), fingerprint_of(error))


def message_searched(error: Object | None) -> str:
    """Without the character 0, which not every database has in its texts."""
    return message_of(error)[:SEARCHED_MESSAGE_CHARACTERS_MAX].replace("\0", " ")


def _snapshot(commit: Commit) -> Snapshot | None:
    if commit.snapshot is None:
        return None
    version = commit.expected + len(commit.events)
    return Snapshot(version, snapshot_format(), encode_snapshot(commit.snapshot))


async def load_packed(store: WritesPacked, run: RunId) -> Stored | None:
    """What `load` answers, of a store that reads packed runs."""
    packed = await store.read(run, knows=snapshot_format())
    if packed is None:
        return None
    stored = unpack_run(run, packed)
    if stored is None:
        packed = await store.read(run, knows=NO_FORMAT)
        stored = unpack_run(run, packed) if packed is not None else None
    return stored


def unpack_run(run: RunId, packed: PackedRun) -> Stored | None:
    """None when the snapshot cannot be read: then the run has to be read without one."""
    state = None
    if packed.snapshot is not None:
        state = decode_snapshot(packed.snapshot.format, packed.snapshot.data)
        if state is None:
            return None
    after = packed.snapshot.version if packed.snapshot is not None else 0
    events = unpack_events(run, packed.events, after=after)
    return Stored(packed.digest, packed.parent, packed.depth, state, events, packed.last_at)


def unpack_events(run: RunId, packed: PackedEvents, *, after: int) -> list[Event]:
    """DamagedRun when one cannot be read, or is missing: they follow event `after`."""
    blobs = {blob.checksum: blob.data for blob in packed.blobs}
    events: list[Event] = []
    for number, row in enumerate(packed.rows, after + 1):
        if row.seq != number:
            raise DamagedRun(run, number, "it is missing")
        events.append(decode_event(run, row, blobs))
    return events


def cut(packed: PackedEvents, bytes_max: int) -> PackedEvents:
    """The first of these events, as many as have about so many bytes; one at least."""
    blobs = {blob.checksum: blob for blob in packed.blobs}
    rows: list[EventRow] = []
    needed: dict[str, Blob] = {}
    size = 0
    for row in packed.rows:
        more = {name: blobs[name] for name in checksums_in([row]) if name in blobs}
        # A character may take four bytes; JSON of ours has mostly those that take one.
        size += len(row.data) + sum(len(blob.data) for blob in more.values())
        if rows and size > bytes_max:
            break
        rows.append(row)
        needed.update(more)
    return PackedEvents(rows, list(needed.values()))
