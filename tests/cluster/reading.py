"""Everything people are told about the runs of a database, and whether their logs replay.

A program of its own, as `tests.crash.reading` is, but it opens the database once: connecting to a
server for each of many runs would take longer than what is tested. Prints one JSON object.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from anew.engine.fold import fold
from anew.lab.replay import replay
from anew.runtime.databases import open_database
from anew.runtime.json_rows import run_row
from anew.runtime.records import Record, record_of, report_of_record
from anew.store import Database, RunFilter, RunRow
from anew.surfaces.cli.history import program_of
from anew.views.words import event_rows

RUNS_MAX = 1000


def main(_: list[str]) -> int:
    sys.stdout.write(json.dumps(asyncio.run(_story())))
    return 0


async def _story() -> dict[str, Any]:
    story: dict[str, Any] = {"runs": [], "logs": {}, "shown": {}, "replays": {}}
    async with open_database(read_only=True) as database:
        for row in await database.archive.runs(RunFilter(limit=RUNS_MAX)):
            name = str(row.run)
            record, replayed = await _read(database, row)
            # The key as it is: what is shown of the keys the runtime makes is not for the auditor.
            story["runs"].append(run_row(row) | {"key": row.key})
            story["logs"][name] = event_rows(record.log)
            story["shown"][name] = report_of_record(record, now=database.clock.now())
            story["replays"][name] = replayed
            if record.jobs and row.ended_at:
                story["replays"][name] = f"it has ended, and jobs are left: {record.jobs}"
    return story


async def _read(database: Database, row: RunRow) -> tuple[Record, str]:
    program = await program_of(database.catalog, row.digest)
    assert program is not None
    record = await record_of(database, row, program)
    state = fold(record.log)
    if state.status is not row.status:
        return record, f"the log folds to {state.status}, and the list says {row.status}"
    difference = replay(program, record.log)
    return record, "" if difference is None else str(difference)
