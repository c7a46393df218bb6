"""What lies beside a scenario: the document it plays, and the timeline it must give.

Knows names and whether there is such a file; what is in them is the business of others.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from anew.errors import ConfigError

SCENARIO_SUFFIXES = (".scenario.yaml", ".scenario.yml", ".scenario.json")
DOCUMENT_SUFFIXES = (".yaml", ".yml", ".dot", ".gv")
TIMELINE_SUFFIX = ".timeline.txt"
# Far above what anybody reads; it only keeps an endless file from filling the memory.
GOLDEN_BYTES_MAX = 64 * 1024 * 1024


def is_scenario(name: str) -> bool:
    """Whether a file of this name is a scenario."""
    return name.endswith(SCENARIO_SUFFIXES)


def stem_of(file: str) -> str:
    """The path of a scenario without its ending: NAME or NAME.VARIANT."""
    ending = next((suffix for suffix in SCENARIO_SUFFIXES if file.endswith(suffix)), "")
    return file.removesuffix(ending)


def documents_beside(file: str) -> Iterator[tuple[str, ...]]:
    """Where the document of a scenario may lie that names none, the best places first.

    NAME.VARIANT is a document of that name, else a variant of NAME; each with every known ending.
    """
    folder, name = os.path.split(stem_of(file))
    while name:
        beside = os.path.join(folder, name)
        yield tuple(beside + suffix for suffix in DOCUMENT_SUFFIXES)
        name = name.rpartition(".")[0]


def document_of(file: str, said: str | None) -> str:
    """The document a scenario plays, `said` being what it says of that.

    ConfigError, in words that follow the scenario's name, when there is none or more than one.
    """
    if said is not None:
        document = os.path.normpath(os.path.join(os.path.dirname(file), said))
        if not os.path.isfile(document):
            raise ConfigError(f"its document {document} does not exist")
        return document
    found = _existing_beside(file)
    if not found:
        name = os.path.basename(stem_of(file)).partition(".")[0]
        endings = " or ".join(f"{name}{suffix}" for suffix in DOCUMENT_SUFFIXES)
        raise ConfigError(f"there is no document next to it: {endings}; or say `document: PATH`")
    if len(found) > 1:
        names = " and ".join(found)
        raise ConfigError(f"its document may be {names}; say which with `document: PATH`")
    return found[0]


def _existing_beside(file: str) -> list[str]:
    """The documents beside a scenario that its name may mean: one, unless it says too little."""
    for places in documents_beside(file):
        found = [place for place in places if os.path.isfile(place)]
        if found:
            return found
    return []


def timeline_beside(file: str) -> str:
    """Where the timeline lies that a scenario must give."""
    return stem_of(file) + TIMELINE_SUFFIX


def golden_beside(file: str) -> str | None:
    """That timeline, where there is one; ConfigError when it cannot be read."""
    path = timeline_beside(file)
    if not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as stream:
            found = stream.read(GOLDEN_BYTES_MAX + 1)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from error
    if len(found) > GOLDEN_BYTES_MAX:
        raise ConfigError(f"{path} is larger than {GOLDEN_BYTES_MAX:,} bytes")
    return found.decode("utf-8", "replace")
