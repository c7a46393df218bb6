"""Pages of a log that are bounded in bytes as well as in events.

What an event weighs is not known before it is read: the first of a page are read a few at a time,
and those after them as many as should fit.
"""

from __future__ import annotations

from msgspec import Struct

from anew.engine.events import Event
from anew.store import Archive, PackedEvents, RunId
from anew.stores.damage import DamagedRun
from anew.stores.packing import cut, unpack_events

# What one answer may have of a log, as it is stored; a single event may have more.
EVENTS_PAGE_BYTES_MAX = 4 * 1024 * 1024
# Read before it is known how large the events of a run are.
_FIRST_EVENTS = 8


class Page(Struct, frozen=True):
    """`next` is the event to go on after; None when the log ended here."""

    events: list[Event]
    next: int | None


async def read_page(
    archive: Archive, run: RunId, *, after: int, limit: int, bytes_max: int = EVENTS_PAGE_BYTES_MAX
) -> Page:
    """The events after one: `limit` at most, about so many bytes at most, one at least."""
    events: list[Event] = []
    size, count = 0, min(limit, _FIRST_EVENTS)
    while True:
        found = await archive.rows(run, after=after, limit=count)
        fitting = cut(found, bytes_max - size)
        is_whole = len(fitting.rows) == len(found.rows)
        try:
            events += unpack_events(run, fitting, after=after)
        except DamagedRun as damage:
            return _before(damage, run, events, fitting, after=after)
        size += _bytes_in(fitting)
        if is_whole and len(found.rows) < count:
            return Page(events, None)
        after = events[-1].seq
        if not is_whole or len(events) == limit or size >= bytes_max:
            return Page(events, after)
        count = _more(limit - len(events), bytes_max - size, average=size // len(events) + 1)


def _before(
    damage: DamagedRun, run: RunId, events: list[Event], found: PackedEvents, *, after: int
) -> Page:
    """What comes before a damage; the damage itself where nothing does."""
    rows = [row for row in found.rows if row.seq < damage.seq]
    events += unpack_events(run, PackedEvents(rows, found.blobs), after=after)
    if not events:
        raise damage
    return Page(events, events[-1].seq)


def _more(events: int, left: int, *, average: int) -> int:
    """How many to read next: what fits if they are like those before."""
    return max(1, min(events, left // average))


def _bytes_in(packed: PackedEvents) -> int:
    return sum(len(row.data) for row in packed.rows) + sum(len(one.data) for one in packed.blobs)
