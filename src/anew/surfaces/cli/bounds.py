"""`anew bounds`: the worst case of a document, before anything is run."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from anew.errors import ConfigError
from anew.lab.bounds import Bounds, Child, bounds_of
from anew.lab.bounds.lines import bounds_lines
from anew.languages import load_text
from anew.program.findings import has_error
from anew.program.program import Program
from anew.runtime.child_files import read_child
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import add_dialect_option, add_tools_option, count, parser_for
from anew.surfaces.cli.documents import shown_name, write_document
from anew.surfaces.cli.findings import finding_lines
from anew.surfaces.cli.loading import compiled, program_in
from anew.surfaces.cli.overrides import add_workload_options, workload_overrides
from anew.surfaces.cli.paint import paint_for
from anew.values import Object

# What a child that is named by its registered name may be called as a file beside its parent.
_ENDINGS = ("", ".yaml", ".yml", ".dot", ".gv")


def run(words: list[str]) -> int:
    parser = _parser()
    asked = parser.parse_args(words)
    if asked.svg == "-":
        parser.error("--svg needs the name of a file: standard output has the numbers")
    workload = workload_overrides(asked.payload, asked.set)
    read = program_in(compiled(asked.file, dialect=asked.dialect), workload)
    if read is None:
        return status.BAD
    bounds = bounds_of(read.program, workload=workload, items=asked.items, child=_child)
    if asked.svg is not None:
        _draw(asked.svg, read.program, bounds)
    if asked.json:
        print(json.dumps({"file": shown_name(asked.file), **bounds.report()}))
    else:
        _print_text(asked, bounds, read.source)
    return status.FAILED if _is_refused(asked, bounds) else status.DONE


def _parser() -> ArgumentParser:
    parser = parser_for(
        "bounds",
        purpose="Compute the worst case of a document: how often each task and each service is\n"
        "called at most, and the longest time in waits and in total, with the path that leads\n"
        "there. Nothing is run. What the document leaves open is listed, with the limit that\n"
        "ends it.",
        example="anew bounds flow.yaml\nanew bounds flow.yaml --items 100 --svg worst.svg\n"
        "anew bounds flow.dot --fail-on unbounded",
    )
    parser.add_argument("file", metavar="FILE", help="the document; - is standard input")
    add_dialect_option(parser)
    add_tools_option(parser)
    add_workload_options(parser)
    parser.add_argument(
        "--items", type=count, metavar="N", help="assume N items in lists known only at run time"
    )
    parser.add_argument("--svg", metavar="FILE", help="draw the worst case into this file")
    parser.add_argument(
        "--fail-on",
        action="append",
        default=[],
        choices=("warning", "unbounded"),
        help="exit with 1 when there is one; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _is_refused(asked: Namespace, bounds: Bounds) -> bool:
    is_doubtful = "warning" in asked.fail_on and bool(bounds.warnings)
    return is_doubtful or ("unbounded" in asked.fail_on and not bounds.is_bounded)


def _draw(path: str, program: Program, bounds: Bounds) -> None:
    # Only those who want a picture pay for drawing.
    from anew.lab.bounds.picture import picture_lines

    write_document(path, "\n".join(picture_lines(program, bounds)) + "\n")


def _print_text(asked: Namespace, bounds: Bounds, source: bytes) -> None:
    paint, name = paint_for(sys.stdout), shown_name(asked.file)
    for line in bounds_lines(bounds, name, paint):
        print(line)
    own = [found for found in bounds.warnings if found.place.file == name]
    others = [found for found in bounds.warnings if found.place.file != name]
    for line in finding_lines(own, source, paint):
        print(line)
    for line in finding_lines(others, b"", paint):
        print(line)


def _child(program: Program, inputs: Object) -> Child:
    """The program that a task calls, found beside the document that calls it."""
    folder = Path(os.path.dirname(program.span.file))
    file, path = inputs.get("file"), inputs.get("path")
    if isinstance(file, str):
        names = [file]
    elif isinstance(path, str):
        names = [f"{path}{ending}" for ending in _ENDINGS]
    else:
        return Child(None, "its name is an expression whose value is known only at run time")
    for name in names:
        if isinstance(file, str) or (folder / name).is_file():
            return _compiled_child(folder, name, is_confined=program.language == "dot")
    return Child(None, "it is found by its registered name, and no file here has it")


def _compiled_child(folder: Path, name: str, *, is_confined: bool) -> Child:
    try:
        source = read_child(folder, name, is_confined=is_confined)
    except ConfigError as refused:
        return Child(None, str(refused))
    loaded = load_text(source, str(folder / name))
    if loaded.program is None or has_error(loaded.findings):
        return Child(None, f"{folder / name} has errors, which `anew check` lists")
    return Child(loaded.program)
