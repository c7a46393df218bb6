"""`anew retry`: a new run that goes on where a step of another began."""

from __future__ import annotations

import asyncio
import json

from msgspec.structs import replace

from anew.lab.forking import fork_preview
from anew.runtime.embedded import Embedded
from anew.runtime.keys import made_key
from anew.runtime.orders import Request
from anew.runtime.wiring import open_database
from anew.store import RunId
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.history import add_run_argument, find_run
from anew.surfaces.cli.previews import planned_retry, print_preview
from anew.surfaces.cli.working import Wish, add_manner_options, carry_out, manner_of
from anew.views.forking import Preview, preview_row


def run(words: list[str]) -> int:
    parser = parser_for(
        "retry",
        purpose="Make a new run that shares the log of RUN up to a step and goes on from there:\n"
        "what was done before that step is not done again. RUN itself stays as it is.",
        example="anew retry last\nanew retry last --from store --dry-run",
    )
    add_run_argument(parser)
    parser.add_argument(
        "--from",
        dest="step",
        metavar="STEP",
        help="begin at the latest visit of this step (default: the step that failed the run)",
    )
    parser.add_argument("--dry-run", action="store_true", help="only tell what would happen")
    add_manner_options(parser)
    asked = parser.parse_args(words)
    old, preview = asyncio.run(_planned(asked.place, asked.run, asked.step))
    if asked.dry_run and asked.json:
        print(json.dumps({"preview": preview_row(preview)}))
    elif not asked.json and not asked.quiet:
        print_preview(preview, [])
    if asked.dry_run:
        return status.DONE
    manner = replace(manner_of(asked), preview=preview_row(preview))
    return carry_out(_wish(old, asked.step), manner)


async def _planned(place: str | None, said: str, step: str | None) -> tuple[RunId, Preview]:
    async with open_database(place, read_only=True) as database:
        row = await find_run(database.archive, said)
        return row.run, fork_preview(await planned_retry(database, row, step))


def _wish(old: RunId, step: str | None) -> Wish:
    key = made_key()

    async def here(engine: Embedded) -> RunId:
        return (await engine.retry(old, step, key=key)).run

    return Wish(here, Request("retry", run=str(old), step=step, key=key))
