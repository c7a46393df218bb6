"""The columns of a run that hold more than a number, read so that one bad row spoils no list.

What cannot be read is named as the damage of its run. Knows texts. Knows no database.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from anew.engine.state import RunStatus
from anew.values import Object

_STATUSES = frozenset(status.value for status in RunStatus)
_object_in = msgspec.json.Decoder(Object).decode
_texts_in = msgspec.json.Decoder(dict[str, str]).decode
_UNREADABLE = (msgspec.DecodeError, RecursionError)


class RunColumns(Struct, frozen=True):
    """Where nobody knows a status it is `failed`: nothing can go on with such a run."""

    status: RunStatus
    error: Object | None
    labels: dict[str, str]
    damage: str | None


def read_run_columns(status: str, error: str | None, labels: str | None) -> RunColumns:
    """What they say, and the first that says nothing."""
    damages: list[str] = []
    if status not in _STATUSES:
        damages.append(f"its status is {status[:40]!r}, which is none")
        status = RunStatus.FAILED
    told = names = None
    try:
        told = _object_in(error) if error is not None else None
    except _UNREADABLE:
        damages.append("its error cannot be read")
    try:
        names = _texts_in(labels) if labels is not None else None
    except _UNREADABLE:
        damages.append("its labels cannot be read")
    return RunColumns(RunStatus(status), told, names or {}, next(iter(damages), None))
