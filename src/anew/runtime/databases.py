"""Say which place an address means, and open it: a file to read or to own, or what many share.

What is true of each kind of database is a row of `DATABASES`; callers ask whether it is a file, or
is shared, and not for its name.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from anew.environment import DB_VARIABLE, TOKEN_VARIABLE, environment
from anew.errors import ConfigError
from anew.files import NotOurs, make_private_folder, os_reason
from anew.posix import user_id
from anew.program.extras import POSTGRES
from anew.runtime.ownership import Owned, Ownership
from anew.store import Database, StoreError

if TYPE_CHECKING:
    from anew.stores.remote import RemoteDatabase

DEFAULT_FILE = ".anew/anew.db"
# A server keeps the token that it made for itself beside its database file.
TOKEN_FILE_END = ".token"
# What lies beside a database file and is as private: parts of it, and its lock.
_BESIDE = ("-wal", "-shm", "-journal", ".lock")
# As in `host=db dbname=anew`, which psql takes for an address.
_KEYWORDS = re.compile(r"(^|\s)(host|hostaddr|dbname|user|password|port|service)\s*=")
# `postgres:/host/name`, `sqlite:file`, `localhost:5432/name`: an address with a slip, not a path.
# One letter is a drive.
_NO_PATH = re.compile(r"[A-Za-z][\w.+-]+:|(postgres(ql)?|sqlite|https?)//")


class DatabaseOpener(Protocol):
    """Open the database at an address."""

    async def __call__(self, place: str, *, read_only: bool) -> Database: ...


class DatabaseKind(Struct, frozen=True):
    """What can lie at an address, which starts with one of the `schemes`.

    `is_file`: a file that one process owns. `is_shared`: workers of this machine and others work on
    it side by side. `is_server`: another process does what is wanted. `example` is for people.
    """

    schemes: tuple[str, ...]
    example: str
    open: DatabaseOpener
    is_file: bool = False
    is_shared: bool = False
    is_server: bool = False


def place_of(url: str | None = None) -> str:
    """The address, or the default: $ANEW_DB, else `.anew/anew.db`."""
    return url or environment().get(DB_VARIABLE) or DEFAULT_FILE


def kind_of(url: str | None = None) -> DatabaseKind:
    """What lies at an address; ConfigError when nothing Anew knows does."""
    said = place_of(url)
    scheme, separator, _ = said.partition("://")
    if not separator:
        if _KEYWORDS.search(said):  # not shown: a password may be among them
            raise ConfigError("write the database as `postgresql://user@host/name`, not as words.")
        if _NO_PATH.match(said):
            start = said.partition(":")[0].partition("//")[0]  # the rest may hold a password
            raise ConfigError(
                f"the database {start}… is neither an address nor a path: write {_examples()}; or "
                "put `./` before the path of a file that has such a name."
            )
        return _FILE
    for kind in DATABASES:
        if scheme in kind.schemes:
            return kind
    raise ConfigError(f"{scheme}:// is not a database that Anew knows. Write {_examples()}.")


def _examples() -> str:
    *examples, last = (kind.example for kind in DATABASES)
    return f"{', '.join(examples)}, or {last}"


def database_file(url: str | None = None) -> Path:
    """The SQLite file an address means; ConfigError when it means something else."""
    said = place_of(url)
    if said == ":memory:":
        raise ConfigError("a run must survive its process: name a file, not :memory:.")
    if not kind_of(said).is_file:
        raise ConfigError("this needs a database file: give `--db sqlite:///path/to/file.db`.")
    _, separator, rest = said.partition("://")
    # sqlite:///relative and sqlite:////absolute, as elsewhere in Python.
    return Path(rest.removeprefix("/")) if separator else Path(said)


def identity_of(url: str | None = None) -> str:
    """What tells one database from another: the whole path of a file, else the address."""
    return str(database_file(url).resolve()) if kind_of(url).is_file else place_of(url)


def scratch_folder(url: str | None = None) -> Path:
    """Where runs keep files on this machine: beside a database file, else a private folder."""
    if kind_of(url).is_file:
        beside = Path(f"{database_file(url).resolve()}.scratch")
        if beside.is_symlink():
            raise ConfigError(f"{beside} is a link; files of runs are not kept there. Remove it.")
        return beside
    import tempfile  # noqa: PLC0415 - slow to import, and a file needs none of it

    said = os.environ.get("ANEW_SCRATCH")
    folder = Path(said or Path(tempfile.gettempdir()) / f"anew-scratch-{user_id()}")
    try:
        if said is None:
            make_private_folder(folder)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        owner = folder.stat().st_uid
    except NotOurs as error:
        raise ConfigError(f"{error}. Remove it, or name another folder in ANEW_SCRATCH.") from error
    except OSError as error:
        raise ConfigError(
            f"the folder {folder} for files of runs cannot be used "
            f"({os_reason(error)}). Name another in ANEW_SCRATCH."
        ) from error
    if owner != user_id():
        raise ConfigError(f"{folder} belongs to someone else. Name another folder in ANEW_SCRATCH.")
    return folder


def private_files(url: str | None = None) -> list[Path]:
    """What lies on this machine of a database and its runs, and is no task's to see."""
    scratch = scratch_folder(url)
    if not kind_of(url).is_file:
        return [scratch]
    path = database_file(url).resolve()
    if path.parent.name == Path(DEFAULT_FILE).parent.name:
        return [path.parent]
    return [*database_files(url), Path(f"{path}.sock"), scratch]


