"""`anew answer`: answer the question a run waits for, and go on with the run."""

from __future__ import annotations

import asyncio
from argparse import ArgumentTypeError
from contextlib import suppress

from msgspec.structs import replace

from anew.engine.state import RunStatus
from anew.errors import ConfigError
from anew.runtime.commands import AnswerQuestion
from anew.runtime.databases import kind_of, open_database
from anew.runtime.questions import OpenQuestion, meant, open_questions
from anew.store import RunId, RunRow
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.command_sending import send_command
from anew.surfaces.cli.hints import hinted
from anew.surfaces.cli.history import add_run_argument, find_run
from anew.surfaces.cli.run_execution import Intent, add_run_options, carry_out, run_options_of
from anew.surfaces.cli.terminal_interview import login


def run(words: list[str]) -> int:
    parser = parser_for(
        "answer",
        purpose="Answer the question that a run, or a child it waits for, asks a person; then\n"
        "continue the run until it ends or asks again. CHOICE is the key of a choice, its label\n"
        "or the start of it, or its number; for a question without choices, any text.",
        example="anew answer last yes\nanew answer last 'too slow' --step review --by ann",
    )
    add_run_argument(parser)
    parser.add_argument("choice", metavar="CHOICE", help="the answer")
    parser.add_argument("--step", metavar="STEP", help="whose question, when several are open")
    parser.add_argument(
        "--asked",
        metavar="N",
        type=_sequence,
        help="which question, where a step has several open: `asked` of `anew questions --json`",
    )
    parser.add_argument("--by", metavar="NAME", help="who answers, for the log (default: you)")
    parser.add_argument(
        "--no-wait", action="store_true", help="only store the answer; do not continue the run here"
    )
    add_run_options(parser)
    asked = parser.parse_args(words)
    row, question = asyncio.run(_named(asked.place, asked.run, asked.step, asked.asked))
    found, is_paused = row.run, row.status is RunStatus.PAUSED
    command = AnswerQuestion(
        run=str(found),
        answer=asked.choice,
        step=question.key.step if question else asked.step,
        by=asked.by or login(),
        asked=question.asked if question else asked.asked,
        # Where nothing is open that is meant, it is for whoever is asked to say so.
        asking=str(question.run if question else found),
        is_kept_only=asked.no_wait or is_paused,
    )
    if command.is_kept_only:
        send_command(asked.place, command)
        print(hinted(_told(found, asked.place, is_paused=is_paused), asked.place))
        return status.DONE

    options = replace(run_options_of(asked, known=[row]), pictures=False)
    return carry_out(Intent(command), options)


def _sequence(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < len(str(2**63))):
        raise ArgumentTypeError(f"{text[:80]!r} is not the number of an event")
    return int(text)


def _told(run: RunId, place: str | None, *, is_paused: bool) -> str:
    if not is_paused and not kind_of(place).is_file:
        return "answered; a worker continues the run"
    why = "the run is paused" if is_paused else "if no process works on the run"
    return f"answered; {why}: `anew resume {run}` resumes it"


async def _named(
    place: str | None, said: str, step: str | None, asked: int | None
) -> tuple[RunRow, OpenQuestion | None]:
    """The run someone means, and its question, where it is clear which.

    An owner may hear the answer and die before it says so. Whoever is asked next must not take it
    for the answer to the next question.
    """
    async with open_database(place, read_only=True) as database:
        row = await find_run(database.archive, said)
        # What is wrong is said by who is asked.
        with suppress(ConfigError):
            questions = await open_questions(database, row.run)
            asking = None if asked is None else row.run
            return row, meant(questions, row.run, step, asked=asked, asking=asking)
    return row, None
