"""Everything the commands tell about the runs of a database, and whether their logs replay.

A program of its own, so that the tests read what a user would read: `anew runs`, `anew show` and
`anew events`. Prints one JSON object.
"""

from __future__ import annotations

import asyncio
import io
import json
import sys
from contextlib import redirect_stdout
from typing import Any

from anew.engine.fold import fold
from anew.lab.replay import replay
from anew.runtime.databases import open_database
from anew.runtime.run_logs import read_log
from anew.store import RunId
from anew.surfaces.cli.history import program_of
from anew.surfaces.cli.main import main as anew


def main(_: list[str]) -> int:
    runs = _told("runs", "--limit", "1000", "--json")
    names = [row["run"] for row in runs]
    story = {
        "runs": runs,
        "logs": {run: _told("events", run, "--json") for run in names},
        "shown": {run: _told("show", run, "--json")[0] for run in names},
        "replays": {run: asyncio.run(_replayed(int(run))) for run in names},
    }
    sys.stdout.write(json.dumps(story))
    return 0


def _told(*words: str) -> list[Any]:
    text = io.StringIO()
    with redirect_stdout(text):
        status = anew(words)
    if status != 0:
        raise SystemExit(status)
    return [json.loads(line) for line in text.getvalue().splitlines()]


async def _replayed(run: int) -> str:
    """What is wrong with the log as the engine sees it; empty when nothing is."""
    async with open_database(read_only=True) as database:
        row = await database.archive.run(RunId(run))
        assert row is not None
        program = await program_of(database.catalog, row.digest)
        assert program is not None
        log = await read_log(database.archive, RunId(run))
    state = fold(log)
    if state.status is not row.status:
        return f"the log folds to {state.status}, and the list says {row.status}"
    difference = replay(program, log)
    return "" if difference is None else str(difference)
