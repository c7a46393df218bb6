"""The `sqlite` tool: SQL on a file of the run, another file, or memory.

Every call opens a connection of its own; SQLite's locks order calls on one file, within this
process and beside others. Uses apsw, which brings its own SQLite and can be interrupted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from time import monotonic

import apsw
import apsw.ext

from anew.files import make_private_file
from anew.tools.sql import effects
from anew.tools.sql.embedded import EmbeddedDatabaseTool, SqlJob
from anew.tools.sql.failure import SqlFailure, at_statement, wrong_input
from anew.tools.sql.request import SqlRequest, Supply
from anew.tools.sql.rows import SQL_BATCH_ROWS, SqlRows, StatementResults
from anew.tools.sql.threads import Interruption
from anew.values import Object, Value, json_text

# How long a call waits for another one's lock, unless its own timeout is shorter.
LOCK_SECONDS_MAX = 30.0
_LOCK_RETRY_SECONDS = 0.01
_BEGINS = re.compile(r"\s*(?:BEGIN|SAVEPOINT)\b", re.IGNORECASE)

# By primary result code. What is not here is `db_error`.
_KINDS = {
    apsw.SQLITE_BUSY: "db_timeout",
    apsw.SQLITE_LOCKED: "db_timeout",
    apsw.SQLITE_INTERRUPT: "db_timeout",
    apsw.SQLITE_CONSTRAINT: "db_constraint",
}
# Another transaction wrote what this one had read: waiting is no use, starting again is.
_STALE = apsw.SQLITE_BUSY_SNAPSHOT


class SqliteTool(EmbeddedDatabaseTool):
    """Runs statements in SQLite; see docs/reference/tools/sqlite.md."""

    def __init__(self) -> None:
        super().__init__("sqlite", _run)


def _run(job: SqlJob, interruption: Interruption) -> Object:
    interruption.raise_if_stopped()
    with connected(job, interruption) as link, interruption.reaching(link.interrupt):
        return _Session(link, job.request, interruption).run()


@contextmanager
def connected(job: SqlJob, interruption: Interruption) -> Iterator[apsw.Connection]:
    """A connection to the database of a job, which waits for the locks of others."""
    with naming():
        if job.is_of_run:
            make_private_file(Path(job.database))
        connection = apsw.Connection(job.database)
    deadline = monotonic() + min(job.timeout_seconds or LOCK_SECONDS_MAX, LOCK_SECONDS_MAX)

    def wait_for_lock(_attempts: int) -> bool:
        return monotonic() < deadline and not interruption.wait(_LOCK_RETRY_SECONDS)

    try:
        connection.set_busy_handler(wait_for_lock)
        yield connection
    finally:
        # Forced: statements may be half read. An open transaction is rolled back.
        connection.close(True)


class _Session:
    """The statements of one call on one connection."""

    def __init__(
        self, connection: apsw.Connection, request: SqlRequest, interruption: Interruption
    ) -> None:
        self._connection = connection
        self._request = request
        self._interruption = interruption
        self._supply = Supply(request.params)
        self._count = 0
        self._results = StatementResults()

    def run(self) -> Object:
        once = self._request.once
        made = self._begin_once(once) if once is not None else None
        if made is not None:
            return made
        last = len(self._request.texts) - 1
        for place, text in enumerate(self._request.texts):
            self._run_text(text, is_last=place == last)
        if not self._count:
            raise wrong_input("command holds no statement")
        self._supply.finish()
        result = self._results.result()
        if once is not None:
            self._execute(effects.RECORD, effects.written(result), once)
        self._end()
        return result

    def _begin_once(self, key: str) -> Object | None:
        """Begin the call's transaction; its result instead where its changes were made before."""
        self._execute("BEGIN IMMEDIATE")
        self._execute(effects.CREATE)
        if self._execute(effects.CLAIM, key):
            return None
        ((result,),) = self._execute(effects.READ, key)
        return effects.read(str(result))

    def _execute(self, sql: str, *values: str) -> list[tuple[apsw.SQLiteValue, ...]]:
        with naming():
            return list(self._connection.execute(sql, values))

    def _run_text(self, text: str, *, is_last: bool) -> None:
        """One statement after the other: a later one may need what an earlier one created."""
        rest: str | None = text
        while rest:
            self._interruption.raise_if_stopped()
            with naming(self._count + 1):
                found = apsw.ext.query_info(self._connection, rest)
                if found.has_vdbe:
                    self._begin(found)
                    is_end = is_last and found.query_remaining is None
                    self._run_statement(found, is_last=is_end)
            rest = found.query_remaining

    def _begin(self, found: apsw.ext.QueryDetails) -> None:
        """Take the write lock first: two calls that read and then write would block each other."""
        if self._request.once is not None:
            effects.refuse_control(found.first_query)
            return
        is_alone = len(self._request.texts) == 1 and found.query_remaining is None
        is_begun = self._count > 0 or _BEGINS.match(found.first_query) is not None
        if not is_begun and self._request.needs_begin(is_alone=is_alone):
            is_readonly = self._connection.readonly("main")
            self._connection.execute("BEGIN" if is_readonly else "BEGIN IMMEDIATE")

    def _run_statement(self, found: apsw.ext.QueryDetails, *, is_last: bool) -> None:
        self._count += 1
        bindings = bindings_of(found, self._supply)
        if is_last:
            self._supply.finish()
        changes = self._connection.total_changes()
        cursor = self._connection.cursor()
        cursor.execute(found.first_query, bindings)
        if found.description:
            self._results.add(self._read(cursor, [column[0] for column in found.description]))
            return
        has_changed = self._connection.total_changes() != changes
        affected = self._connection.changes() if has_changed else 0
        self._results.add(SqlRows(affected=affected))

    def _read(self, cursor: apsw.Cursor, names: list[str]) -> SqlRows:
        rows = SqlRows(names)
        while batch := list(islice(cursor, SQL_BATCH_ROWS)):
            self._interruption.raise_if_stopped()
            rows.add(batch)
        return rows

    def _end(self) -> None:
        if not self._connection.in_transaction:
            return
        if not self._request.is_transaction:
            raise wrong_input("the statements leave a transaction open, so it was rolled back")
        with naming(self._count):
            self._connection.execute("COMMIT")


