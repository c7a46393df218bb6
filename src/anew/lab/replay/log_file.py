"""Read a log that was exported: one JSON object per line, as `anew events --json` prints them.

Rows have moments to the microsecond; see `lab.replay.rounding`. Knows no file and no database.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import msgspec

from anew.engine.events import EVENTS, Event
from anew.engine.events.rows import MOMENTS
from anew.errors import ConfigError
from anew.values import Value
from anew.weight import VALUE_DEPTH_MAX

# No value of a log is deeper; a row has a few levels of its own.
ROW_DEPTH_MAX = VALUE_DEPTH_MAX + 20
_PLACE = ("seq", "step", "visit", "iteration", "task", "attempt")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# Whatever a row that nobody wrote can lead to.
_NO_EVENT = (
    *(msgspec.MsgspecError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError),
)


def read_rows(lines: Iterable[str | bytes], file: str) -> list[Event]:
    """The events; ConfigError names the line that is none. Empty lines do not count."""
    log = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                log.append(event_of(msgspec.json.decode(line)))
            except _NO_EVENT as error:
                raise ConfigError(
                    f"{file}:{number}: this is not an event ({error}). "
                    "A log has one JSON object per line, as `anew events RUN --json` prints it."
                ) from error
    if not log:
        raise ConfigError(f"{file} holds no event.")
    return log


def event_of(row: Value) -> Event:
    """The event a row tells of; ValueError or KeyError when it is none."""
    if not (isinstance(row, dict) and isinstance(row.get("data"), dict)):
        raise ValueError("it has no name and data")
    if not _is_shallow(row):
        raise ValueError(f"it is nested deeper than {ROW_DEPTH_MAX} levels")
    name = row["name"]
    if name not in EVENTS:
        raise ValueError(f"there is no event {name!r}")
    data = {
        key: _nanoseconds(value) if key in MOMENTS and value is not None else value
        for key, value in row["data"].items()
    }
    place = {key: row[key] for key in _PLACE if row.get(key) is not None}
    fields = {**data, **place, "at": _nanoseconds(row["at"])}
    event: Event = msgspec.convert(fields, type=EVENTS[name])  # type: ignore[assignment]
    return event


def _is_shallow(row: Value) -> bool:
    level = [row]
    for _ in range(ROW_DEPTH_MAX):
        inner = [
            part.values() if isinstance(part, dict) else part
            for part in level
            if isinstance(part, dict | list)
        ]
        level = [item for parts in inner for item in parts]
        if not level:
            return True
    return False


def _nanoseconds(moment: object) -> int:
    if not isinstance(moment, str):
        raise ValueError(f"{moment!r} is not a time")
    return ((datetime.fromisoformat(moment) - _EPOCH) // _MICROSECOND) * 1_000
