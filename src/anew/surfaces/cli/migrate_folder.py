"""`anew migrate` of a folder: which playbooks are rewritten, and which cannot be and why."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from anew.errors import ConfigError
from anew.languages import is_dot
from anew.languages.playbook.migrate import migrate
from anew.surfaces.cli import status
from anew.surfaces.cli.documents import replace_document
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.findings import counted, finding_lines
from anew.surfaces.cli.folders import FolderDocument, SkippedFiles, document_in, files_in
from anew.surfaces.cli.paint import paint_for
from anew.surfaces.cli.progress_line import ProgressLine


class FileChange(StrEnum):
    """What becomes of a document."""

    REWRITTEN = "rewritten"
    IN_PART = "in part"
    CANONICAL = "canonical"
    GRAPH = "graph"
    REFUSED = "refused"


class MigratedFile(Struct, frozen=True):
    """`about` says why a document is not, or not all of it, rewritten."""

    path: str
    change: FileChange
    about: str = ""


_MEANINGS = {
    FileChange.REWRITTEN: "in the canonical form",
    FileChange.IN_PART: "but for what has no canonical form",
    FileChange.CANONICAL: "already",
    FileChange.GRAPH: "left alone: `anew migrate GRAPH -o FILE.yaml` makes a playbook of one",
    FileChange.REFUSED: "and left as they were",
}


def migrate_folder(folder: str, *, writes: bool) -> int:
    """Rewrite the playbooks below a folder, or say what would be rewritten."""
    skipped, files = SkippedFiles(), files_in([folder])
    rows: list[MigratedFile] = []
    progress = ProgressLine("files read")
    for number, file in enumerate(files):
        progress.report(number, len(files))
        document = document_in(file, skipped)
        if document is not None:
            rows.append(_migrated(document, writes=writes))
            progress.close()
            print(visible(_line(rows[-1])))
    progress.close()
    for line in _counts(rows, skipped.count, writes=writes):
        print(line)
    return status.BAD if any(row.change is FileChange.REFUSED for row in rows) else status.DONE


def _migrated(document: FolderDocument, *, writes: bool) -> MigratedFile:
    path = document.path
    if document.problem:
        return MigratedFile(path, FileChange.REFUSED, document.problem)
    if is_dot(document.text, os.path.splitext(path)[1].lower()):
        return MigratedFile(path, FileChange.GRAPH)
    result = migrate(document.text, path)
    for line in finding_lines(result.findings, document.text, paint_for(sys.stderr)):
        print(line, file=sys.stderr)
    if result.text is None:
        return MigratedFile(path, FileChange.REFUSED, counted(len(result.findings), "error"))
    if result.text.encode() == document.text:
        kept = f"{counted(len(result.findings), 'place')} left" if result.findings else ""
        return MigratedFile(path, FileChange.IN_PART if kept else FileChange.CANONICAL, kept)
    if writes:
        try:
            replace_document(path, result.text)
        except ConfigError as error:
            return MigratedFile(path, FileChange.REFUSED, str(error))
    if result.findings:
        return MigratedFile(
            path, FileChange.IN_PART, f"{counted(len(result.findings), 'place')} left"
        )
    return MigratedFile(path, FileChange.REWRITTEN)


def _line(row: MigratedFile) -> str:
    return f"{row.change:<10} {row.path}" + (f": {row.about}" if row.about else "")


def _counts(rows: list[MigratedFile], skipped: int, *, writes: bool) -> Iterator[str]:
    yield f"{counted(len(rows), 'document')}, {counted(skipped, 'other file')} skipped:"
    for change in FileChange:
        number = sum(row.change is change for row in rows)
        if number:
            yield f"  {number:>5} {change} {_MEANINGS[change]}"
    if not writes and any(row.change in (FileChange.REWRITTEN, FileChange.IN_PART) for row in rows):
        yield "Nothing was written: add --write."
