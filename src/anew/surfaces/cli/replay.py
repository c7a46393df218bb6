"""`anew replay`: derive every decision of a run again, and compare it with the log."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import BinaryIO

from anew.engine.events import Event, RunRequested
from anew.errors import ConfigError
from anew.lab.replay import Derivation, Difference, Replayed, posing_as
from anew.lab.replay.field_differences import Field, SourcePlace, fields_of, spots_of
from anew.program.program import Program
from anew.runtime.run_logs import read_log
from anew.store import Database
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import add_dialect_option, parser_for
from anew.surfaces.cli.documents import STANDARD_INPUT, shown_name
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.history import find_run, program_of, read
from anew.surfaces.cli.location import add_place_options
from anew.surfaces.cli.progress_line import ProgressLine
from anew.values import Object, Value
from anew.views.wording import counted

_SHOWN_CHARACTERS = 160
_DIGEST_CHARACTERS = 12


def run(words: list[str]) -> int:
    asked = _parser().parse_args(words)
    if (asked.file is None) == (not asked.runs):
        raise ConfigError("name the runs to derive again, or one exported log with --file.")
    if asked.file == asked.program == STANDARD_INPUT:
        raise ConfigError("standard input cannot be both the log and the document.")
    other = _other_program(asked)
    if asked.file is not None:
        return _replay_file(asked, other)
    return read(asked.place, lambda database: _replay_runs(database, asked, other))


def _parser() -> ArgumentParser:
    parser = parser_for(
        "replay",
        purpose="Repeat every decision of a run from its outcomes, times and random numbers, and\n"
        "compare with the log. Nothing is executed. At a difference, the exit status is 1 and\n"
        "the first one is shown; 2 when the program is not available.",
        example="anew replay last\nanew replay 7351 --program edited.yaml\n"
        "anew events 7351 --json > log.jsonl && anew replay --file log.jsonl --program flow.yaml",
    )
    parser.add_argument(
        "runs", metavar="RUN", nargs="*", help="id, first or last digits, or `last` for the newest"
    )
    parser.add_argument(
        "--file", metavar="LOG", help="a log that `anew events --json` printed; - is standard input"
    )
    parser.add_argument(
        "--program",
        metavar="FILE",
        help="derive with this document instead of the one the run is pinned to",
    )
    add_dialect_option(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object per run")
    add_place_options(parser)
    return parser


def _other_program(asked: Namespace) -> Program | None:
    """The program named with `--program`; ConfigError when it is none."""
    if asked.program is None:
        return None
    from anew.surfaces.cli.loading import load_program

    found = load_program(asked.program, dialect=asked.dialect)
    if found is None:
        raise ConfigError(f"{asked.program} has errors, so nothing can be derived with it.")
    return found.program


def _replay_file(asked: Namespace, program: Program | None) -> int:
    from anew.lab.replay.log_file import read_rows

    if program is None:
        raise ConfigError("a log of a file needs its document: add --program FILE.")
    name = shown_name(asked.file)
    try:
        # A log is as long as its run was: it is read line by line.
        with _opened(asked.file) as lines:
            log = read_rows(lines, name)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"cannot read {name}: {reason.lower()}") from error
    found = _derived(program, log, asked, is_rounded=True)
    return _tell(asked, name, program, found, log)


def _opened(path: str) -> AbstractContextManager[BinaryIO]:
    if path != STANDARD_INPUT:
        return open(path, "rb")
    if sys.stdin is None:
        raise ConfigError("cannot read <stdin>: it is closed")
    return nullcontext(sys.stdin.buffer)


async def _replay_runs(database: Database, asked: Namespace, other: Program | None) -> int:
    worst = status.DONE
    for said in asked.runs:
        row = await find_run(database.archive, said)
        program = other or await program_of(database.catalog, row.digest)
        if program is None:
            _complain(asked, str(row.run), row.program)
            worst = status.BAD
            continue
        log = await read_log(database.archive, row.run)
        found = _derived(program, log, asked)
        worst = max(worst, _tell(asked, str(row.run), program, found, log))
    return worst


def _derived(
    program: Program, log: Sequence[Event], asked: Namespace, *, is_rounded: bool = False
) -> Replayed:
    if asked.program is not None and log:
        program = posing_as(program, log[0])
    derivation = Derivation(program, log, is_rounded=is_rounded)
    progress = ProgressLine("events derived again", is_silent=asked.json)
    for _ in derivation.turns():
        progress.report(derivation.position, len(log))
    progress.close()
    return derivation.report()


def _complain(asked: Namespace, run: str, program: str) -> None:
    why = (
        f"the program of run {run} ({program}) is not available; "
        "name its document with --program FILE."
    )
    if asked.json:
        print(json.dumps({"run": run, "is_equal": None, "problem": why}))
    print(f"anew: {visible(why)}", file=sys.stderr)


def _tell(
    asked: Namespace, name: str, program: Program, found: Replayed, log: Sequence[Event]
) -> int:
    decided_by = log[0] if log and isinstance(log[0], RunRequested) else None
    is_same = decided_by is not None and decided_by.digest == program.digest
    if asked.json:
        print(json.dumps(_object(name, program, found, digest_is_same=is_same)))
    else:
        for line in _lines(name, program, found):
            print(visible(line))
        if decided_by is not None and not is_same:
            print(visible(_other_digest(decided_by, program)))
    return status.DONE if found.difference is None else status.FAILED


def _other_digest(decided_by: RunRequested, program: Program) -> str:
    ours, theirs = (digest[:_DIGEST_CHARACTERS] for digest in (decided_by.digest, program.digest))
    return (
        f"  the log names program {decided_by.program} ({ours}); "
        f"it was derived with {program.name} ({theirs})"
    )


def _object(name: str, program: Program, found: Replayed, *, digest_is_same: bool) -> Object:
    told = {"run": name, **found.report(), "digest_is_same": digest_is_same}
    if found.difference is not None:
        told["difference"]["places"] = [
            {"what": spot.what, "file": spot.span.file, "line": spot.span.line}
            for spot in spots_of(program, found.difference)
        ]
    return told


def _lines(name: str, program: Program, found: Replayed) -> list[str]:
    events, decisions = counted(found.events, "event"), counted(found.decisions, "decision")
    lines = []
    difference = found.difference
    if difference is None:
        lines.append(f"{name}: {events}, {decisions} derived again, all equal")
        if not found.ended:
            lines.append(
                "  the log has no end of the run: it is still running, or events are missing"
            )
    else:
        lines.append(f"{name}: differs at event {difference.seq}, after {events}, {decisions}")
        lines += _difference_lines(program, difference)
    if found.shared:
        lines.append(f"  {counted(found.shared, 'event')} shared with another run, not derived")
    if found.trusted:
        what = counted(found.trusted, "decision")
        lines.append(f"  {what} read a credential and cannot be derived without it")
    return lines


def _difference_lines(program: Program, difference: Difference) -> list[str]:
    recorded, derived = difference.recorded, difference.derived
    lines = [f"  log     {_event(recorded)}", f"  engine  {_event(derived)}"]
    if difference.problem is not None:
        lines.append(f"  {difference.problem}")
    fields = fields_of(difference)
    if fields:
        lines += _table(fields)
    return [*lines, *(_spot(spot) for spot in spots_of(program, difference))]


def _event(event: Event | None) -> str:
    if event is None:
        return "nothing"
    place = event.step or "the run"
    if event.visit is not None:
        place += f", visit {event.visit}"
    if event.iteration is not None:
        place += f", iteration {event.iteration}"
    task = f", task {event.task}, attempt {event.attempt}" if event.task else ""
    return f"{event.name} of {place}{task}"


def _table(fields: Sequence[Field]) -> list[str]:
    width = max(len("field"), *(len(one.name) for one in fields))
    rows = [("field", "log", "engine")]
    rows += [(one.name, _value(one.log), _value(one.engine)) for one in fields]
    middle = min(max(len(row[1]) for row in rows), _SHOWN_CHARACTERS)
    return [
        f"    {name:<{width}}  {log:<{middle}}  {engine}".rstrip() for name, log, engine in rows
    ]


def _value(value: Value) -> str:
    text = "-" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"


def _spot(spot: SourcePlace) -> str:
    return f"  {spot.span.file}:{spot.span.line}: {spot.what}"
