"""`anew graph`: the structure of a document or of a run, for Mermaid, Graphviz or a browser."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator

from anew.errors import ConfigError
from anew.store import Database
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import add_dialect_option, parser_for
from anew.surfaces.cli.documents import STANDARD_INPUT, shown_name
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.findings import finding_lines
from anew.surfaces.cli.history import LAST, read, read_record
from anew.surfaces.cli.loading import Read, load_program
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.paint import paint_for
from anew.views.findings import in_file_order
from anew.views.graph import ProgramGraph, dot_lines, graph_of, mermaid_lines
from anew.views.graph_svg import svg_lines

FORMATS: dict[str, Callable[[ProgramGraph], Iterator[str]]] = {
    "mermaid": mermaid_lines,
    "dot": dot_lines,
    "svg": svg_lines,
}


def run(words: list[str]) -> int:
    parser = parser_for(
        "graph",
        purpose="Print the structure of a document, or of a run with its steps coloured by their\n"
        "status. Arcs for failures are dashed. With --format dot a document becomes a graph\n"
        "that Anew can run; what a graph cannot express is reported on standard error.",
        example="anew graph flow.yaml\nanew graph flow.yaml --format dot > flow.dot\n"
        "anew graph last --format svg > run.svg",
    )
    parser.add_argument(
        "what", metavar="FILE|RUN", help="a document (- is standard input), a run id, or `last`"
    )
    parser.add_argument("--format", choices=FORMATS, default="mermaid", help="default %(default)s")
    add_dialect_option(parser)
    add_place_options(parser)
    asked = parser.parse_args(words)
    write = FORMATS[asked.format]
    if not _is_file(asked.what):
        if asked.dialect is not None:
            parser.error("--dialect is for a document; a run has the one it started with")
        return read(asked.place, lambda database: _print_run(database, asked.what, write))
    loaded = load_program(asked.what, dialect=asked.dialect)
    if loaded is None:
        return status.BAD
    if asked.format == "dot":
        text = _dot_document(loaded, shown_name(asked.what))
        # A pipe or a file gets the document as it is, to be loaded again.
        if sys.stdout.isatty():
            _print(iter(text.splitlines()))
        else:
            sys.stdout.write(text)
    else:
        _print(write(graph_of(loaded.program)))
    return status.DONE


def _dot_document(loaded: Read, name: str) -> str:
    """The document as a graph that can be loaded again; what it cannot say goes to standard error.

    A graph is given back in its plainest form.
    """
    # Only those who want a graph pay for its language.
    from anew.languages.dot.graph import DotDialect
    from anew.languages.dot.read import read_graph
    from anew.languages.dot.write import write_dot
    from anew.languages.translation.to_dot import program_to_dot

    if loaded.program.language == "dot":
        dialect = DotDialect(loaded.program.dialect)
        graph = read_graph(loaded.source, name, dialect=dialect).graph
        return write_dot(graph) if graph is not None else ""
    translated = program_to_dot(loaded.program)
    for line in finding_lines(
        in_file_order(translated.findings), loaded.source, paint_for(sys.stderr)
    ):
        print(line, file=sys.stderr)
    return translated.text


def _is_file(said: str) -> bool:
    """A run is named by digits or `last`, unless a file of that name is there."""
    if said == STANDARD_INPUT or os.path.exists(said):
        return True
    return said != LAST and not said.isdigit()


async def _print_run(
    database: Database, said: str, write: Callable[[ProgramGraph], Iterator[str]]
) -> int:
    record = await read_record(database, said)
    program = record.progress.program
    if program is None:
        raise ConfigError(
            f"the document of run {record.row.run} cannot be compiled by this version of Anew, "
            "so its graph is unknown; `anew timeline` shows what it did."
        )
    statuses = {name: step.shown_status for name, step in record.progress.steps.items()}
    _print(write(graph_of(program, statuses)))
    return status.DONE


def _print(lines: Iterator[str]) -> None:
    """On a terminal, with a mark for each character that would move its cursor."""
    is_terminal = sys.stdout.isatty()
    for line in lines:
        print(visible(line) if is_terminal else line)
