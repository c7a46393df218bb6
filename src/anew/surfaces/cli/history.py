"""What every reading command does first: open the place it reads, find the run, read its log.

Reads only. The words for a database that cannot be had, and for a run that is not there, are here,
so that all commands answer alike.
"""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from anew.errors import AnewError, ConfigError
from anew.program.program import Program
from anew.runtime.damage import check_row
from anew.runtime.ids import RUN_ID_DIGITS_MAX, RUN_ID_MAX
from anew.store import Archive, Catalog, Database, RunFilter, RunId, RunRow, StoreError
from anew.surfaces.cli import status
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.hints import hinted

if TYPE_CHECKING:
    from anew.runtime.records import Record

LAST = "last"
# How far back a run is looked for by some of its digits.
SEARCHED_RUNS_MAX = 2_000
SEARCHED_DIGITS_MIN = 3
CANDIDATES_SHOWN = 3
_PAGE_RUNS = 100


def add_db_option(parser: ArgumentParser) -> None:
    """`--db`, in the words every command has for it."""
    parser.add_argument(
        "--db",
        metavar="URL",
        help="a path, sqlite:///path or postgresql://… (default $ANEW_DB, else .anew/anew.db)",
    )


def add_run_argument(parser: ArgumentParser) -> None:
    """RUN, in the words every command has for it."""
    parser.add_argument(
        "run", metavar="RUN", help="its id, its first or last digits, or `last` for the newest"
    )


def read(place: str | None, work: Callable[[Database], Awaitable[int]]) -> int:
    """Do `work` with the place open for reading; 4 when it cannot be had."""
    try:
        return asyncio.run(_read(place, work))
    except StoreError as error:
        print(f"anew: {visible(hinted(str(error), place))}", file=sys.stderr)
        return status.UNREACHABLE


async def _read(place: str | None, work: Callable[[Database], Awaitable[int]]) -> int:
    from anew.runtime.databases import open_database

    async with open_database(place, read_only=True) as database:
        return await work(database)


async def find_run(archive: Archive, said: str) -> RunRow:
    """The run someone means; ConfigError says what to do when there is none, or several.

    DamagedRun when its row cannot be gone by.
    """
    return check_row(await find_any_run(archive, said))


async def find_any_run(archive: Archive, said: str) -> RunRow:
    """The same, whatever is wrong with it."""
    text = said.strip()
    if text == LAST:
        return await _last(archive)
    if not (text.isascii() and text.isdigit()):
        raise ConfigError(f"{said[:80]!r} is not a run id. `anew runs` lists the runs.")
    is_possible = len(text) <= RUN_ID_DIGITS_MAX and int(text) <= RUN_ID_MAX
    exact = await archive.run(RunId(int(text))) if is_possible else None
    return exact if exact is not None else await _by_digits(archive, text)


async def _last(archive: Archive) -> RunRow:
    """The newest run that a person started: a child is not what they mean."""
    before = None
    while page := await archive.runs(RunFilter(before=before, limit=_PAGE_RUNS)):
        for row in page:
            if row.parent is None:
                return row
        before = page[-1].run
    raise ConfigError("there are no runs yet. `anew run FILE` starts one.")


async def _by_digits(archive: Archive, digits: str) -> RunRow:
    unknown = ConfigError(f"there is no run {digits[:40]}. `anew runs` lists the runs.")
    if not SEARCHED_DIGITS_MIN <= len(digits) <= RUN_ID_DIGITS_MAX:
        raise unknown
    rows = await archive.runs(RunFilter(limit=SEARCHED_RUNS_MAX))
    named = [(str(row.run), row) for row in rows]
    found = [row for name, row in named if name.startswith(digits) or name.endswith(digits)]
    if not found:
        raise unknown
    if len(found) > 1:
        few = ", ".join(str(row.run) for row in found[:CANDIDATES_SHOWN])
        more = ", …" if len(found) > CANDIDATES_SHOWN else ""
        raise ConfigError(f"{digits} fits {len(found)} runs ({few}{more}); give more digits.")
    return found[0]


async def program_of(catalog: Catalog, digest: str) -> Program | None:
    """The program a run is pinned to, or None: a log can be told without it."""
    from anew.runtime.programs import compiled_again

    stored = await catalog.get(digest)
    if stored is None:
        return None
    try:
        return compiled_again(stored).program
    except AnewError:
        return None


async def read_record(database: Database, said: str, *, with_damage: bool = False) -> Record:
    """Everything a command may want to tell about a run.

    DamagedRun for one that is damaged, unless the command tells that as well.
    """
    from anew.runtime.records import record_of

    row = await find_run(database.archive, said)
    record = await record_of(database, row, await program_of(database.catalog, row.digest))
    if record.damage is not None and not with_damage:
        raise record.damage
    return record