def bindings_of(
    found: apsw.ext.QueryDetails, supply: Supply
) -> dict[str, Value] | list[Value] | None:
    """The values of a statement, by name or in order."""
    if not found.bindings_count:
        return None
    names = [name for name in found.bindings_names if name and not name.isdigit()]
    if not names:
        return [_bindable(value) for value in supply.next(found.bindings_count)]
    if len(names) < found.bindings_count:
        raise wrong_input("the statement mixes named placeholders with ?: use one of them")
    return {name: _bindable(value) for name, value in supply.named(names).items()}


def _bindable(value: Value) -> Value:
    """Objects and lists as JSON text, which is what SQLite's JSON functions read."""
    if isinstance(value, (dict, list)):
        return json_text(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise wrong_input(f"params has {value}, a whole number SQLite cannot hold")
    return value


@contextmanager
def naming(number: int = 1) -> Iterator[None]:
    """What SQLite raises inside becomes a failure with a kind."""
    try:
        yield
    except apsw.Error as error:
        raise _failure_of(error, number) from None
    except UnicodeDecodeError:
        message = "a column holds text that is not UTF-8: select hex(column) or a cast to blob"
        raise SqlFailure("db_error", message) from None


def _failure_of(error: apsw.Error, number: int) -> SqlFailure:
    extended = getattr(error, "extendedresult", apsw.SQLITE_ERROR)
    primary = getattr(error, "result", apsw.SQLITE_ERROR)
    kind = "db_deadlock" if extended == _STALE else _KINDS.get(primary, "db_error")
    code = apsw.mapping_extended_result_codes.get(extended)
    code = code or apsw.mapping_result_codes.get(primary)
    return SqlFailure(kind, at_statement(str(error), number), code=str(code) if code else None)
