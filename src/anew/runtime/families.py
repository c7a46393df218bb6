"""Which runs there are, which have not ended, and which are the children that others wait for."""

from __future__ import annotations

from collections.abc import Iterable

from anew.engine.state import FINAL, RunStatus
from anew.errors import ConfigError
from anew.store import Archive, RunFilter, RunId, RunRow

OPEN_STATUSES = tuple(status for status in RunStatus if status not in FINAL)
_PAGE = 500
# How many of the newest runs that wait are looked at for the parents that wait for them.
WAITING_CHILDREN_MAX = 1_000


class NoSuchRun(ConfigError):
    def __init__(self, run: RunId) -> None:
        super().__init__(f"there is no run {run}. `anew runs` lists the runs.")


async def existing_run(archive: Archive, run: RunId) -> RunRow:
    """Its row; NoSuchRun when there is none."""
    row = await archive.run(run)
    if row is None:
        raise NoSuchRun(run)
    return row


async def unfinished_runs(archive: Archive, parent: RunId | None = None) -> list[RunRow]:
    """Every run that has not ended, newest first; of one parent, if one is named."""
    found: list[RunRow] = []
    before = None
    while True:
        asked = RunFilter(statuses=OPEN_STATUSES, parent=parent, before=before, limit=_PAGE)
        page = await archive.runs(asked)
        found.extend(page)
        if len(page) < _PAGE:
            return found
        before = page[-1].run


async def families(archive: Archive, runs: Iterable[RunId]) -> list[RunId]:
    """The runs, and their unfinished children, grandchildren and so on."""
    todo = list(runs)
    family = dict.fromkeys(todo)
    while todo:
        for child in await unfinished_runs(archive, todo.pop()):
            if child.run not in family:
                family[child.run] = None
                todo.append(child.run)
    return list(family)


async def waiting_parents(archive: Archive) -> dict[RunId, RunId]:
    """The runs that wait for a child which waits for others, however deep; the child by run."""
    asked = RunFilter(statuses=[RunStatus.WAITING], is_child=True, limit=WAITING_CHILDREN_MAX)
    found: dict[RunId, RunId] = {}
    asking = {row.run: row for row in await archive.runs(asked)}
    below = {run: run for run in asking}
    while asking:
        parents: dict[RunId, RunId] = {}
        for row in asking.values():
            if row.parent is not None and row.parent.run not in found:
                parents[row.parent.run] = found[row.parent.run] = below[row.run]
        above = RunFilter(runs=list(parents), limit=len(parents))
        asking = {row.run: row for row in await archive.runs(above)} if parents else {}
        below = parents
    return found
