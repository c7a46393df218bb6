"""Events and snapshots as they are written down, the same in every store.

An event is its name and its JSON. Large values of large events are kept apart as blobs; which ones
is written beside the event, so that data that merely looks like a reference stays data.
Knows bytes and rows. Does not know databases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from typing import Any, TypeAlias
from zlib import crc32

import msgspec
from msgspec import Struct

from anew.engine.events import EVENTS, Event, Fact
from anew.engine.outcome import Outcome
from anew.engine.results import Compensable, Compensation, StepResult
from anew.engine.state import (
    AwaitedSignal,
    Branch,
    BranchGroup,
    GuardedCall,
    KeptSignal,
    LoopVisit,
    Origin,
    OutcomeSummary,
    Question,
    RepeatedFailure,
    RunState,
    SignalBuffer,
    StepRun,
    StepRunKey,
    Token,
)
from anew.errors import EngineBug
from anew.guards.state import HeldCall
from anew.store import Blob, RunId, StoredEvent
from anew.stores.damage import DamagedRun
from anew.values import Object, Value

# An event whose JSON is longer than this keeps its large values apart.
INLINE_BYTES_MAX = 64 * 1024
# A smaller value stays where it is: a reference to it would be about as long.
BLOB_BYTES_MIN = 1024
# Raise it when the fold makes another state of the same events. A changed field shows by itself.
FOLD_VERSION = 3

# Fields whose parts are kept apart: what a task gave, another may be given, or may keep.
_TAKEN_APART = ("outcome", "patches", "inputs")
_PLACE = frozenset(Fact.__struct_fields__)
_STATE_TYPES: tuple[type[Struct], ...] = (
    *(RunState, Token, StepRun, LoopVisit, StepResult, StepRunKey),
    *(Compensable, Compensation),
    *(
        Origin,
        Question,
        OutcomeSummary,
        Branch,
        BranchGroup,
        RepeatedFailure,
        AwaitedSignal,
        KeptSignal,
        SignalBuffer,
        GuardedCall,
        HeldCall,
    ),
)
Path: TypeAlias = tuple[str, ...]


class Replaced(Struct, frozen=True, array_like=True):
    """Where in an event a value was taken out, and which blob it became."""

    path: Path
    checksum: str


_encode = msgspec.json.Encoder().encode
_replaced_in = msgspec.json.Decoder(list[Replaced]).decode


def encode_events(events: Sequence[Event], *, after: int) -> tuple[list[StoredEvent], list[Blob]]:
    """Rows and blobs of events that follow version `after` without a gap."""
    rows: list[StoredEvent] = []
    blobs: list[Blob] = []
    for number, event in enumerate(events, after + 1):
        if event.seq != number:
            raise EngineBug(f"{event.name} has seq {event.seq} where {number} is next")
        data = _data(event)
        if len(data) > INLINE_BYTES_MAX:
            row, apart = _lightened(event, len(data))
            blobs += apart
        else:
            row = StoredEvent(event.seq, event.at, event.name, data.decode())
        rows.append(row)
    return rows, blobs


def _data(event: Event) -> bytes:
    """An event without its place and moment in the log, which have columns of their own."""
    seq, at = event.seq, event.at
    event.seq = event.at = 0  # a default is left out, and making a copy takes longer than encoding
    try:
        return _encode(event)
    finally:
        event.seq, event.at = seq, at


def checksums_in(rows: Iterable[StoredEvent]) -> set[str]:
    """The blobs that decoding these rows will ask for; what cannot be read asks for none."""
    found: set[str] = set()
    for row in rows:
        if row.replaced is not None:
            with suppress(msgspec.DecodeError, RecursionError):
                found.update(part.checksum for part in _replaced_in(row.replaced))
    return found


def decode_event(run: RunId, row: StoredEvent, blobs: Mapping[str, bytes]) -> Event:
    """The event as it was before it was encoded; DamagedRun when that cannot be had."""
    try:
        if row.replaced is None:
            event: Event = _decoder(row.name)(row.data)
        else:
            event = _restored(run, row, blobs)
    except (msgspec.DecodeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise DamagedRun(run, row.seq, _why(row, error)) from error
    event.seq, event.at = row.seq, row.at
    return event


def _why(row: StoredEvent, error: Exception) -> str:
    if row.name not in EVENTS:
        return f"{row.name[:80]!r} is not an event that this version of Anew knows"
    return f"its {row.name} cannot be read ({error})"


def encode_snapshot(state: RunState) -> bytes:
    """The whole state, to be kept with `snapshot_format()`."""
    return msgspec.msgpack.encode(state)


def decode_snapshot(kept_format: str, data: bytes) -> RunState | None:
    """The state; None when another version wrote it, and the events have to be folded instead."""
    if kept_format != snapshot_format():
        return None
    try:
        return _snapshot_decoder()(data)
    except msgspec.DecodeError:
        return None


@cache
def snapshot_format() -> str:
    """Names the shape of the state: it differs as soon as any of its fields does."""
    shape = [(kind.__name__, sorted(kind.__annotations__.items())) for kind in _STATE_TYPES]
    return f"{FOLD_VERSION}-{crc32(repr(shape).encode()):08x}"


@cache
def _snapshot_decoder() -> Callable[[bytes], RunState]:
    """Made when first needed, as those of events are: a run that begins reads no snapshot."""
    return msgspec.msgpack.Decoder(RunState).decode


@cache
def _decoder(name: str) -> Any:
    return msgspec.json.Decoder(EVENTS[name]).decode


def _lightened(event: Event, size: int) -> tuple[StoredEvent, list[Blob]]:
    """`event` with its largest values taken out, one after the other, until the rest is small."""
    fields = _shallow(event)
    replaced: list[Replaced] = []
    blobs: list[Blob] = []
    for path, text in _largest_first(fields):
        if size <= INLINE_BYTES_MAX or len(text) < BLOB_BYTES_MIN:
            break
        blob = Blob(sha256(text).hexdigest(), text)
        _put(fields, path, _reference(blob))
        replaced.append(Replaced(path, blob.checksum))
        blobs.append(blob)
        size -= len(text)
    kept = _encode(replaced).decode() if replaced else None
    return StoredEvent(event.seq, event.at, event.name, _encode(fields).decode(), kept), blobs


def _shallow(event: Event) -> Object:
    """The fields of an event, and those of its outcome and patches, in mappings of our own."""
    fields = msgspec.structs.asdict(event)
    del fields["seq"], fields["at"]
    for name, value in fields.items():
        if isinstance(value, Outcome):
            fields[name] = msgspec.structs.asdict(value)
        elif name in _TAKEN_APART and isinstance(value, dict):
            fields[name] = dict(value)
    return fields


def _largest_first(fields: Object) -> list[tuple[Path, bytes]]:
    found: list[tuple[Path, bytes]] = []
    for name, value in fields.items():
        if name in _TAKEN_APART and isinstance(value, dict):
            found += _parts(name, value)
        elif name not in _PLACE:
            found.append(((name,), _encode(value)))
    return sorted(found, key=lambda candidate: len(candidate[1]), reverse=True)


def _parts(name: str, value: Object) -> list[tuple[Path, bytes]]:
    """The parts of a mapping; inputs are one where no part is most of them."""
    parts: list[tuple[Path, bytes]] = [
        ((name, inner), _encode(part)) for inner, part in value.items()
    ]
    sizes = [len(text) for _, text in parts]
    if name == "inputs" and 2 * max(sizes, default=0) < sum(sizes):
        return [((name,), _encode(value))]
    return parts


def _reference(blob: Blob) -> Object:
    """What stands in an event for a value that is kept apart."""
    size, checksum = len(blob.data), f"sha256:{blob.checksum}"
    return {"$ref": {"ref": f"blob:{blob.checksum}", "size": size, "checksum": checksum}}


def _put(fields: Object, path: Path, value: Value) -> None:
    *outer, last = path
    for name in outer:
        fields = fields[name]
    fields[last] = value


def _restored(run: RunId, row: StoredEvent, blobs: Mapping[str, bytes]) -> Event:
    fields: Object = msgspec.json.decode(row.data)
    for part in _replaced_in(row.replaced or "[]"):
        data = blobs.get(part.checksum)
        if data is None or sha256(data).hexdigest() != part.checksum:
            what = "missing" if data is None else "damaged"
            where = ".".join(part.path)
            why = f"the value {where!r} of its {row.name} is {what} (blob {part.checksum})"
            raise DamagedRun(run, row.seq, why)
        _put(fields, part.path, msgspec.json.decode(data))
    event: Event = msgspec.convert(fields, type=EVENTS[row.name])  # type: ignore[assignment]
    return event
