"""`anew graph`: the structure of a document or of a run, for Mermaid, Graphviz or a browser."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from anew.errors import ConfigError
from anew.store import Database
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.documents import STANDARD_INPUT
from anew.surfaces.cli.history import LAST, add_db_option, read, read_record
from anew.surfaces.cli.loading import load_program
from anew.views.graph import Graph, dot_lines, graph_of, mermaid_lines
from anew.views.graph_svg import svg_lines

FORMATS: dict[str, Callable[[Graph], Iterator[str]]] = {
    "mermaid": mermaid_lines,
    "dot": dot_lines,
    "svg": svg_lines,
}


def run(words: list[str]) -> int:
    parser = parser_for(
        "graph",
        purpose="Print the structure of a document, or of a run with its steps coloured by their\n"
        "status. Arcs for failures are dashed.",
        example="anew graph flow.yaml\nanew graph last --format svg > run.svg",
    )
    parser.add_argument(
        "what", metavar="FILE|RUN", help="a document (- is standard input), a run id, or `last`"
    )
    parser.add_argument("--format", choices=FORMATS, default="mermaid", help="default %(default)s")
    add_db_option(parser)
    asked = parser.parse_args(words)
    write = FORMATS[asked.format]
    if not _is_file(asked.what):
        return read(asked.db, lambda database: _print_run(database, asked.what, write))
    loaded = load_program(asked.what)
    if loaded is None:
        return status.BAD
    _print(write(graph_of(loaded.program)))
    return status.DONE


def _is_file(said: str) -> bool:
    """A run is named by digits or `last`, unless a file of that name is there."""
    if said == STANDARD_INPUT or os.path.exists(said):
        return True
    return said != LAST and not said.isdigit()


async def _print_run(database: Database, said: str, write: Callable[[Graph], Iterator[str]]) -> int:
    record = await read_record(database, said)
    program = record.progress.program
    if program is None:
        raise ConfigError(
            f"the document of run {record.row.run} cannot be compiled by this version of Anew, "
            "so its graph is unknown; `anew timeline` shows what it did."
        )
    statuses = {name: step.status for name, step in record.progress.steps.items()}
    _print(write(graph_of(program, statuses)))
    return status.DONE


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        print(line)
