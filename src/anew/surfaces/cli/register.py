"""`anew register`: keep a document under its name, so that `start` and other documents find it."""

from __future__ import annotations

import json
import os

from anew.runtime.orders import Request
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import add_dialect_option, parser_for
from anew.surfaces.cli.documents import shown_name
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.loading import load_program
from anew.surfaces.cli.ordering import order
from anew.surfaces.cli.place import add_place_options
from anew.surfaces.cli.sending import warn_of_files


def run(words: list[str]) -> int:
    parser = parser_for(
        "register",
        purpose="Keep a document in the database, or at the server, under the name it gives\n"
        "itself. A changed document becomes the next version; runs stay with the version they\n"
        "began with.",
        example="anew register flow.yaml\nanew start flow",
    )
    parser.add_argument("file", metavar="FILE", help="the document; - is standard input")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_dialect_option(parser)
    add_place_options(parser)
    asked = parser.parse_args(words)
    read = load_program(asked.file, dialect=asked.dialect)
    if read is None:
        return status.BAD
    file = os.path.abspath(shown_name(asked.file))
    warn_of_files(read.program, file, asked.place)
    wish = Request(
        "register",
        source=read.source.decode(),
        file=file,
        dialect=read.dialect,
        files=dict(read.files),
    )
    answer = order(asked.place, wish)
    if asked.json:
        print(json.dumps(answer))
    else:
        print(f"{visible(answer['name'])} version {answer['version']}")
    return status.DONE
