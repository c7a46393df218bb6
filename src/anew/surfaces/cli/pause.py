"""`anew pause`: let a run start nothing more until it is resumed."""

from __future__ import annotations

from anew.runtime.commands import PauseRun
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.command_sending import send_command
from anew.surfaces.cli.history import add_run_argument
from anew.surfaces.cli.location import add_place_options


def run(words: list[str]) -> int:
    parser = parser_for(
        "pause",
        purpose="Pause a run: it starts no further task. Running calls continue, and their\n"
        "outcome is kept; delays keep counting. `anew resume RUN` resumes the run.",
        example="anew pause last --reason 'the API is down'",
    )
    add_run_argument(parser)
    parser.add_argument("--reason", metavar="TEXT", help="why, for the log")
    add_place_options(parser)
    asked = parser.parse_args(words)
    answer = send_command(asked.place, PauseRun(run=asked.run, reason=asked.reason))
    print("paused" if answer["changed"] else "the run is not running")
    return status.DONE
