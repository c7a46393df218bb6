"""`anew export`: a run as a directory of files, for people and for tools that read files."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace

from msgspec.structs import asdict

from anew.errors import ConfigError, EngineBug
from anew.files import os_reason
from anew.runtime.damage import Readable, damage_row, out_of_place, raw_rows, readable_page
from anew.runtime.run_logs import PAGE_EVENTS
from anew.store import Archive, Database, RunId, RunRow
from anew.stores.damage import DamagedRun
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.hints import hinted
from anew.surfaces.cli.history import (
    add_run_argument,
    find_run,
    program_of,
    read,
)
from anew.surfaces.cli.location import add_place_options
from anew.views.export.directory import RunDirectory, Subject
from anew.views.export.folder import Folder
from anew.views.wording import counted

# How often a long export says how far it is.
PROGRESS_SECONDS = 2.0


def run(words: list[str]) -> int:
    parser = parser_for(
        "export",
        purpose="Write a run as a directory of files: its document and log, a checkpoint after\n"
        "each node and before each retry, and the prompt, response and outcome of every attempt.\n"
        "The files are a view: the run continues from its log, not from them. DIR must not exist\n"
        "or be empty; it is written completely or not at all.",
        example="anew export last out\nanew export 7351 out --force --json",
    )
    add_run_argument(parser)
    parser.add_argument("dir", metavar="DIR", help="the folder to write; its parents are created")
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace an earlier export of the same run, if DIR holds nothing else",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quiet", action="store_true", help="print nothing but the last line")
    add_place_options(parser)
    asked = parser.parse_args(words)
    if not asked.dir:
        raise ConfigError("DIR is empty; name the folder to write.")
    return read(asked.place, lambda database: _export(database, asked))


async def _export(database: Database, asked: Namespace) -> int:
    row = await find_run(database.archive, asked.run)
    document = await database.catalog.get(row.digest)
    directory = RunDirectory(Subject(row, document, await program_of(database.catalog, row.digest)))
    folder = Folder(asked.dir, run=str(row.run), replaces=asked.force)
    progress = _Progress(row.version, is_silent=asked.quiet or asked.json)
    try:
        with folder:
            damage = await _write(database.archive, row, directory, folder, progress)
    except BrokenPipeError:
        raise
    except OSError as error:
        return _explain(asked.dir, error)
    if damage is not None:
        print(f"anew: {visible(hinted(str(damage), asked.place))}", file=sys.stderr)
    _print_counts(asked, row, files=folder.files, checkpoints=directory.checkpoints)
    return status.DONE


async def _write(
    archive: Archive,
    row: RunRow,
    directory: RunDirectory,
    folder: Folder,
    progress: _Progress,
) -> DamagedRun | None:
    """Everything up to the version the run had when we looked, however far it is by now.

    What ended it before that, if anything did.
    """
    damage = None
    for change in directory.begin():
        folder.apply(change)
    while directory.state.version < row.version:
        done = directory.state.version
        limit = min(PAGE_EVENTS, row.version - done)
        page = await readable_page(archive, row.run, after=done, limit=limit)
        damage = _feed(directory, folder, row.run, page, progress=progress)
        if damage is not None:
            await _leave(archive, directory, folder, damage)
            break
        if not page.events:
            raise ConfigError(f"run {row.run} was removed while it was exported.")
    for change in directory.finish(time.time_ns()):
        folder.apply(change)
    return damage


def _feed(
    directory: RunDirectory,
    folder: Folder,
    run: RunId,
    page: Readable,
    *,
    progress: _Progress,
) -> DamagedRun | None:
    """Write a page; what ended it before its time, if anything did."""
    for event in page.events:
        try:
            changes = list(directory.feed(event))
        except EngineBug as error:
            return out_of_place(run, event, error)
        for change in changes:
            folder.apply(change)
        progress.report(event.seq)
    return page.damage


async def _leave(
    archive: Archive, directory: RunDirectory, folder: Folder, damage: DamagedRun
) -> None:
    """Save the rows that make no sense, for whoever can make some of them."""
    rows = await raw_rows(archive, damage.run, after=damage.seq - 1)
    for change in directory.leave(damage_row(damage), map(asdict, rows)):
        folder.apply(change)


class _Progress:
    """Says on standard error how far a long export is."""

    def __init__(self, total: int, *, is_silent: bool) -> None:
        self._total, self._is_silent = total, is_silent
        self._reported_at = time.monotonic()

    def report(self, done: int) -> None:
        if self._is_silent or time.monotonic() - self._reported_at < PROGRESS_SECONDS:
            return
        self._reported_at = time.monotonic()
        print(f"{done:,} of {counted(self._total, 'event')} written", file=sys.stderr)


def _explain(target: str, error: OSError) -> int:
    reason = os_reason(error)
    print(
        visible(
            f"anew: cannot write the export to {target!r}: {reason}. Nothing was left there; "
            "free some space or name another folder, and export again."
        ),
        file=sys.stderr,
    )
    return status.FAILED


def _print_counts(asked: Namespace, row: RunRow, *, files: int, checkpoints: int) -> None:
    if asked.json:
        print(json.dumps({"dir": asked.dir, "files": files, "checkpoints": checkpoints}))
        return
    counts = f"{counted(checkpoints, 'checkpoint')}, {counted(files, 'file')}"
    print(visible(f"run {row.run} is in {asked.dir}: {counts}"))