def database_files(url: str | None = None) -> list[Path]:
    """A database file, and the plain files that may lie beside it."""
    path = database_file(url)
    beside = [Path(f"{path.resolve()}{end}") for end in _BESIDE]
    return [path.resolve(), *beside, Path(f"{path.absolute()}{TOKEN_FILE_END}")]


@asynccontextmanager
async def open_database(
    url: str | None = None, *, read_only: bool = False
) -> AsyncIterator[Database]:
    """A database to read, to own, or to share.

    One process owns a file: `Owned` names the other. The token for a server is $ANEW_TOKEN.
    """
    async with open_owned(url, read_only=read_only) as (database, _):
        yield database


@asynccontextmanager
async def open_owned(
    url: str | None = None, *, read_only: bool = False
) -> AsyncIterator[tuple[Database, Ownership | None]]:
    """The same, and the ownership of a file that is owned."""
    kind = kind_of(url)
    if not kind.is_file or read_only:
        database = await kind.open(place_of(url), read_only=read_only)
        try:
            yield database, None
        finally:
            await database.close()
        return
    async with _owned(database_file(url)) as owned:
        yield owned


async def open_server(url: str) -> RemoteDatabase:
    """The database of a server, which takes orders besides. The token for it is $ANEW_TOKEN."""
    from anew.stores.remote import RemoteDatabase  # noqa: PLC0415

    return await RemoteDatabase.open(url, token=environment().get(TOKEN_VARIABLE) or None)


async def _open_file(place: str, *, read_only: bool) -> Database:  # noqa: ARG001 - to own it: `_owned`
    return await _reader(database_file(place))


async def _open_postgres(place: str, *, read_only: bool) -> Database:
    if POSTGRES.is_missing:
        problem = POSTGRES.problem("a PostgreSQL database needs")
        raise ConfigError(f"{problem}. Install it: {POSTGRES.command}")
    from anew.stores.postgres import PostgresDatabase  # noqa: PLC0415

    return await PostgresDatabase.open(place, read_only=read_only)


async def _open_remote(place: str, *, read_only: bool) -> Database:  # noqa: ARG001 - its server's to say
    return await open_server(place)


@asynccontextmanager
async def _owned(path: Path) -> AsyncIterator[tuple[Database, Ownership]]:
    from anew.stores.sqlite import SqliteDatabase  # noqa: PLC0415

    _check_place(path)
    with Ownership(path) as ownership:
        database = SqliteDatabase.open(path, synchronous=_synchronous(), owns=ownership)
        try:
            yield database, ownership
        finally:
            await database.close()


async def _reader(path: Path) -> Database:
    """The file to read; one that an earlier version made is brought up to date first."""
    from anew.stores.sql.migrations import OlderSchema  # noqa: PLC0415
    from anew.stores.sqlite import SqliteDatabase  # noqa: PLC0415

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
        reason = os_reason(error)
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


# What an address without a scheme means, too.
_FILE = DatabaseKind(("sqlite",), "`sqlite:///path/to/file.db`", _open_file, is_file=True)
DATABASES = (
    _FILE,
    DatabaseKind(
        ("postgresql", "postgres"),
        "`postgresql://user@host/name`",
        _open_postgres,
        is_shared=True,
    ),
    DatabaseKind(
        ("http", "https"), "`http://host:port` for a server", _open_remote, is_server=True
    ),
)
