"""`anew retry`: a new run that goes on where a step of another began."""

from __future__ import annotations

import asyncio

from anew.runtime.embedded import Embedded
from anew.runtime.keys import made_key
from anew.runtime.orders import Request
from anew.store import RunId
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.history import add_run_argument
from anew.surfaces.cli.ordering import named_run
from anew.surfaces.cli.working import Wish, add_manner_options, carry_out, manner_of


def run(words: list[str]) -> int:
    parser = parser_for(
        "retry",
        purpose="Make a new run that shares the log of RUN up to a step and goes on from there:\n"
        "what was done before that step is not done again. RUN itself stays as it is.",
        example="anew retry last\nanew retry last --from store",
    )
    add_run_argument(parser)
    parser.add_argument(
        "--from",
        dest="step",
        metavar="STEP",
        help="begin at the latest visit of this step (default: the step that failed the run)",
    )
    add_manner_options(parser)
    asked = parser.parse_args(words)
    old = asyncio.run(named_run(asked.place, asked.run))

    key = made_key()

    async def here(engine: Embedded) -> RunId:
        return (await engine.retry(old, asked.step, key=key)).run

    wish = Wish(here, Request("retry", run=str(old), step=asked.step, key=key))
    return carry_out(wish, manner_of(asked))
