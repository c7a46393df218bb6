"""`anew record`: make a scenario of a run that has ended, and play it to be sure it is true."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace

from msgspec import Struct

from anew.engine.events import Event, RunRequested
from anew.errors import ConfigError
from anew.lab.recording import Recorded, record
from anew.lab.recording.recording_check import heading_of, problem_of
from anew.lab.recording.scenario_text import scenario_text
from anew.program.program import Program
from anew.runtime.run_logs import read_chain
from anew.store import Database, RunRow, StoredProgram
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.documents import replace_document, shown_name, write_document
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.history import add_run_argument, find_run, program_of, read
from anew.surfaces.cli.location import add_place_options
from anew.values import Object


class _Subject(Struct, frozen=True):
    """What is recorded: a run, and those before and after it in its line."""

    row: RunRow
    program: Program
    stored: StoredProgram
    runs: list[list[Event]]
    file: str | None


def run(words: list[str]) -> int:
    asked = _parser().parse_args(words)
    return read(asked.place, lambda database: _record(database, asked))


def _parser() -> ArgumentParser:
    parser = parser_for(
        "record",
        purpose="Make a scenario of a run that has ended: its outcomes, answers, signals, times\n"
        "and random numbers. The scenario is played at once and its decisions are compared with\n"
        "the log; exit status 1 when they differ. Secrets are taken out, large values are cut.",
        example="anew record last > flow.scenario.yaml\n"
        "anew record 7351 -o tests/outage.scenario.yaml --full",
    )
    add_run_argument(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="write the scenario to this file")
    parser.add_argument("--full", action="store_true", help="cut nothing, however large it is")
    parser.add_argument(
        "--document",
        metavar="OUT",
        help="also write the document that was run, which may have changed since, to this file",
    )
    parser.add_argument(
        "--force", action="store_true", help="write --document over another one that is there"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_place_options(parser)
    return parser


async def _record(database: Database, asked: Namespace) -> int:
    subject = await _subject(database, asked.run)
    recorded = record(subject.program, subject.runs, is_full=asked.full)
    beside, notes = _document(subject, asked)
    scenario = {**beside, **recorded.scenario}
    notes = [*notes, *recorded.notes]
    text = scenario_text(scenario, [heading_of(subject.row, subject.program), *notes])
    problem = problem_of(recorded, text, asked.output or "scenario")
    if asked.output is not None:
        _write(asked.output, text)
    if asked.json:
        print(json.dumps(_object(subject, recorded, scenario, notes, problem)))
    elif asked.output is None:
        sys.stdout.write(text)
    return _tell(asked, subject, recorded, notes, problem)


def _write(path: str, text: str) -> None:
    """A file that is there has its old content until it has all of the new."""
    if os.path.isfile(path):
        replace_document(path, text)
    else:
        write_document(path, text)


async def _subject(database: Database, said: str) -> _Subject:
    row = await find_run(database.archive, said)
    program = await program_of(database.catalog, row.digest)
    stored = await database.catalog.get(row.digest)
    if program is None or stored is None:
        raise ConfigError(
            f"the program of run {row.run} ({row.program}) is not available, so the run cannot be "
            "played again."
        )
    runs = await read_chain(database.archive, row.run)
    first = runs[0][0]
    file = first.file if isinstance(first, RunRequested) else None
    return _Subject(row, program, stored, runs, file)


def _document(subject: _Subject, asked: Namespace) -> tuple[Object, list[str]]:
    """Which document the scenario names, as seen from its own folder."""
    folder = os.path.dirname(asked.output or "") or "."
    beside: Object = {}
    if subject.stored.dialect is not None:
        beside["dialect"] = subject.stored.dialect
    if asked.document is not None:
        _write_source(asked.document, subject.stored.source, is_forced=asked.force)
        return {"document": os.path.relpath(asked.document, folder), **beside}, []
    file = subject.file or subject.stored.file
    if not os.path.isfile(file):
        gone = f"the document {os.path.basename(file)} is not there any more"
        what = (
            "the document came from standard input"
            if os.path.basename(file) == shown_name("-")
            else gone
        )
        return beside, [f"{what}; --document OUT writes the one that was run"]
    notes = []
    if not _is_same(file, subject.stored.source):
        notes.append(
            f"{os.path.basename(file)} has changed since the run; "
            "--document OUT writes the one that was run"
        )
    return {"document": os.path.relpath(file, folder), **beside}, notes


def _write_source(path: str, source: str, *, is_forced: bool) -> None:
    """Never over another document that someone may be working on."""
    if os.path.isfile(path) and not is_forced and not _is_same(path, source):
        raise ConfigError(f"{path} is there already, with another content; --force replaces it.")
    _write(path, source)


def _is_same(file: str, source: str) -> bool:
    try:
        with open(file, "rb") as opened:
            return opened.read(len(source.encode()) + 1) == source.encode()
    except OSError:
        return False


def _object(
    subject: _Subject,
    recorded: Recorded,
    scenario: Object,
    notes: list[str],
    problem: str | None,
) -> Object:
    return {
        "run": str(subject.row.run),
        "runs": len(subject.runs),
        "program": subject.program.name,
        "digest": subject.row.digest,
        **recorded.report(),
        "notes": notes,
        "problem": problem,
        "scenario": scenario,
    }


def _tell(
    asked: Namespace, subject: _Subject, recorded: Recorded, notes: list[str], problem: str | None
) -> int:
    for note in notes if not asked.json else ():
        print(visible(f"note: {note}"), file=sys.stderr)
    if problem is None:
        if asked.output is not None and not asked.json:
            print(visible(f"run {subject.row.run} is in {asked.output}"), file=sys.stderr)
        return status.DONE
    if not asked.json:
        print(visible(f"anew: {problem}"), file=sys.stderr)
        if recorded.undecided is not None:
            print(f"`anew replay {subject.row.run}` shows it", file=sys.stderr)
    return status.FAILED
