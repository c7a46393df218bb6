"""`anew register` of a folder: every playbook and graph in it, each under its own name.

A name that two documents give themselves would make one of them a version of the other, another one
every time; so the second is refused. A document that is the newest version already stays as it is.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from anew.errors import AnewError, ConfigError, StoreError
from anew.languages import is_dot, load_text
from anew.program.findings import Finding, has_error
from anew.runtime.commands import RegisterProgram
from anew.runtime.databases import open_database
from anew.surfaces.cli import status
from anew.surfaces.cli.command_sending import send_commands
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.findings import counted, finding_lines
from anew.surfaces.cli.folders import FolderDocument, SkippedFiles, document_in, files_in
from anew.surfaces.cli.paint import paint_for
from anew.surfaces.cli.progress_line import ProgressLine
from anew.surfaces.cli.server_files import warn_of_files
from anew.values import Object


class Registration(StrEnum):
    """What became of a document."""

    REGISTERED = "registered"
    UNCHANGED = "unchanged"
    COPY = "copy"
    REFUSED = "refused"


class RegisteredFile(Struct, frozen=True):
    """One document of a folder; `reason` says why it was refused."""

    file: str
    outcome: Registration
    name: str = ""
    version: int | None = None
    reason: str = ""

    def row(self) -> Object:
        return {
            "file": self.file,
            "outcome": self.outcome.value,
            "name": self.name or None,
            "version": self.version,
            "reason": self.reason or None,
        }


class _Ready(Struct, frozen=True):
    """A document that compiled, and the command that registers it."""

    path: str
    name: str
    command: RegisterProgram


def register_folder(folder: str, place: str | None, *, dialect: str | None, is_json: bool) -> int:
    """Register what is in the folder; what is refused there keeps nothing else from it."""
    skipped = SkippedFiles()
    read = list(_read(folder, place, dialect, skipped))
    ready = [one for one in read if isinstance(one, _Ready)]
    done = {one.file: one for one in read if isinstance(one, RegisteredFile)}
    done |= {one.file: one for one in _register(ready, place)}
    rows = [done[one.path if isinstance(one, _Ready) else one.file] for one in read]
    if is_json:
        found = [row.row() for row in rows]
        print(json.dumps({"documents": found, "skipped": skipped.count}))
    else:
        for line in _lines(rows, skipped.count):
            print(visible(line))
    return status.BAD if any(row.outcome is Registration.REFUSED for row in rows) else status.DONE


def _lines(rows: list[RegisteredFile], skipped: int) -> Iterator[str]:
    for row in rows:
        if row.reason:
            yield f"{row.outcome:<11} {row.file}: {row.reason}"
        else:
            yield f"{row.outcome:<11} {row.name} version {row.version} ({row.file})"
    totals = {each: sum(row.outcome is each for row in rows) for each in Registration}
    copies = totals.pop(Registration.COPY)
    numbers = [f"{number} {each}" for each, number in totals.items()]
    if copies:
        numbers.append("1 copy" if copies == 1 else f"{copies} copies")
    found = f"{counted(len(rows), 'document')}: {', '.join(numbers)}"
    yield f"{found}; {counted(skipped, 'other file')} skipped"


# --- reading -------------------------------------------------------------------------------------


def _read(
    folder: str, place: str | None, dialect: str | None, skipped: SkippedFiles
) -> Iterator[_Ready | RegisteredFile]:
    """Every document below the folder, compiled; a second one of the same name is refused."""
    names: dict[str, _Ready] = {}
    files = files_in([folder])
    progress = ProgressLine("files read")
    for number, file in enumerate(files):
        progress.report(number, len(files))
        document = document_in(file, skipped)
        if document is None:
            continue
        one = _compiled(document, place, dialect)
        first = names.get(one.name) if isinstance(one, _Ready) else None
        if isinstance(one, _Ready) and first is not None:
            yield _second(one, first)
            continue
        if isinstance(one, _Ready):
            names[one.name] = one
        yield one
    progress.close()


def _second(one: _Ready, first: _Ready) -> RegisteredFile:
    """A document whose name another one has: the same once more, or another, which is refused."""
    if one.command.source == first.command.source:
        return RegisteredFile(one.path, Registration.COPY, one.name, reason=f"of {first.path}")
    reason = f"its name {one.name!r} is that of {first.path}. Give it another `metadata.name`"
    return RegisteredFile(one.path, Registration.REFUSED, one.name, reason=reason)


def _compiled(
    document: FolderDocument, place: str | None, dialect: str | None
) -> _Ready | RegisteredFile:
    path = document.path
    if document.problem:
        return RegisteredFile(path, Registration.REFUSED, reason=document.problem)
    is_graph = is_dot(document.text, os.path.splitext(path)[1].lower())
    try:
        loaded = load_text(document.text, path, dialect=dialect if is_graph else None)
    except ConfigError as error:
        return RegisteredFile(path, Registration.REFUSED, reason=str(error))
    if loaded.program is None:
        errors = [found for found in loaded.findings if has_error([found])]
        _tell(errors, document)
        return RegisteredFile(path, Registration.REFUSED, reason=counted(len(errors), "error"))
    warn_of_files(loaded.program, os.path.abspath(path), place)
    command = RegisterProgram(
        source=document.text.decode(),
        file=os.path.abspath(path),
        dialect=loaded.dialect,
        files=dict(loaded.files),
    )
    return _Ready(path, loaded.program.name, command)


def _tell(errors: list[Finding], document: FolderDocument) -> None:
    for line in finding_lines(errors, document.text, paint_for(sys.stderr)):
        print(line, file=sys.stderr)


# --- registering ---------------------------------------------------------------------------------


def _register(ready: list[_Ready], place: str | None) -> Iterator[RegisteredFile]:
    if not ready:
        return
    before = asyncio.run(_versions(place))
    answers = send_commands(place, (one.command for one in ready))
    progress = ProgressLine("documents registered")
    for number, (one, answer) in enumerate(zip(ready, answers, strict=True)):
        progress.report(number, len(ready))
        if isinstance(answer, AnewError):
            yield RegisteredFile(one.path, Registration.REFUSED, one.name, reason=str(answer))
            continue
        version = answer["version"]
        is_known = before.get(one.name) == version
        outcome = Registration.UNCHANGED if is_known else Registration.REGISTERED
        yield RegisteredFile(one.path, outcome, one.name, version)
    progress.close()


async def _versions(place: str | None) -> dict[str, int | None]:
    """The newest version of every registered program; none where there is no database yet."""
    try:
        async with open_database(place, read_only=True) as database:
            return {found.name: found.version for found in await database.catalog.programs()}
    except StoreError:
        return {}
