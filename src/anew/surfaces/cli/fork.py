"""`anew fork`: a new run that shares the log of another up to an event."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from argparse import ArgumentParser, Namespace

from msgspec import Struct
from msgspec.structs import replace

from anew.engine.state import FINAL
from anew.errors import ConfigError
from anew.runtime.command_executor import started_row
from anew.runtime.commands import ForkRun, document_fields
from anew.runtime.databases import open_database
from anew.runtime.engine import Engine
from anew.runtime.forks import ForkPlan, ForkPoint, ForkRequest, made_before, planned
from anew.runtime.keys import check_key, made_key
from anew.runtime.payloads import check_workload
from anew.runtime.program_names import find_program
from anew.runtime.programs import Document, NotRegistered, compiled_again
from anew.store import Database, RunId, RunRow
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import add_dialect_option, count, parser_for
from anew.surfaces.cli.documents import shown_name
from anew.surfaces.cli.history import add_run_argument, find_run
from anew.surfaces.cli.loading import load_program
from anew.surfaces.cli.overrides import add_workload_options, workload_overrides
from anew.surfaces.cli.previews import PreparedFork, documents_of, prepared_fork, tell
from anew.surfaces.cli.run_execution import Intent, add_run_options, carry_out, run_options_of
from anew.surfaces.cli.server_files import warn_of_files
from anew.surfaces.labels import labels_of
from anew.values import Object
from anew.views.forking import preview_row

_SUFFIXES = (".yaml", ".yml", ".dot", ".gv", ".json")
# More than there can be versions of a program, and few enough for every store.
_VERSION_DIGITS = 9


class _Known(Struct, frozen=True):
    """The key names a fork of `of` that there is already."""

    run: RunId
    of: RunId


def run(words: list[str]) -> int:
    asked = _parser().parse_args(words)
    workload = workload_overrides(asked.payload, asked.set)
    check_workload(workload)
    document = None
    if asked.program is not None and _is_file(asked.program):
        document = _read(asked)
        if document is None:
            return status.BAD
    labels = labels_of(asked.label)
    fork = asyncio.run(_planned(asked, workload, document))
    key = asked.key or made_key()
    if isinstance(fork, _Known):
        ended = _tell_known(fork, asked)
        order = ForkRequest(fork.of, key=key, cancels=asked.cancel)
        return carry_out(_intent(order), run_options_of(asked)) if ended is None else ended
    ended = tell(fork, asked)
    if ended is not None:
        return ended
    order = ForkRequest(
        fork.run,
        _as_shown(fork.plan),
        fork.plan.new if fork.plan.is_moved else None,
        workload,
        key,
        labels,
        cancels=asked.cancel,
    )
    return carry_out(
        _intent(order), replace(run_options_of(asked), preview=preview_row(fork.preview))
    )


def _parser() -> ArgumentParser:
    parser = parser_for(
        "fork",
        purpose="Create a new run that shares the log of RUN up to an event and continues from\n"
        "there, under the same program or another one. What was running there runs again; RUN\n"
        "itself does not change. What is kept and what is done again is shown first.",
        example="anew fork last --at 17\n"
        "anew fork last --from store --program fixed.yaml --dry-run\n"
        "anew fork 7351204873256960 --program flow@3 --cancel",
    )
    add_run_argument(parser)
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "--at", type=count, metavar="SEQ", help="the last event to share (default: the last one)"
    )
    place.add_argument(
        "--from", dest="step", metavar="STEP", help="share what came before this step's last visit"
    )
    parser.add_argument("--visit", type=count, metavar="N", help="that visit of STEP instead")
    parser.add_argument(
        "--program", metavar="FILE|NAME[@VERSION]", help="continue under this document instead"
    )
    add_dialect_option(parser)
    add_workload_options(parser)
    parser.add_argument("--key", metavar="K", help="the same key always means the same run")
    parser.add_argument(
        "--label", action="append", default=[], metavar="K=V", help="a label to find the run by"
    )
    parser.add_argument(
        "--cancel", action="store_true", help="cancel RUN once the new run exists: move it"
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what would happen")
    add_run_options(parser)
    return parser


def _is_file(said: str) -> bool:
    is_there = os.path.exists(said) and not os.path.isdir(said)
    return said == "-" or said.endswith(_SUFFIXES) or is_there


def _read(asked: Namespace) -> Document | None:
    """The document that is named; None when it has errors, which have been printed."""
    read = load_program(asked.program, dialect=asked.dialect)
    if read is None:
        return None
    file = os.path.abspath(shown_name(asked.program))
    if not asked.quiet:
        warn_of_files(read.program, file, asked.place)
    return Document(read.program, read.source.decode(), file, read.dialect, read.files)


async def _planned(
    asked: Namespace, workload: Object, document: Document | None
) -> PreparedFork | _Known:
    if asked.visit is not None and asked.step is None:
        raise ConfigError("--visit says which visit of the step that --from names.")
    key = check_key(asked.key)
    async with open_database(asked.place, read_only=True) as database:
        row = await find_run(database.archive, asked.run)
        known = None if key is None else await made_before(database.archive, row.run, key)
        if known is not None:
            return _Known(known, row.run)
        if document is None and asked.program is not None:
            document = await _registered(database, asked.program)
        where = ForkPoint(asked.at, asked.step, asked.visit)
        plan = await planned(
            database.archive, documents_of(database), row.run, where=where, new=document
        )
        return prepared_fork(row.run, plan, workload=workload, notes=_notes(row, plan, asked))


async def _registered(database: Database, said: str) -> Document:
    name, at, version = said.rpartition("@")
    is_number = version.isascii() and version.isdigit() and len(version) <= _VERSION_DIGITS
    if not at or not is_number:
        name, version = said, ""
    stored = await find_program(database.catalog, name, int(version) if version else None)
    if stored is None:
        raise NotRegistered(said)
    return compiled_again(stored)


def _notes(row: RunRow, plan: ForkPlan, asked: Namespace) -> list[str]:
    notes = []
    if row.status not in FINAL:
        goes_on = "is cancelled" if asked.cancel else "continues as well; --cancel ends it"
        notes.append(f"run {row.run} {goes_on}")
    if row.parent is not None:
        notes.append(f"run {row.parent.run} waits for run {row.run}, and not for the new one")
    if plan.is_moved:
        notes.append(f"continues under {asked.program}")
    return notes


def _tell_known(known: _Known, asked: Namespace) -> int | None:
    """Say that the key has its run already; the exit status where that was all."""
    if asked.json and asked.dry_run:
        print(json.dumps({"run": str(known.run)}))
    elif not asked.json and not asked.quiet:
        told = f"run {known.run} is this fork of run {known.of} already (--key)"
        print(told, file=sys.stderr)
    return status.DONE if asked.dry_run else None


def _as_shown(plan: ForkPlan) -> ForkPoint:
    """What was shown, and nothing else: the old run may have moved on meanwhile."""
    return ForkPoint(seen=len(plan.log)) if plan.where.is_latest else ForkPoint(plan.at)


def _intent(order: ForkRequest) -> Intent:
    async def here(engine: Engine) -> Object:
        return started_row(await engine.fork(order))

    document = order.document
    there = ForkRun(
        run=str(order.run),
        at=order.where.at,
        seen=order.where.seen,
        workload=order.workload,
        key=order.key,
        labels=dict(order.labels),
        is_cancelling=order.cancels,
        **({} if document is None else document_fields(document)),
    )
    return Intent(there, here)
