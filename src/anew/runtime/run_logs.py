"""Whole logs: of one run, or of a chain of runs that took each other's place by a restart.

Reads only.
"""

from __future__ import annotations

from anew.engine.events import Event, RunRequested
from anew.runtime.keys import RESTART
from anew.store import Archive, RunId

PAGE_EVENTS = 5_000
# Runs that took each other's place and are read together.
LINE_RUNS_MAX = 1_000


async def read_log(archive: Archive, run: RunId, *, until: int | None = None) -> list[Event]:
    """The log page by page: the whole, or its events up to `until`."""
    log: list[Event] = []
    while True:
        limit = PAGE_EVENTS if until is None else min(PAGE_EVENTS, until - len(log))
        page = await archive.events(run, after=len(log), limit=limit) if limit else []
        log.extend(page)
        if len(page) < PAGE_EVENTS:
            return log


async def successor(archive: Archive, run: RunId) -> RunId | None:
    """The run that took the place of this one, if one did."""
    return await archive.run_of_key(f"{RESTART}{run}")


async def last_of_chain(archive: Archive, run: RunId) -> RunId:
    """The run that continues, after all that took each other's place."""
    while (following := await successor(archive, run)) is not None:
        run = following
    return run


async def read_chain(archive: Archive, run: RunId) -> list[list[Event]]:
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
