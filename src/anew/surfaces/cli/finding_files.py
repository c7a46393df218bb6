"""Find the scenarios and documents below the paths a user names.

Looks at names, and where a name says too little at how a file begins; compiles nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from anew.errors import ConfigError
from anew.lab.scenario import (
    DOCUMENT_SUFFIXES,
    SCENARIO_SUFFIXES,
    documents_beside,
    is_scenario,
    stem_of,
)
from anew.surfaces.cli.documents import read_document

# Nobody has so many; a path that leads to more is not the one that was meant.
SCENARIOS_MAX = 100_000
# What tools keep below a project, and no author writes.
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})
_SUFFIXES = (*SCENARIO_SUFFIXES, *DOCUMENT_SUFFIXES)
_YAML_SUFFIXES = (".yaml", ".yml")
# A playbook has this key at the beginning of a line, or of a mapping in braces.
_WORKFLOW = re.compile(rb"""^[\s{]*["']?workflow["']?\s*:""", re.M)


def files_below(paths: Iterable[str]) -> list[str]:
    """Scenarios, and what may be a document by its name: each once, in the order of their names.

    A document stands for the scenarios beside it. ConfigError when a path leads nowhere.
    """
    return sorted({file for path in paths for file in _files(path)})


def scenarios_among(files: Iterable[str]) -> list[str]:
    found = [file for file in files if is_scenario(file)]
    if len(found) > SCENARIOS_MAX:
        raise ConfigError(f"there are more than {SCENARIOS_MAX:,} scenarios; name a folder of them")
    return found


def documents_among(files: Iterable[str]) -> list[str]:
    """Those that are documents of ours: folders hold YAML of many kinds."""
    return [file for file in files if not is_scenario(file) and _is_document(file)]


def _files(path: str) -> Iterator[str]:
    path = os.path.normpath(path)
    if os.path.isdir(path):
        yield from _files_in(path)
        return
    if not os.path.exists(path):
        raise ConfigError(f"there is no file or folder {path}")
    if not path.endswith(_SUFFIXES):
        endings = ", ".join(_SUFFIXES)
        raise ConfigError(f"{path} is neither a scenario nor a document: those end in {endings}")
    yield path
    if not is_scenario(path):
        yield from _scenarios_of(path)


def _files_in(folder: str) -> Iterator[str]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_skipped(name))
        for name in names:
            file = os.path.normpath(os.path.join(here, name))
            # Reading a pipe would wait for whoever writes to it.
            if name.endswith(_SUFFIXES) and name[0] != "." and os.path.isfile(file):
                yield file


def _is_skipped(folder: str) -> bool:
    return folder.startswith(".") or folder in _SKIPPED_FOLDERS


def _scenarios_of(document: str) -> Iterator[str]:
    """The scenarios beside a document that play it by their name."""
    folder = os.path.dirname(document)
    for name in os.listdir(folder or "."):
        file = os.path.join(folder, name)
        if is_scenario(name) and document in existing_beside(file):
            yield file


def existing_beside(file: str) -> list[str]:
    """The documents beside a scenario that its name may mean: one, unless it says too little."""
    for places in documents_beside(file):
        found = [place for place in places if os.path.isfile(place)]
        if found:
            return found
    return []


def document_of(file: str, said: str | None) -> str:
    """The document a scenario plays; ConfigError when there is none, or more than one."""
    if said is not None:
        document = os.path.normpath(os.path.join(os.path.dirname(file), said))
        if not os.path.isfile(document):
            raise ConfigError(f"its document {document} does not exist")
        return document
    found = existing_beside(file)
    if not found:
        name = os.path.basename(stem_of(file)).partition(".")[0]
        endings = " or ".join(f"{name}{suffix}" for suffix in DOCUMENT_SUFFIXES)
        raise ConfigError(f"there is no document beside it: {endings}; or say `document: PATH`")
    if len(found) > 1:
        names = " and ".join(found)
        raise ConfigError(f"its document may be {names}; say which with `document: PATH`")
    return found[0]


def _is_document(file: str) -> bool:
    if not file.endswith(_YAML_SUFFIXES):
        return True
    try:
        return _WORKFLOW.search(read_document(file)) is not None
    except ConfigError:
        return False
