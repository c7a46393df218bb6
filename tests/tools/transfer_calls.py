"""Calls of the tool `transfer`, and sides of real files, for its tests."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from anew.engine.outcome import Outcome
from anew.tool import Call
from anew.tools.transfer import TransferTool
from tests.tools.sql_calls import call_of, outcomes


def transfer_call(folder: Path, source: Any, target: Any, *, key: str = "1", **more: Any) -> Call:
    call = call_of(folder, "transfer", source=source, target=target, **more)
    return replace(call, idempotency_key=key)


def transferred(folder: Path, source: Any, target: Any, *, key: str = "1", **more: Any) -> Outcome:
    """The outcome of one call of a fresh tool, as of a fresh process."""
    [outcome] = outcomes(TransferTool, transfer_call(folder, source, target, key=key, **more))
    return outcome


def sqlite_file(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as link, link:
        for statement in statements:
            link.execute(statement)
    return path


def rows_at(path: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as link:
        return link.execute(query).fetchall()


def numbers(path: Path, count: int) -> Path:
    """A database with a table `numbers` of so many rows, and an empty one, `copies`."""
    return sqlite_file(
        path,
        "CREATE TABLE numbers (id INTEGER, word TEXT)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT "
        f"{count}) INSERT INTO numbers SELECT i, 'n' || i FROM n",
        "CREATE TABLE copies (id INTEGER PRIMARY KEY, word TEXT)",
    )


def lines_of(path: Path) -> Iterator[str]:
    return iter(path.read_text(encoding="utf-8").splitlines())
