"""How runs are looked for in rows, the same in every store: by a text, and by how they stand.

In texts A to Z and a to z are alike; every other character is only like itself.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator

import msgspec

from anew.engine.statuses import DetailedStatus
from anew.store import HIDDEN_KEYS, RunRow, WaitReason
from anew.stores.packing import message_searched

# What a run in a state has besides, and an index knows: the others need not be looked at.
JOB_STATES = {
    DetailedStatus.PERSON: "person",
    DetailedStatus.SIGNAL: "signal",
    DetailedStatus.RETRYING: "retry",
}
# Why a job is put aside until a moment that somebody may bring forward.
DELAYS = (WaitReason.RETRY, WaitReason.SLEEP)
_STATUSES = {
    DetailedStatus.QUEUED: ("new", "queued", "running", "waiting"),
    DetailedStatus.DEAD: ("failed",),
    DetailedStatus.PERSON: ("running", "waiting"),
    DetailedStatus.SIGNAL: ("running", "waiting"),
    DetailedStatus.RETRYING: ("running", "waiting"),
    DetailedStatus.PARKED: ("running", "waiting"),
}
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def statuses_of(states: Iterable[DetailedStatus]) -> list[str]:
    """Those that runs in these states can have."""
    return sorted({status for state in states for status in _STATUSES.get(state, (state.value,))})


def like(text: str) -> str:
    """The pattern of LIKE for rows that have it somewhere; `\\` escapes."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def json_inside(text: str) -> str:
    """As it stands in a longer text of JSON."""
    return msgspec.json.encode(text).decode()[1:-1]


def digits_of(text: str) -> bool:
    """Whether a run's id can have it."""
    return text.isascii() and text.isdigit()


def has_text(row: RunRow, text: str) -> bool:
    wanted = text.translate(_LOWER)
    return any(wanted in place.translate(_LOWER) for place in _places(row))


def _places(row: RunRow) -> Iterator[str]:
    yield str(row.run)
    yield row.program
    if row.key is not None and not row.key.startswith(HIDDEN_KEYS):
        yield row.key
    for name, value in row.labels.items():
        yield from (name, value)
    if row.fingerprint is not None:
        yield message_searched(row.error)
