"""The numbered scripts that make a schema, and whether a database fits them.

What was applied is recorded with its checksum: a script that changed afterwards, or one that this
version does not know, means that the database and the program do not fit, and nothing is touched.
Knows scripts and their records. Does not know how they are executed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct

from anew.store import StoreError

SCRIPTS = Path(__file__).parent
APPLIED = "SELECT number, name, checksum FROM anew.migrations ORDER BY number"
_REPLACES = re.compile(r"^-- replaces ([0-9a-f]{64})$", re.MULTILINE)


class OlderSchema(StoreError):
    """A database that whoever may write would bring up to date, and a reader cannot read."""


class Migration(Struct, frozen=True):
    """One step. Once released it never changes: the next change is the next number."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return sha256(self.sql.encode()).hexdigest()

    @property
    def replaces(self) -> list[str]:
        """The checksums of scripts that were never released, which this one does the work of."""
        return _REPLACES.findall(self.sql)


def migrations(folder: Path) -> list[Migration]:
    """All steps, in order; their names begin with their number. One may be a folder of scripts."""
    steps = sorted(path for path in folder.iterdir() if path.name[0].isdigit())
    return [Migration(int(path.stem.partition("_")[0]), path.stem, _text(path)) for path in steps]


def _text(path: Path) -> str:
    scripts = [path] if path.is_file() else sorted(path.glob("*.sql"))
    return "\n".join(script.read_text(encoding="utf-8") for script in scripts)


def steps_applied(place: str, rows: Sequence[Sequence[Any]], known: Sequence[Migration]) -> int:
    """How many of the known steps a database has; StoreError when it has others.

    `rows` are what it has recorded, `place` is how it is called.
    """
    unreleased = unreleased_step(rows, known)
    if unreleased is not None:
        return unreleased + 1
    for migration, (number, name, checksum) in zip(known, rows, strict=False):
        if (number, checksum) != (migration.number, migration.checksum):
            raise StoreError(
                f"{place}: schema {number} ({name}) was made by another version of Anew "
                f"than this one, whose schema {migration.number} ({migration.name}) differs. "
                "Use the version that made it, or name another database."
            )
    if len(rows) > len(known):
        raise StoreError(
            f"{place} has schema {rows[-1][0]}, and this version of Anew knows schemas "
            f"up to {known[-1].number if known else 0}. Upgrade Anew, or name another database."
        )
    return len(rows)


def unreleased_step(rows: Sequence[Sequence[Any]], known: Sequence[Migration]) -> int | None:
    """The step whose schema it has in more steps: all scripts that this one replaces."""
    applied = [checksum for _, _, checksum in rows]
    for number, step in enumerate(known):
        before = [one.checksum for one in known[:number]]
        if step.replaces and applied == [*before, *step.replaces]:
            return number
    return None
