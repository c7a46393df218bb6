"""Which runs a what-if is about, and the changed program: found in files, catalogs and archives."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from anew.engine.state import FINAL, RunStatus
from anew.errors import ConfigError
from anew.lab.whatif import PastRun
from anew.lab.whatif.verdict import SkippedRun
from anew.program.program import Program
from anew.runtime.run_logs import read_log
from anew.store import Archive, Catalog, Database, RunFilter, RunId, RunRow
from anew.surfaces.cli.documents import STANDARD_INPUT
from anew.surfaces.cli.history import find_run, program_of
from anew.surfaces.cli.loading import load_program
from anew.surfaces.cli.moments import parsed_moment

RUNS_DEFAULT = 1_000
# All their logs are held in memory at once.
PAST_RUNS_MAX = 100_000
PAST_EVENTS_MAX = 2_000_000
PAGE_RUNS = 500
ENDED = (RunStatus.DONE, RunStatus.FAILED)
STATUSES = tuple(word.value for word in ENDED)
_SUFFIXES = (".yaml", ".yml", ".json", ".dot", ".gv")


class Selection(Struct, frozen=True):
    """The runs that were named, or those since a moment that ended in one of these statuses."""

    named: Sequence[str]
    since: str | None
    statuses: Sequence[str]
    limit: int


class Found(Struct):
    """The past runs, others that the model may count, and those that cannot be had.

    `is_cut`: there are more.
    """

    runs: list[PastRun] = field(default_factory=list)
    others: list[PastRun] = field(default_factory=list)
    left: list[SkippedRun] = field(default_factory=list)
    is_cut: bool = False


async def changed_program(
    catalog: Catalog, said: str, *, dialect: str | None = None
) -> Program | None:
    """The program in a file, or a registered one; None when its errors have been printed."""
    if said == STANDARD_INPUT or said.endswith(_SUFFIXES) or os.path.exists(said):
        loaded = load_program(said, dialect=dialect)
        return None if loaded is None else loaded.program
    return await _registered(catalog, said)


async def _registered(catalog: Catalog, said: str) -> Program:
    from anew.runtime.program_names import find_program
    from anew.runtime.programs import NotRegistered, compiled_again

    name, at, number = said.partition("@")
    if at and not (number.isascii() and number.isdigit()):
        raise ConfigError(f"{said[:80]!r} is neither a file nor NAME@VERSION of a program")
    stored = await find_program(catalog, name, int(number) if at else None)
    if stored is None:
        raise NotRegistered(f"{name} version {number}" if at else name)
    return compiled_again(stored).program


async def past_runs(database: Database, selection: Selection, *, name: str) -> Found:
    """The runs with their programs and logs; ConfigError when there are none."""
    archive, found = database.archive, Found()
    if selection.since is None:
        rows = {row.run: row for row in [await find_run(archive, one) for one in selection.named]}
        wanted, programs = list(rows.values()), {row.program for row in rows.values()}
        listed = [row for one in sorted(programs) for row in await _newest(archive, selection, one)]
    else:
        since = parsed_moment(selection.since)
        listed = await _newest(archive, selection, name, since=since)
        found.is_cut = len(listed) > selection.limit
        listed = listed[: selection.limit]
        wanted = [row for row in listed if row.status.value in selection.statuses]
        if not wanted:
            raise ConfigError(
                f"no run of {name} that ended fits. `anew runs` lists the runs; "
                "--program-name names another program."
            )
    await _read_all(database, {row.run: row for row in wanted}, listed, found)
    return found


async def _newest(
    archive: Archive, selection: Selection, name: str, *, since: int | None = None
) -> list[RunRow]:
    """The newest runs that nobody else started, one more than are wanted if there are more."""
    rows: list[RunRow] = []
    before, wanted = None, min(selection.limit, PAST_RUNS_MAX) + 1
    while len(rows) < wanted:
        page = await archive.runs(
            RunFilter(statuses=ENDED, program=name, since=since, before=before, limit=PAGE_RUNS)
        )
        rows.extend(row for row in page if row.parent is None)
        if len(page) < PAGE_RUNS:
            break
        before = page[-1].run
    return rows[:wanted]


async def _read_all(
    database: Database, judged: Mapping[RunId, RunRow], listed: Sequence[RunRow], found: Found
) -> None:
    """Read the runs that are judged, then the others; all that fit into memory."""
    reading = _Reading(database)
    for row in (*judged.values(), *(one for one in listed if one.run not in judged)):
        is_judged = row.run in judged
        past = await reading.past(row)
        if reading.events > PAST_EVENTS_MAX:
            found.is_cut = found.is_cut or is_judged
            return
        if past is None and is_judged:
            found.left.append(SkippedRun(str(row.run), "its program is not in the catalog"))
        elif past is not None:
            (found.runs if is_judged else found.others).append(past)


class _Reading:
    """Reads runs, each program once. `events` counts what was read."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._programs: dict[str, Program | None] = {}
        self.events = 0

    async def past(self, row: RunRow) -> PastRun | None:
        """The run as it was; None when its program cannot be had."""
        if row.digest not in self._programs:
            catalog = self._database.catalog
            self._programs[row.digest] = await program_of(catalog, row.digest)
        program = self._programs[row.digest]
        if program is None:
            return None
        log = await read_log(self._database.archive, row.run) if row.status in FINAL else []
        self.events += len(log)
        return PastRun(str(row.run), program, log)
