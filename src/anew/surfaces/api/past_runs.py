"""Past runs with their programs and logs, as many as fit into memory, for an analysis of them."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from anew.engine.state import FINAL, RunStatus
from anew.lab.whatif import PastRun
from anew.lab.whatif.verdict import SkippedRun
from anew.runtime.engine import Engine
from anew.runtime.run_logs import read_log
from anew.store import RunFilter, RunRow
from anew.surfaces.api.runs import program_of

# Of all runs of one request together: about 100 MB.
ANALYSED_EVENTS_MAX = 100_000
# Runs beside those that are asked about: what usually follows a failure.
WHATIF_OTHERS_MAX = 100
_ENDED = (RunStatus.DONE, RunStatus.FAILED)


class Past(Struct):
    """The runs that are asked about, others that a model may count, and those left out."""

    runs: list[PastRun] = field(default_factory=list)
    others: list[PastRun] = field(default_factory=list)
    left: list[SkippedRun] = field(default_factory=list)
    events: int = 0


async def read_past(engine: Engine, rows: Iterable[RunRow]) -> Past:
    """These runs first, then the newest of the same programs, until there are too many events."""
    past, wanted = Past(), {row.run: row for row in rows}
    for row in wanted.values():
        found = await _read(engine, row, past)
        if isinstance(found, PastRun):
            past.runs.append(found)
        else:
            past.left.append(SkippedRun(str(row.run), found))
    for name in dict.fromkeys(row.program for row in wanted.values()):
        others = RunFilter(statuses=_ENDED, program=name, limit=WHATIF_OTHERS_MAX)
        for row in await engine.database.archive.runs(others):
            found = "" if row.run in wanted or row.parent else await _read(engine, row, past)
            past.others += [found] if isinstance(found, PastRun) else []
    return past


async def _read(engine: Engine, row: RunRow, past: Past) -> PastRun | str:
    """The run, or why it is left out."""
    if row.status not in FINAL:
        return "it has not ended"
    if past.events + row.version > ANALYSED_EVENTS_MAX:
        return f"all logs together have more than {ANALYSED_EVENTS_MAX:,} events"
    program = await program_of(engine, row)
    if program is None:
        return "its program is no longer available"
    past.events += row.version
    return PastRun(str(row.run), program, await read_log(engine.database.archive, row.run))
