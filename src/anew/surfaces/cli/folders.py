"""Find the documents in folders: playbooks and graphs, wherever they are below.

Hidden folders and files, and what package managers keep, are not looked into. Links to folders are
not followed, so that no loop of them is entered. Knows files, and nothing of what they mean.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from anew.errors import ConfigError
from anew.files import os_reason
from anew.languages import is_dot
from anew.surfaces.cli.documents import STANDARD_INPUT, read_document

# Far more than any repository holds; whoever names `/` is answered in time.
FOLDER_FILES_MAX = 100_000
_SUFFIXES = (".yaml", ".yml", ".json", ".dot", ".gv")
_UNREAD = frozenset({"node_modules", "__pycache__", "site-packages"})
_PLAYBOOK = re.compile(
    rb"^\xef?\xbb?\xbf?(?:[\"']?workflow[\"']?\s*:|kind\s*:\s*[\"']?(?:Playbook|Subscription)\b)"
    rb"|^\s*\{(?:[^\n]*[,{]\s*)?[\"']?workflow[\"']?\s*:|^\s*\"workflow\"\s*:",
    re.MULTILINE,
)
_GRAPH = re.compile(rb"\bgraph\b|\bdigraph\b")


class FolderFile(Struct, frozen=True):
    """A file that may hold a document; `problem` says why a folder cannot be looked into.

    `is_named`: someone named it, so that it is one whatever it holds.
    """

    path: str
    is_named: bool = False
    problem: str = ""


class FolderDocument(Struct, frozen=True):
    """A playbook or graph with its text; `problem` says why there is none."""

    path: str
    text: bytes
    problem: str = ""


class SkippedFiles(Struct):
    """How many files were looked at that hold neither a playbook nor a graph."""

    count: int = field(default=0)


def has_folder(paths: Iterable[str]) -> bool:
    return any(is_folder(path) for path in paths)


def is_folder(path: str) -> bool:
    return path != STANDARD_INPUT and os.path.isdir(path)


def files_in(paths: Iterable[str]) -> list[FolderFile]:
    """The files to look at, each once, in the order of their names; files are taken as named."""
    found: dict[str, FolderFile] = {}
    for path in paths:
        below = _walk(path) if is_folder(path) else iter([FolderFile(path, is_named=True)])
        for file in below:
            found.setdefault(os.path.realpath(file.path), file)
            if len(found) > FOLDER_FILES_MAX:
                message = f"{path} holds more than {FOLDER_FILES_MAX:,} files with such names"
                raise ConfigError(f"{message}. Name the folders that hold documents")
    return list(found.values())


def document_in(file: FolderFile, skipped: SkippedFiles) -> FolderDocument | None:
    """The document in a file; None where it holds none, which is counted then."""
    if file.problem:
        return FolderDocument(file.path, b"", file.problem)
    try:
        text = read_document(file.path)
    except ConfigError as error:
        return FolderDocument(file.path, b"", str(error))
    if file.is_named or _is_document(file.path, text):
        return FolderDocument(file.path, text)
    skipped.count += 1
    return None


def _is_document(path: str, text: bytes) -> bool:
    suffix = os.path.splitext(path)[1].lower()
    if is_dot(text, suffix):
        # Other programs use these endings too, for templates of texts.
        return _GRAPH.search(text) is not None
    return _PLAYBOOK.search(text) is not None


def _walk(top: str) -> Iterator[FolderFile]:
    folders = [top]
    while folders:
        folder = folders.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            reason = os_reason(error)
            yield FolderFile(folder, problem=f"cannot read {folder}: {reason}")
            continue
        seen = [one for one in entries if one.name[:1] != "." and one.name not in _UNREAD]
        folders += [one.path for one in reversed(seen) if one.is_dir(follow_symlinks=False)]
        for one in seen:
            if one.name.lower().endswith(_SUFFIXES) and _is_file(one):
                yield FolderFile(one.path)


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether it is a file or a link to one; reading a pipe or a device might never end."""
    try:
        return stat.S_ISREG(entry.stat().st_mode)
    except OSError:
        return False  # a link to nothing
