"""Find a registered program by the word somebody used for it: its name, else its path.

Clients and playbooks of NoETL know documents by `metadata.path`. A name wins; one path of two
programs names neither of them. Knows the catalog. Does not compile documents.
"""

from __future__ import annotations

from collections.abc import Sequence

from anew.errors import ConfigError
from anew.store import Catalog, StoredProgram


class PathOfSeveral(ConfigError):
    """One path leads to several programs."""

    def __init__(self, path: str, names: Sequence[str]) -> None:
        known = " and ".join(repr(name) for name in names)
        super().__init__(
            f"the path {path!r} is that of several programs: {known}. Use the name of one of them, "
            "or give one another `metadata.path` and register it again."
        )


class PathTaken(ConfigError):
    """A document would have the path of another program."""

    def __init__(self, path: str, name: str, other: StoredProgram) -> None:
        super().__init__(
            f"program {name!r} was not registered: its path {path!r} is that of program "
            f"{other.name!r} (version {other.version}). Give one of them another `metadata.path`, "
            f"or name the document {other.name!r}, so that it becomes its next version."
        )


async def find_program(
    catalog: Catalog, word: str, version: int | None = None
) -> StoredProgram | None:
    """The program of this name, else the one whose newest version has this path.

    Its newest version, unless one is asked for; PathOfSeveral when two programs have the path.
    """
    found = await catalog.find(word, version)
    if found is not None:
        return found
    programs = await catalog.at_path(word)
    if len(programs) > 1:
        raise PathOfSeveral(word, [program.name for program in programs])
    if not programs or version is None:
        return programs[0] if programs else None
    return await catalog.find(programs[0].name, version)


async def check_path(catalog: Catalog, path: str | None, name: str) -> None:
    """PathTaken when a document of this name would have the path of another program."""
    others = [] if path is None else await catalog.at_path(path)
    for other in others:
        if other.name != name:
            raise PathTaken(path or "", name, other)
