"""What a command that plays or follows a run exits with."""

from __future__ import annotations

from collections.abc import Mapping

from anew.engine.state import RunStatus

_WAITING = 3
_ENDED: Mapping[RunStatus, int] = {
    RunStatus.DONE: 0,
    RunStatus.FAILED: 1,
    RunStatus.CANCELLED: 130,
}


def exit_status_of(status: RunStatus) -> int:
    """A run that has not ended waits."""
    return _ENDED.get(status, _WAITING)
