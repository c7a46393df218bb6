"""An event as a row, as every surface shows it: its place, its moment as text, its data."""

from __future__ import annotations

from msgspec import to_builtins

from anew.engine.events.fact import Fact
from anew.engine.moments import moment_text
from anew.values import Object

_PLACE = frozenset(Fact.__struct_fields__)
# What of an event is a moment, besides its own; whoever reads rows back turns them into numbers.
MOMENTS = ("not_before", "deadline", "until")


def to_row(event: Fact) -> Object:
    """The event as every surface shows it: its place, and the rest under `data`."""
    data = {k: v for k, v in to_builtins(event).items() if k not in _PLACE}
    for key in MOMENTS:
        if data.get(key) is not None:
            data[key] = moment_text(data[key])
    return row_of(event, event.name, data)


def row_of(event: Fact, name: str, data: Object) -> Object:
    """A row at the event's place, under this name and with this data."""
    return {
        "seq": event.seq,
        "at": moment_text(event.at),
        "name": name,
        "step": event.step,
        "visit": event.visit,
        "iteration": event.iteration,
        "task": event.task,
        "attempt": event.attempt,
        "data": data,
    }
