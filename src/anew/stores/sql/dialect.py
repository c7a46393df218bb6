"""What differs between two databases in the SQL they share, and what work on either looks like.

Work is a generator that yields statements and is sent their rows. It is written once; SQLite
executes it in a thread, PostgreSQL on a connection that is awaited. Tables are written `anew.name`
and bound values `?`; `translate` makes of that what a database takes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from msgspec import Struct

T = TypeVar("T")
Row: TypeAlias = tuple[Any, ...]
Statement: TypeAlias = tuple[str, Sequence[object]]
Steps: TypeAlias = Generator[Statement, list[Row], T]

# How the key of a job outside loops is written, so that it can be part of a primary key.
NO_ITERATION = -1


class SqlDialect(Struct, frozen=True):
    """Pieces of SQL, and how texts are kept that a column cannot hold as they are.

    `free` is a job that nobody has leased, and `of_any` stands before the key of one that may be.
    `contains` and `labels_contain` take a pattern. `since` takes a moment, and `lock_name` a text
    that others wait with who name the same.
    """

    translate: Callable[[str], str]
    to_text: Callable[[str], str]
    from_text: Callable[[str], str]
    free: str
    of_any: str
    contains: str
    labels_contain: str
    since: str
    index: str
    lock_versions: str
    lock_name: str
    skip_locked: str


class SqlSession(Protocol):
    """Has work done. It gets the dialect before its own arguments."""

    async def read(self, work: Callable[..., Steps[T]], *values: object) -> T: ...

    async def write(self, work: Callable[..., Steps[T]], *values: object) -> T:
        """Done again if the connection is lost, so it must be safe to repeat."""

    async def transact(self, work: Callable[..., Steps[T]], *values: object) -> T:
        """As `write`, all of it or nothing."""


def maybe(convert: Callable[[str], str], text: str | None) -> str | None:
    return convert(text) if text is not None else None
