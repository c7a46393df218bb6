"""Which runs have not ended, and which of them are the children that others wait for."""

from __future__ import annotations

from collections.abc import Iterable

from anew.engine.state import FINAL, RunStatus
from anew.store import Archive, RunFilter, RunId, RunRow

OPEN_STATUSES = tuple(status for status in RunStatus if status not in FINAL)
_PAGE = 500


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
