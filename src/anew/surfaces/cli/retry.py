"""`anew retry`: a new run that goes on where a step of another began."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from anew.runtime.commands import RetryRun
from anew.runtime.databases import open_database
from anew.runtime.forks import ForkPoint, planned
from anew.runtime.keys import made_key
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.history import add_run_argument, find_run
from anew.surfaces.cli.previews import PreparedFork, documents_of, prepared_fork, tell
from anew.surfaces.cli.run_execution import Intent, add_run_options, carry_out, run_options_of
from anew.views.forking import preview_row


def run(words: list[str]) -> int:
    parser = parser_for(
        "retry",
        purpose="Create a new run that shares the log of RUN up to a step and continues from\n"
        "there: what was done before that step is not done again. RUN itself does not change.",
        example="anew retry last\nanew retry last --from store --dry-run",
    )
    add_run_argument(parser)
    parser.add_argument(
        "--from",
        dest="step",
        metavar="STEP",
        help="start at the latest visit of this step (default: the step that failed the run, "
        "or the one whose failure it dealt with)",
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would happen")
    add_run_options(parser)
    asked = parser.parse_args(words)
    found = asyncio.run(_planned(asked.place, asked.run, asked.step))
    ended = tell(found, asked)
    if ended is not None:
        return ended
    options = replace(run_options_of(asked), preview=preview_row(found.preview))
    return carry_out(_intent(found), options)


async def _planned(place: str | None, said: str, step: str | None) -> PreparedFork:
    async with open_database(place, read_only=True) as database:
        row = await find_run(database.archive, said)
        where = ForkPoint(step=step, is_failure=True)
        plan = await planned(database.archive, documents_of(database), row.run, where=where)
        return prepared_fork(row.run, plan)


def _intent(found: PreparedFork) -> Intent:
    """What was shown, and nothing else: the old run may have come to the step again meanwhile."""
    at, step = found.plan.at, found.plan.where.step
    return Intent(RetryRun(run=str(found.run), step=step, at=at, key=made_key()))
