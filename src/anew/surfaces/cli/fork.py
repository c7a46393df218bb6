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
from anew.lab.forking import fork_preview
from anew.runtime.embedded import Embedded, check_workload
from anew.runtime.forking import ForkOrder, Plan, Where, told_misfit
from anew.runtime.keys import check_key, made_key
from anew.runtime.orders import Request
from anew.runtime.programs import Document, NotRegistered, compiled_again
from anew.runtime.wiring import open_database
from anew.store import Database, RunId, RunRow
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import add_dialect_option, count, parser_for
from anew.surfaces.cli.documents import shown_name
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.history import add_run_argument, find_run
from anew.surfaces.cli.loading import load_program
from anew.surfaces.cli.overrides import add_workload_options, labels_of, workload_overrides
from anew.surfaces.cli.previews import planned, print_preview
from anew.surfaces.cli.sending import warn_of_files
from anew.surfaces.cli.working import Wish, add_manner_options, carry_out, manner_of
from anew.values import Object
from anew.views.forking import Preview, preview_row

_SUFFIXES = (".yaml", ".yml", ".dot", ".gv", ".json")


class _Fork(Struct, frozen=True):
    """A fork that is planned: of which run, and what it will do."""

    row: RunRow
    plan: Plan
    preview: Preview
    notes: list[str]


def run(words: list[str]) -> int:
    asked = _parser().parse_args(words)
    workload = workload_overrides(asked.payload, asked.set)
    check_workload(workload)
    document = None
    if asked.program is not None and _is_file(asked.program):
        document = _read(asked)
        if document is None:
            return status.BAD
    fork = asyncio.run(_planned(asked, workload, document))
    row = preview_row(fork.preview)
    if asked.json and (asked.dry_run or fork.plan.misfits):
        print(json.dumps({"preview": row}))
    elif not asked.json and not asked.quiet:
        print_preview(fork.preview, fork.notes)
    if fork.plan.misfits:
        _print_misfits(fork)
        return status.BAD
    if asked.dry_run:
        return status.DONE
    manner = replace(manner_of(asked), preview=row)
    return carry_out(_wish(asked, fork, workload), manner)


def _parser() -> ArgumentParser:
    parser = parser_for(
        "fork",
        purpose="Make a new run that shares the log of RUN up to an event and goes on from there,\n"
        "under the same program or another one. What was at work there runs again; RUN itself\n"
        "stays as it is. What will be kept and done again is told first.",
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
        "--program", metavar="FILE|NAME[@VERSION]", help="go on under this document instead"
    )
    add_dialect_option(parser)
    add_workload_options(parser)
    parser.add_argument("--key", metavar="K", help="the same key always means the same run")
    parser.add_argument(
        "--label", action="append", default=[], metavar="K=V", help="a label to find the run by"
    )
    parser.add_argument(
        "--cancel", action="store_true", help="end RUN once the new run is there: move it"
    )
    parser.add_argument("--dry-run", action="store_true", help="only tell what would happen")
    add_manner_options(parser)
    return parser


def _is_file(said: str) -> bool:
    return said == "-" or said.endswith(_SUFFIXES) or os.path.exists(said)


def _read(asked: Namespace) -> Document | None:
    """The document that is named; None when it has errors, which have been printed."""
    read = load_program(asked.program, dialect=asked.dialect)
    if read is None:
        return None
    file = os.path.abspath(shown_name(asked.program))
    if not asked.quiet:
        warn_of_files(read.program, file, asked.place)
    return Document(read.program, read.source.decode(), file, read.dialect, read.files)


async def _planned(asked: Namespace, workload: Object, document: Document | None) -> _Fork:
    if asked.visit is not None and asked.step is None:
        raise ConfigError("--visit says which visit of the step that --from names.")
    async with open_database(asked.place, read_only=True) as database:
        row = await find_run(database.archive, asked.run)
        if document is None and asked.program is not None:
            document = await _registered(database, asked.program)
        where = Where(asked.at, asked.step, asked.visit)
        plan = await planned(database, row, where, new=document)
        return _Fork(row, plan, fork_preview(plan, workload), _notes(row, plan, asked))


async def _registered(database: Database, said: str) -> Document:
    name, at, version = said.rpartition("@")
    if not at or not version.isascii() or not version.isdigit():
        name, version = said, ""
    stored = await database.catalog.find(name, int(version) if version else None)
    if stored is None:
        raise NotRegistered(said)
    return compiled_again(stored)


def _notes(row: RunRow, plan: Plan, asked: Namespace) -> list[str]:
    notes = []
    if row.status not in FINAL:
        goes_on = "is cancelled" if asked.cancel else "goes on as well; --cancel ends it"
        notes.append(f"run {row.run} {goes_on}")
    if row.parent is not None:
        notes.append(f"run {row.parent.run} waits for run {row.run}, and not for the new one")
    if plan.is_moved:
        notes.append(f"goes on under {asked.program}")
    return notes


def _print_misfits(fork: _Fork) -> None:
    for found in fork.plan.misfits:
        print(f"anew: {visible(told_misfit(found))}", file=sys.stderr)
    remedy = "Fork it at an earlier event, or keep what is live in the new document."
    run, at = fork.row.run, fork.plan.at
    print(f"anew: run {run} cannot go on there from event {at}. {remedy}", file=sys.stderr)


def _wish(asked: Namespace, fork: _Fork, workload: Object) -> Wish:
    """What was shown, and nothing else: the old run may have moved on meanwhile."""
    key, labels = check_key(asked.key) or made_key(), labels_of(asked.label)
    document = fork.plan.new if fork.plan.is_moved else None
    order = ForkOrder(
        fork.row.run,
        Where(fork.plan.at),
        document,
        workload,
        key,
        labels,
        cancels=asked.cancel,
    )

    async def here(engine: Embedded) -> RunId:
        return (await engine.fork(order)).run

    there = Request(
        "fork",
        run=str(fork.row.run),
        at=fork.plan.at,
        workload=workload,
        key=key,
        labels=labels,
        is_cancelling=asked.cancel,
    )
    if document is not None:
        there.source, there.file, there.dialect = document.source, document.file, document.dialect
        there.files = dict(document.files)
    return Wish(here, there)
