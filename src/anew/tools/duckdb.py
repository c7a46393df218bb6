"""The `duckdb` tool: SQL on a file of the run, another file, or memory.

Every call opens a connection of its own. DuckDB keeps one database per file and process, so calls
at the same time share it, and the file is free for other processes when the last one has ended.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import duckdb

from anew.files import PRIVATE_FILE
from anew.tools.sql.embedded import EmbeddedDatabaseTool, SqlJob
from anew.tools.sql.failure import SqlFailure, at_statement, wrong_input
from anew.tools.sql.request import SqlRequest, Supply
from anew.tools.sql.rows import SQL_BATCH_ROWS, SqlRows, StatementResults
from anew.tools.sql.threads import Interruption
from anew.values import Object, Value

# Names in a statement are tables and files, never variables of this program.
_CONFIG: dict[str, str | bool | int | float | list[str]] = {"python_enable_replacements": "false"}

# Narrower classes first. What is not here is `db_error`.
_KINDS: tuple[tuple[type[duckdb.Error], str], ...] = (
    (duckdb.ConstraintException, "db_constraint"),
    (duckdb.TransactionException, "db_deadlock"),
    (duckdb.HTTPException, "connection"),
    (duckdb.ConnectionException, "db_connection"),
    (duckdb.InterruptException, "db_timeout"),
)
# Another process has the file open: the only failure of input and output that waiting cures.
_LOCKED = "Could not set lock"

_NONE_OPEN = "no transaction is active"
_COUNTED = duckdb.ExpectedResultType.CHANGED_ROWS
_NOTHING = [duckdb.ExpectedResultType.NOTHING]


_Values: TypeAlias = Object | list[Value] | None
_Prepared: TypeAlias = tuple[duckdb.Statement, _Values]


class DuckdbTool(EmbeddedDatabaseTool):
    """Runs statements in DuckDB; see docs/reference/tools/duckdb.md."""

    def __init__(self) -> None:
        super().__init__("duckdb", _run)


def _run(job: SqlJob, interruption: Interruption) -> Object:
    interruption.raise_if_stopped()
    with connected(job) as connection, interruption.reaching(connection.interrupt):
        prepared = _prepared(connection, job.request)
        has_own = any(s.type is duckdb.StatementType.TRANSACTION for s, _ in prepared)
        is_wrapped = not has_own and job.request.needs_begin(is_alone=len(prepared) == 1)
        if is_wrapped:
            connection.begin()
        # A connection that is closed inside a transaction rolls it back.
        results = _run_all(connection, prepared, interruption)
        if is_wrapped or has_own:
            with naming(len(prepared), len(prepared)):
                _end(connection, job.request)
        return results.result()


@contextmanager
def connected(job: SqlJob) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to the database of a job."""
    with naming():
        connection = duckdb.connect(job.database, config=_CONFIG)
        if job.is_of_run:
            os.chmod(job.database, PRIVATE_FILE)
    try:
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET file_search_path = $1", [str(job.folder)])
        yield connection
    finally:
        connection.close()


def _prepared(connection: duckdb.DuckDBPyConnection, request: SqlRequest) -> list[_Prepared]:
    """Every statement with its values, before the first of them runs."""
    with naming():
        statements = [s for text in request.texts for s in connection.extract_statements(text)]
    if not statements:
        raise wrong_input("command holds no statement")
    supply = Supply(request.params)
    prepared = [(statement, values_of(statement, supply)) for statement in statements]
    supply.finish()
    return prepared


def _run_all(
    connection: duckdb.DuckDBPyConnection,
    prepared: Sequence[_Prepared],
    interruption: Interruption,
) -> StatementResults:
    results = StatementResults()
    for number, (statement, values) in enumerate(prepared, 1):
        interruption.raise_if_stopped()
        with naming(number, len(prepared)):
            connection.execute(statement, values)
            results.add(_rows_of(connection, statement, interruption))
    return results


def _end(connection: duckdb.DuckDBPyConnection, request: SqlRequest) -> None:
    """DuckDB does not say whether a transaction is open: ending it does."""
    try:
        connection.commit() if request.is_transaction else connection.rollback()
    except duckdb.TransactionException as error:
        if _NONE_OPEN in str(error):
            return
        raise
    if not request.is_transaction:
        raise wrong_input("the statements leave a transaction open, so it was rolled back")


def values_of(statement: duckdb.Statement, supply: Supply) -> _Values:
    """A `?` is a parameter named by its number, as `$1` is."""
    names = sorted(statement.named_parameters)
    if not names:
        return None
    if all(name.isdigit() for name in names):
        return supply.next(max(map(int, names)))
    return supply.named(names)


def _rows_of(
    connection: duckdb.DuckDBPyConnection,
    statement: duckdb.Statement,
    interruption: Interruption,
) -> SqlRows:
    description = connection.description or []
    names = [str(column[0]) for column in description]
    types = [str(column[1]) for column in description]
    if statement.expected_result_type == _NOTHING:
        return SqlRows()
    # DuckDB gives the number of changed rows as a row of its own.
    if _COUNTED in statement.expected_result_type and (names, types) == (["Count"], ["BIGINT"]):
        return SqlRows(affected=max(connection.rowcount, 0))
    rows = SqlRows(names)
    json_places = [place for place, name in enumerate(types) if name == "JSON"]
    while batch := connection.fetchmany(SQL_BATCH_ROWS):
        interruption.raise_if_stopped()
        rows.add(with_json(row, json_places) for row in batch)
    return rows


def with_json(row: Sequence[object], places: Sequence[int]) -> Sequence[object]:
    """The row with the JSON columns, which DuckDB gives as text, read."""
    if not places:
        return row
    values = list(row)
    for place in places:
        text = values[place]
        values[place] = json.loads(text) if isinstance(text, str) else text
    return values


@contextmanager
def naming(number: int = 1, total: int = 1) -> Iterator[None]:
    """What DuckDB raises inside becomes a failure with a kind."""
    try:
        yield
    except duckdb.Error as error:
        raise _failure_of(error, number, total) from None


def _failure_of(error: duckdb.Error, number: int, total: int) -> SqlFailure:
    name = type(error).__name__
    message = at_statement(str(error).strip(), number, total)
    helpers: Object = {"duckdb": {"exception_type": name, "code": name}}
    return SqlFailure(_kind_of(error), message, code=name, helpers=helpers)


def _kind_of(error: duckdb.Error) -> str:
    if isinstance(error, duckdb.IOException) and _LOCKED in str(error):
        return "db_connection"
    return next((kind for known, kind in _KINDS if isinstance(error, known)), "db_error")
