"""Which kind of error a SQLSTATE, or a connection that could not be made, is.

The message is the server's first line and its hint. The detail is left out: it quotes rows.
"""

from __future__ import annotations

import psycopg

from anew.tools.sql.failure import SqlFailure, at_statement, wrong_input
from anew.values import Object

# By the beginning of the SQLSTATE, first match wins. What is not here is `db_error`.
KINDS_BY_SQLSTATE = (
    ("40001", "db_deadlock"),
    ("40P01", "db_deadlock"),
    ("57014", "db_timeout"),
    ("08", "db_connection"),
    ("57P01", "db_connection"),
    ("57P02", "db_connection"),
    ("57P03", "db_connection"),
    ("53300", "db_connection"),
    ("23", "db_constraint"),
    ("28", "auth"),
)
# libpq keeps no SQLSTATE of a refused connection, only the server's words.
_SQLSTATES_BY_WORDS = (
    ("password authentication failed", "28P01"),
    ("no password supplied", "28P01"),
    ("authentication failed", "28000"),
    ("pg_hba.conf", "28000"),
    ('role "', "28000"),
    ("too many clients", "53300"),
    ("remaining connection slots", "53300"),
    ("database system is", "57P03"),
    ("permission denied", "42501"),
    ('database "', "3D000"),
)


_NO_COPY = "COPY cannot send rows to this tool or take them from it: use INSERT or a query instead"


def kind_of(sqlstate: str) -> str:
    return next(
        (kind for start, kind in KINDS_BY_SQLSTATE if sqlstate.startswith(start)), "db_error"
    )


def connecting_failure(error: psycopg.Error) -> SqlFailure:
    """Why no connection came about."""
    message = str(error).strip()
    _, is_refusal, words = message.partition("FATAL:")
    sqlstate = next((s for known, s in _SQLSTATES_BY_WORDS if known in words), None)
    if not is_refusal or sqlstate is None:
        return SqlFailure("db_connection", message)
    return _failure(sqlstate, words.strip())


def running_failure(error: psycopg.Error, number: int, total: int) -> SqlFailure:
    """Why a statement failed, or the connection under it."""
    message = at_statement(_message_of(error), number, total)
    if error.sqlstate is not None:
        return _failure(error.sqlstate, message)
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        return SqlFailure("db_connection", message)
    return wrong_input(message)  # refused by psycopg: a value or a command it cannot send


def _failure(sqlstate: str, message: str) -> SqlFailure:
    helpers: Object = {"pg": {"code": sqlstate, "sqlstate": sqlstate}}
    return SqlFailure(kind_of(sqlstate), message, code=sqlstate, helpers=helpers)


def _message_of(error: psycopg.Error) -> str:
    primary = error.diag.message_primary
    if primary is None:
        message = str(error).strip()
        return _NO_COPY if message.startswith("COPY cannot be used") else message
    hint = error.diag.message_hint
    return primary if hint is None else f"{primary}. Hint: {hint}"
