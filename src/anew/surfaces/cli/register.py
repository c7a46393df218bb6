"""`anew register`: keep a document under its name, so that `start` and other documents find it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from shlex import quote

from anew.runtime.commands import RegisterProgram
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import add_dialect_option, add_tools_option, parser_for
from anew.surfaces.cli.command_sending import send_command
from anew.surfaces.cli.documents import shown_name
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.folders import is_folder
from anew.surfaces.cli.hints import hinted
from anew.surfaces.cli.loading import load_program
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.server_files import warn_of_files
from anew.values import Object
from anew.views.wording import counted

# Of each sort; the others are counted.
RUNS_TOLD = 5


def run(words: list[str]) -> int:
    parser = parser_for(
        "register",
        purpose="Keep a document in the database, or at the server, under the name it gives\n"
        "itself. A changed document becomes the next version; runs stay with the version they\n"
        "started with. Of a folder, every playbook and graph below it is registered.",
        example="anew register flow.yaml\nanew start flow\nanew register playbooks/",
    )
    parser.add_argument(
        "file", metavar="FILE", help="the document, or a folder of them; - is standard input"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_dialect_option(parser)
    add_tools_option(parser)
    add_place_options(parser)
    asked = parser.parse_args(words)
    if is_folder(asked.file):
        # Only those who name a folder pay for it.
        from anew.surfaces.cli.register_folder import register_folder

        return register_folder(asked.file, asked.place, dialect=asked.dialect, is_json=asked.json)
    read = load_program(asked.file, dialect=asked.dialect)
    if read is None:
        return status.BAD
    file = os.path.abspath(shown_name(asked.file))
    warn_of_files(read.program, file, asked.place)
    command = RegisterProgram(
        source=read.source.decode(),
        file=file,
        dialect=read.dialect,
        files=dict(read.files),
    )
    answer = send_command(asked.place, command)
    if asked.json:
        print(json.dumps(answer))
    else:
        print(f"{visible(answer['name'])} version {answer['version']}")
        for line in moves_lines(answer, shown_name(asked.file)):
            print(visible(hinted(line, asked.place)))
    return status.DONE


def moves_lines(answer: Object, file: str) -> Iterator[str]:
    """Which runs could go on under the new version, and why others cannot."""
    moves, version = answer.get("runs") or {}, answer["version"]
    movable, stuck = moves.get("movable") or [], moves.get("stuck") or []
    total = len(movable) + len(stuck)
    if not total:
        return
    newest = "the newest " if moves.get("has_more") else ""
    could = f"{len(movable)} of {newest}{counted(total, 'unfinished run')}"
    yield f"{could} could be moved to version {version}"
    for run in movable[:RUNS_TOLD]:
        yield f"  run {run}: `anew fork {run} --program {quote(answer['name'])} --cancel`"
    yield from _rest(len(movable))
    for one in stuck[:RUNS_TOLD]:
        reasons = "; ".join(_reason(found, file) for found in one["reasons"])
        yield f"  run {one['run']} cannot: {reasons}"
    yield from _rest(len(stuck))


def _rest(count: int) -> Iterator[str]:
    if count > RUNS_TOLD:
        yield f"  and {count - RUNS_TOLD} more (--json names them)"


def _reason(found: Object, file: str) -> str:
    if found.get("line") is None:
        return str(found["message"])
    return f"{found['message']} ({file}:{found['line']}:{found['column']})"
