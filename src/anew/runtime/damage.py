"""What is left of a run whose log cannot be read to its end, or makes no sense from an event on.

Everything before the damage is as good as ever: it can be shown, exported and forked. Reads only.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from msgspec import Struct

from anew.engine.events import Event
from anew.engine.fold import evolve
from anew.engine.state import RunState
from anew.runtime.run_logs import PAGE_EVENTS
from anew.store import Archive, RunId, RunRow, StoredEvent
from anew.stores.damage import DamagedRun
from anew.values import Object

# Damaged runs that a process remembers, so that its lists can name them.
DAMAGES_KEPT_MAX = 1_000


class Readable(Struct, frozen=True):
    """The events that can be read, and what ends them, if anything does."""

    events: list[Event]
    damage: DamagedRun | None = None


def folded(run: RunId, events: Iterable[Event], state: RunState | None = None) -> RunState:
    """The state after these events; DamagedRun at the first that does not follow."""
    state = RunState() if state is None else state
    for event in events:
        try:
            evolve(state, event)
        except Exception as error:  # whatever a log says that nobody can have written
            raise out_of_place(run, event, error) from error
    return state


def out_of_place(run: RunId, event: Event, error: Exception) -> DamagedRun:
    """For an event that can be read, and does not follow from those before it."""
    return DamagedRun(run, event.seq, f"its {event.name} does not follow ({error})")


async def readable_page(archive: Archive, run: RunId, *, after: int, limit: int) -> Readable:
    """As many events as can be had; the damage with the last of them."""
    try:
        return Readable(await archive.events(run, after=after, limit=limit))
    except DamagedRun as damage:
        whole = damage.seq - 1 - after
        events = await archive.events(run, after=after, limit=whole) if whole > 0 else []
        return Readable(events, damage)


async def readable_log(archive: Archive, row: RunRow) -> Readable:
    """All of a log up to its damage. The row was read before, so that it cannot know more."""
    log: list[Event] = []
    while True:
        page = await readable_page(archive, row.run, after=len(log), limit=PAGE_EVENTS)
        log.extend(page.events)
        if page.damage is not None:
            return Readable(log, page.damage)
        if len(page.events) < PAGE_EVENTS:
            break
    is_short = len(log) < row.version and await archive.run(row.run) is not None
    return Readable(log, DamagedRun(row.run, len(log) + 1, "it is missing") if is_short else None)


async def raw_rows(archive: Archive, run: RunId, *, after: int) -> list[StoredEvent]:
    """What lies in the database behind an event, whatever it is."""
    rows: list[StoredEvent] = []
    while True:
        seen = rows[-1].seq if rows else after
        page = await archive.rows(run, after=seen, limit=PAGE_EVENTS)
        rows.extend(page.rows)
        if len(page.rows) < PAGE_EVENTS:
            return rows


def check_row(row: RunRow) -> RunRow:
    """The row, if it can be gone by; DamagedRun when it cannot."""
    if row.damage is not None:
        raise DamagedRun(row.run, 0, row.damage)
    return row


def damage_row(damage: DamagedRun) -> Object:
    """As JSON; `event` is null where the row of the run is damaged."""
    return {"event": damage.seq or None, "reason": damage.reason}


class Damages:
    """The damaged runs that this process came across, until one of them can be read again."""

    def __init__(self) -> None:
        self._known: OrderedDict[RunId, DamagedRun] = OrderedDict()

    def keep(self, damage: DamagedRun) -> None:
        self._known[damage.run] = damage
        while len(self._known) > DAMAGES_KEPT_MAX:
            self._known.popitem(last=False)

    def forget(self, run: RunId) -> None:
        self._known.pop(run, None)

    def of(self, run: RunId) -> DamagedRun | None:
        return self._known.get(run)
