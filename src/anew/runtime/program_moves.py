"""Which runs could go on under a new version of their program, and why others cannot.

Looks at the newest runs of a name that have not ended, and changes nothing: a run is moved by a
fork of it that cancels it.
"""

from __future__ import annotations

from msgspec import Struct, to_builtins

from anew.engine.fitting import misfits_of
from anew.engine.state import RunState
from anew.errors import AnewError
from anew.runtime.damage import folded
from anew.runtime.families import OPEN_STATUSES
from anew.runtime.programs import Document, Programs
from anew.store import Database, RunFilter, RunId, RunRow
from anew.values import Object
from anew.views.forking import misfit_row

# Each is read and folded, about ten milliseconds at most, while whoever registers waits.
RUNS_LOOKED_AT_MAX = 100


class Stuck(Struct, frozen=True):
    """A run that cannot be moved; `reasons` are as `misfit_row` has them."""

    run: str
    reasons: list[Object]


class Moves(Struct, frozen=True):
    """Which unfinished runs of a name could go on under its new version.

    `has_more`: there are more runs than were looked at.
    """

    movable: list[str]
    stuck: list[Stuck]
    has_more: bool = False


async def moves_to(database: Database, programs: Programs, document: Document) -> Moves:
    """Which runs could be moved to this document, newest first."""
    program = document.program
    limit = RUNS_LOOKED_AT_MAX + 1
    asked = RunFilter(statuses=OPEN_STATUSES, program=program.name, limit=limit)
    rows = await database.archive.runs(asked)
    moves = Moves([], [], has_more=len(rows) == limit)
    for row in rows[:RUNS_LOOKED_AT_MAX]:
        if row.digest == program.digest:
            continue
        reasons = await _reasons(database, programs, row, document)
        if reasons:
            moves.stuck.append(Stuck(str(row.run), reasons))
        else:
            moves.movable.append(str(row.run))
    return moves


def moves_row(moves: Moves) -> Object:
    """The JSON of it."""
    row: Object = to_builtins(moves)
    return row


async def _reasons(
    database: Database, programs: Programs, row: RunRow, document: Document
) -> list[Object]:
    if row.parent is not None:
        return [_told(f"run {row.parent.run} waits for it: move that one")]
    try:
        old = (await programs.get(row.digest)).program
    except AnewError as error:
        return [_told(f"its own program cannot be compiled here: {error}")]
    state = await _state_of(database, row.run)
    if state.is_final:  # it ended meanwhile
        return []
    if state.is_stopping:
        return [_told("it is about to fail")]
    return [misfit_row(found) for found in misfits_of(state, old, document.program)]


def _told(message: str) -> Object:
    """A reason that no place in the document has."""
    empty = dict.fromkeys(("step", "task", "file", "line", "column"))
    return {"message": message, **empty}


async def _state_of(database: Database, run: RunId) -> RunState:
    stored = await database.store.load(run)
    if stored is None:
        return RunState()
    return folded(run, stored.events, stored.snapshot)
