"""`anew skip`: end the waits of a run for a retry, a delayed jump or a sleep, and go on now."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError

from anew.engine.events.words import SkippedWait
from anew.runtime.commands import SkipWaits
from anew.runtime.databases import kind_of
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.command_sending import send_command
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.hints import hinted
from anew.surfaces.cli.history import add_run_argument
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.terminal_interview import login
from anew.values import Object

# As many waits as are told one by one.
SKIPS_SHOWN = 5
_NOTHING = "nothing of the run waits for a retry, a jump or a sleep"


def run(words: list[str]) -> int:
    asked = _parser().parse_args(words)
    command = SkipWaits(
        run=asked.run,
        step=asked.step,
        visit=asked.visit,
        iteration=asked.iteration,
        by=asked.by or login(),
    )
    answer = send_command(asked.place, command)
    ended: list[Object] = answer["skipped"]
    is_paused = answer["status"] == "paused"
    print("\n".join(_lines(ended, is_paused=is_paused)) if ended else _NOTHING)
    if ended:
        print(hinted(_remedy(answer, asked.place), asked.place))
    return status.DONE


def _parser() -> ArgumentParser:
    parser = parser_for(
        "skip",
        purpose="End a wait of a run now: the delay before a retry or a jump, or a sleep.\n"
        "Attempts, deadlines and other limits do not change. In a paused run nothing starts\n"
        "before `anew resume`. Waits for people, signals and child runs do not end.",
        example="anew skip last\nanew skip last fetch --iteration 3 --by ann",
    )
    add_run_argument(parser)
    parser.add_argument("step", metavar="STEP", nargs="?", help="only the waits of this step")
    parser.add_argument("--visit", metavar="N", type=_number, help="only in this visit of STEP")
    parser.add_argument(
        "--iteration", metavar="N", type=_number, help="only this iteration of STEP, from 0"
    )
    parser.add_argument("--by", metavar="NAME", help="who asked for it, for the log (default: you)")
    add_place_options(parser)
    return parser


def _number(said: str) -> int:
    if not (said.isascii() and said.isdigit() and len(said) < len(str(2**63))):
        raise ArgumentTypeError(f"{said[:80]!r} is not a number from 0")
    return int(said)


def _lines(ended: list[Object], *, is_paused: bool) -> list[str]:
    """What each wait leads to, and how many more there are."""
    when = "when the run is resumed" if is_paused else "now"
    lines = [visible(_told(row, when)) for row in ended[:SKIPS_SHOWN]]
    more = len(ended) - len(lines)
    return [*lines, f"And {more:,} more."] if more else lines


def _told(row: Object, when: str) -> str:
    place = row["step"] if row["iteration"] is None else f"{row['step']}[{row['iteration']}]"
    if row["waited_for"] == SkippedWait.SLEEP:  # what is at work goes on in a pause, too
        return f"The sleep of {place} ends now."
    if row["waited_for"] == SkippedWait.JUMP:
        return f"The jump in {place} is made {when}."
    return f"Attempt {row['attempt'] + 1} of {place} starts {when}."


def _remedy(answer: Object, place: str | None) -> str:
    run = answer["run"]
    if answer["status"] == "paused":
        return f"The run is paused: `anew resume {run}` resumes it."
    if not kind_of(place).is_file:
        return "A worker continues the run."
    return f"If no process is working on the run, `anew resume {run}` resumes it."
