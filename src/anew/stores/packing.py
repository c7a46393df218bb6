"""Commits and runs with every value already encoded: fit to wait, to travel and to be written.

Whoever packs a commit may go on to change its state. Who writes a packed one neither decodes nor
encodes events, and need not know them.
"""

from __future__ import annotations

import msgspec

from anew.engine.causes import Cause
from anew.engine.events import Event
from anew.engine.fingerprints import fingerprint_of, kind_of, message_of
from anew.engine.state import RunStatus
from anew.errors import EngineBug
from anew.store import (
    Blob,
    Commit,
    Failure,
    PackedCommit,
    PackedEvents,
    PackedRun,
    RunId,
    RunLog,
    Snapshot,
    StoredEvent,
    StoredRun,
)
from anew.stores.codec import (
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
# Between a cause and what the step said that dealt with it.
_THEN = " (then: "
_FAILED = RunStatus.FAILED


def pack(commit: Commit) -> PackedCommit:
    """Refuses what no caller may ask for, before anything waits."""
    if commit.park is not None and commit.lease is None:
        raise EngineBug(f"a commit of run {commit.run} suspends a job without its lease")
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
        guards=commit.guards,
        snapshot=_snapshot(commit),
        failure=failure_of(error, commit.head.cause) if commit.head.status is _FAILED else None,
    )


def failure_of(error: Object | None, cause: Cause | None = None) -> Failure:
    """Runs with one cause are one problem, whatever the step said that dealt with it."""
    kind = kind_of(error)[:ERROR_KIND_CHARACTERS_MAX].replace("\0", " ")
    first = error if cause is None else cause.error
    return Failure(kind, message_searched(error, cause), fingerprint_of(first))


def may_tell_a_cause(message: str) -> bool:
    """Whether a message that was searched may be of a run with a cause; its state knows."""
    return _THEN in message


def message_searched(error: Object | None, cause: Cause | None = None) -> str:
    """Without the character 0, which not every database has in its texts."""
    message = message_of(error)
    if cause is not None:
        message = f"{cause.step}: {message_of(cause.error)}{_THEN}{message})"
    return message[:SEARCHED_MESSAGE_CHARACTERS_MAX].replace("\0", " ")


def _snapshot(commit: Commit) -> Snapshot | None:
    if commit.snapshot is None:
        return None
    version = commit.expected + len(commit.events)
    return Snapshot(version, snapshot_format(), encode_snapshot(commit.snapshot))


async def load_packed(store: RunLog, run: RunId) -> StoredRun | None:
    """What `load` answers, of a store that reads packed runs."""
    packed = await store.read(run, knows=snapshot_format())
    if packed is None:
        return None
    stored = unpack_run(run, packed)
    if stored is None:
        packed = await store.read(run, knows=NO_FORMAT)
        stored = unpack_run(run, packed) if packed is not None else None
    return stored


def unpack_run(run: RunId, packed: PackedRun) -> StoredRun | None:
    """None when the snapshot cannot be read: then the run has to be read without one."""
    state = None
    if packed.snapshot is not None:
        state = decode_snapshot(packed.snapshot.format, packed.snapshot.data)
        if state is None:
            return None
    after = packed.snapshot.version if packed.snapshot is not None else 0
    events = unpack_events(run, packed.events, after=after)
    return StoredRun(packed.digest, packed.parent, packed.depth, state, events, packed.last_at)


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
    rows: list[StoredEvent] = []
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
