"""`anew doctor`: look at everything a run needs, and say what to do about what is missing.

What a server's workers need is on their machines: `anew doctor` there tells of it.
"""

from __future__ import annotations

import asyncio
import platform
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from shlex import quote

from msgspec import Struct

from anew import __version__
from anew.engine.moments import NANOSECONDS
from anew.environment import environment
from anew.errors import AnewError
from anew.store import Database
from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.excerpts import visible
from anew.surfaces.cli.location import add_place_options, is_address, shown_place
from anew.surfaces.cli.paint import paint_for

# Older ones can corrupt a database in WAL mode.
SQLITE_MIN = (3, 51, 3)


class Diagnosis(Struct, frozen=True):
    """One thing looked at: `remedy` is set when it is not well."""

    what: str
    found: str
    remedy: str | None = None


def run(words: list[str]) -> int:
    parser = parser_for(
        "doctor",
        purpose="Check the installation, the database or the server, the key of the credential\n"
        "store, the page and the tools. Changes nothing.",
        example="anew doctor\nanew doctor --db sqlite:///work.db\n"
        "anew doctor --server http://127.0.0.1:8700",
    )
    add_place_options(parser)
    asked = parser.parse_args(words)
    paint, is_well = paint_for(sys.stdout), True
    for finding in _findings(asked.place):
        is_well = is_well and finding.remedy is None
        word = paint("green", "ok  ") if finding.remedy is None else paint("red", "bad ")
        print(f"{word} {finding.what:<12} {visible(finding.found)}")
        if finding.remedy is not None:
            print(f"     {'':<12} {visible(finding.remedy)}")
    return status.DONE if is_well else status.FAILED


def _findings(place: str | None) -> Iterator[Diagnosis]:
    yield Diagnosis("anew", f"{__version__} on Python {platform.python_version()}")
    yield _sqlite()
    yield _told(_word_for(place), lambda: _found_at(place))
    yield from _modes(place)
    yield _told("key", _key)
    yield _told("sandbox", _sandbox)
    yield _page()
    yield from _tools()


def _told(what: str, look: Callable[[], Diagnosis]) -> Diagnosis:
    """What a look finds; a refusal of ours says itself what to do."""
    try:
        return look()
    except AnewError as error:
        return Diagnosis(what, "cannot be used", str(error))


def _sqlite() -> Diagnosis:
    import apsw

    version = apsw.sqlite_lib_version()
    numbers = tuple(int(part) for part in version.split("."))
    if numbers >= SQLITE_MIN:
        return Diagnosis("sqlite", version)
    needed = ".".join(map(str, SQLITE_MIN))
    return Diagnosis("sqlite", version, f"Install apsw with SQLite {needed} or newer.")


def _word_for(place: str | None) -> str:
    return "server" if place is not None and is_address(place) else "database"


def _found_at(place: str | None) -> Diagnosis:
    from anew.runtime.databases import kind_of

    if kind_of(place).is_file:
        return _file(place)
    found = asyncio.run(_look(place))
    skew = f"its clock differs from ours by {found.skew_seconds:.3f} s"
    return Diagnosis(_word_for(place), f"{shown_place(place)}: {found.runs}, {skew}")


def _file(place: str | None) -> Diagnosis:
    from anew.runtime.databases import database_file
    from anew.runtime.ownership import is_owned

    path = database_file(place)
    if not path.exists():
        return Diagnosis("database", f"{path}: none yet; the first run creates it")
    runs = asyncio.run(_look(place)).runs
    owner = "in use by a running anew" if is_owned(path) else "not in use"
    return Diagnosis("database", f"{path}: {path.stat().st_size:,} bytes, {runs}, {owner}")


def _modes(place: str | None) -> Iterator[Diagnosis]:
    """Whether anybody else may use the files of a database; nothing where there are none."""
    from anew.files import others_may_use
    from anew.runtime.databases import database_files

    try:
        there = [file for file in database_files(place) if file.is_file()]
        open_ones = [str(file) for file in there if others_may_use(file.resolve())]
    except (AnewError, OSError):  # told above
        return
    if open_ones:
        remedy = f"Type `chmod 600 {' '.join(map(quote, open_ones))}`."
        yield Diagnosis("files", "other users may read or write some of them", remedy)
    elif there:
        yield Diagnosis("files", "for their user alone")


class _Look(Struct, frozen=True):
    """What a place tells of itself."""

    runs: str
    skew_seconds: float


async def _look(place: str | None) -> _Look:
    from anew.runtime.databases import open_database

    async with open_database(place, read_only=True) as database:
        skew = abs(database.clock.now() - time.time_ns()) / NANOSECONDS
        return _Look(await _count_runs(database), skew)


async def _count_runs(database: Database) -> str:
    from anew.runtime.families import OPEN_STATUSES
    from anew.store import RunFilter

    limit = 1_000
    found = await database.archive.runs(RunFilter(statuses=OPEN_STATUSES, limit=limit))
    if len(found) == limit:
        return f"{limit:,} or more unfinished runs"
    return f"{len(found)} unfinished run{'' if len(found) == 1 else 's'}"


def _key() -> Diagnosis:
    from anew.credentials.key import find_key

    found = find_key(environment(), Path.home())
    if found is None:
        return Diagnosis("key", "none yet; the first credential creates it")
    return Diagnosis("key", f"from {found.source}")


def _sandbox() -> Diagnosis:
    from anew.tools.sandbox import open_sandbox

    return Diagnosis("sandbox", str(open_sandbox()))


def _page() -> Diagnosis:
    from anew.surfaces.web.files import is_built

    if is_built():
        return Diagnosis("page", "there; `anew serve` shows it")
    # Every wheel has it; a checkout works without.
    return Diagnosis("page", "not built; `make web` in this checkout builds it")


def _tools() -> Iterator[Diagnosis]:
    from anew.program.kinds import KINDS, installed_kinds, missing_extra
    from anew.runtime.toolbox import Toolbox

    built_in = [kind.name for kind in KINDS.values() if kind.tool is not None]
    for kind in (*built_in, *sorted(installed_kinds())):
        extra = missing_extra(kind)
        if extra is not None:
            yield Diagnosis(f"tool {kind}", f"not installed; `{extra.command}` adds it")
            continue
        try:
            Toolbox().get(kind)
        except Exception as error:
            yield Diagnosis(f"tool {kind}", "cannot be loaded", f"{type(error).__name__}: {error}")
        else:
            yield Diagnosis(f"tool {kind}", f"there{_without(kind)}")


def _without(kind: str) -> str:
    """What of a tool is not installed, and the commands that add it."""
    from anew.program.kinds import optional_parts

    parts = [part for part in optional_parts(kind) if part[2].is_missing]
    return "".join(f"; without `{key}: {word}`: `{each.command}`" for key, word, each in parts)
