"""Find the scenarios and documents below the paths a user names.

Looks at names, and where a name says too little at how a file begins; compiles nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from anew.errors import ConfigError
from anew.lab.scenario import read_scenario
from anew.lab.scenario_files import DOCUMENT_SUFFIXES, SCENARIO_SUFFIXES, document_of, is_scenario
from anew.surfaces.cli.documents import read_document

# Nobody has so many; a path that leads to more is not the one that was meant.
SCENARIOS_MAX = 100_000
# What tools keep below a project, and no author writes.
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})
_SUFFIXES = (*SCENARIO_SUFFIXES, *DOCUMENT_SUFFIXES)
_YAML_SUFFIXES = (".yaml", ".yml")
# A playbook has this key at the beginning of a line, or of a mapping in braces.
_WORKFLOW = re.compile(rb"""^[\s{]*["']?workflow["']?\s*:""", re.M)
# A scenario without it plays the document of its name.
_DOCUMENT = re.compile(rb"""["']?document["']?\s*:""")


def files_below(paths: Iterable[str]) -> list[str]:
    """Scenarios, and what may be a document by its name: each once, in the order of their names.

    A document stands for the scenarios in its folder that play it. ConfigError when a path leads
    nowhere.
    """
    found: dict[str, str] = {}
    for path in paths:
        for file in _files(path):
            found.setdefault(os.path.abspath(file), file)
    return sorted(found.values())


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
    if not os.path.isfile(path):
        raise ConfigError(f"{path} is not a regular file")
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
    """The scenarios in a document's folder that play it, by their name or as they say."""
    folder = os.path.dirname(document)
    for name in os.listdir(folder or "."):
        file = os.path.join(folder, name)
        if is_scenario(name) and os.path.isfile(file) and _plays(file, document):
            yield file


def _plays(file: str, document: str) -> bool:
    """One that cannot be read is known by its name: what is wrong with it is told by playing it."""
    try:
        return os.path.abspath(document_of(file, _said(file))) == os.path.abspath(document)
    except ConfigError:
        return False


def _said(file: str) -> str | None:
    """The document that a scenario names, if it can be read."""
    try:
        text = read_document(file)
        return read_scenario(text, file).document if _DOCUMENT.search(text) else None
    except ConfigError:
        return None


def _is_document(file: str) -> bool:
    if not file.endswith(_YAML_SUFFIXES):
        return True
    try:
        return _WORKFLOW.search(read_document(file)) is not None
    except ConfigError:
        return False
