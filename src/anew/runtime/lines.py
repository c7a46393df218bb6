"""The runs of one line: each took the place of the one before it. Reads their logs."""

from __future__ import annotations

from anew.engine.events import Event, RunRequested
from anew.runtime.records import read_log
from anew.runtime.restarts import successor
from anew.store import Archive, RunId

# Runs that took each other's place and are read together.
LINE_RUNS_MAX = 1_000


async def line_of(archive: Archive, run: RunId) -> list[list[Event]]:
    """The logs of a run and of those that took each other's place before and after it."""
    logs = [await read_log(archive, run)]
    while (before := _continued(logs[0])) is not None and len(logs) < LINE_RUNS_MAX:
        log = await read_log(archive, before)
        if not log:
            break
        logs.insert(0, log)
    following = await successor(archive, run)
    while following is not None and len(logs) < LINE_RUNS_MAX:
        logs.append(await read_log(archive, following))
        following = await successor(archive, following)
    return logs


def _continued(log: list[Event]) -> RunId | None:
    first = log[0]
    if not isinstance(first, RunRequested) or first.continues is None:
        return None
    return RunId(int(first.continues))
