"""Say which database an address means, and open it: to read, or to own."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from anew.errors import ConfigError
from anew.runtime.ownership import Owned, Ownership
from anew.store import Database, StoreError

DEFAULT_FILE = ".anew/anew.db"


def database_file(url: str | None = None) -> Path:
    """The SQLite file an address means; the default is $ANEW_DB, else `.anew/anew.db`."""
    said = url or os.environ.get("ANEW_DB") or DEFAULT_FILE
    if said == ":memory:":
        raise ConfigError("a run must survive its process: name a file, not :memory:.")
    scheme, separator, rest = said.partition("://")
    if not separator:
        return Path(said)
    if scheme == "sqlite":
        # sqlite:///relative and sqlite:////absolute, as elsewhere in Python.
        return Path(rest.removeprefix("/"))
    if scheme in ("postgresql", "postgres"):
        raise ConfigError("PostgreSQL is not served yet. Give a SQLite file: `--db sqlite:///…`.")
    raise ConfigError(f"{scheme}:// is no database Anew knows. Write `sqlite:///path/to/file.db`.")


@asynccontextmanager
async def open_database(
    url: str | None = None, *, read_only: bool = False
) -> AsyncIterator[Database]:
    """A database to read, or to own. One process owns a file: `Owned` names the other."""
    from anew.stores.sqlite import SqliteDatabase  # noqa: PLC0415

    path = database_file(url)
    if read_only:
        reader = await _reader(path)
        try:
            yield reader
        finally:
            await reader.close()
        return
    _check_place(path)
    with Ownership(path):
        database = SqliteDatabase.open(path, synchronous=_synchronous())
        try:
            yield database
        finally:
            await database.close()


async def _reader(path: Path) -> Database:
    """The file to read; one that an earlier version made is brought up to date first."""
    from anew.stores.sqlite import SqliteDatabase  # noqa: PLC0415
    from anew.stores.sqlite.migrations import OlderSchema  # noqa: PLC0415

    try:
        return SqliteDatabase.open_read_only(path)
    except OlderSchema as older:
        try:
            async with open_database(str(path)):
                pass
        except Owned:
            raise older from None  # an earlier version works on it
    return SqliteDatabase.open_read_only(path)


def _check_place(path: Path) -> None:
    """Make the folder of a file that is to be owned; nothing is left beside a mistake."""
    if path.is_dir():
        raise StoreError(f"database {path} is a folder. Name a file.")
    try:
        # What runs hold is for the eyes of their owner.
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StoreError(
            f"the folder {path.parent} cannot be made ({reason}). "
            "Choose another place with `--db` or ANEW_DB."
        ) from error


def _synchronous() -> Literal["FULL", "NORMAL"]:
    match os.environ.get("ANEW_SYNCHRONOUS", "FULL").upper():
        case "FULL":
            return "FULL"
        case "NORMAL":
            return "NORMAL"
        case said:
            raise ConfigError(f"ANEW_SYNCHRONOUS is {said}; it can be FULL (the default) or NORMAL")
