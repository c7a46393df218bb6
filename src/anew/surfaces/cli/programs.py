"""`anew programs`: what is registered, the newest version of each."""

from __future__ import annotations

import json
import sys

from anew.runtime.json_rows import program_row
from anew.store import Database, StoredProgram
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.columns import fit, wide
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.history import read
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.moments import local_moment

NAME_COLUMNS_MAX = 40
DIGEST_SHOWN = 12


def run(words: list[str]) -> int:
    parser = parser_for(
        "programs",
        purpose="List the registered programs of a database, the newest version of each.",
        example="anew programs\nanew programs --json",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    add_place_options(parser)
    asked = parser.parse_args(words)

    async def work(database: Database) -> int:
        found = await database.catalog.programs()
        if asked.json:
            for program in found:
                print(json.dumps(program_row(program)))
        else:
            _print_table(found)
        return status.DONE

    return read(asked.place, work)


def _print_table(found: list[StoredProgram]) -> None:
    if not found:
        print("no programs yet; `anew register FILE` adds one", file=sys.stderr)
        return
    name = min(NAME_COLUMNS_MAX, max(wide(program.name) for program in found))
    for program in found:
        about = f"{program.digest[:DIGEST_SHOWN]}  {local_moment(program.registered_at)}"
        shown = f"{fit(program.name, name)}  version {program.version:<4} {about}"
        print(f"{shown}  {visible(program.file)}".rstrip())
