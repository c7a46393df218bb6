"""`anew cancel`: end a run and its children, and stop the calls they have at work."""

from __future__ import annotations

from anew.runtime.commands import CancelRun
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.command_sending import send_command
from anew.surfaces.cli.history import add_run_argument
from anew.surfaces.cli.location import add_place_options


def run(words: list[str]) -> int:
    parser = parser_for(
        "cancel",
        purpose="End a run and the child runs it waits for. Running calls are stopped; what is in\n"
        "the log stays there. A cancelled run cannot be resumed; `anew retry` makes a new one.",
        example="anew cancel last --reason 'wrong region'",
    )
    add_run_argument(parser)
    parser.add_argument("--reason", metavar="TEXT", help="why, for the log")
    add_place_options(parser)
    asked = parser.parse_args(words)
    answer = send_command(asked.place, CancelRun(run=asked.run, reason=asked.reason))
    print("cancelled" if answer["changed"] else "the run had ended already")
    return status.DONE
