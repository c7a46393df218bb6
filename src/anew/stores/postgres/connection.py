"""Opens connections as this project wants them, and says in words what went wrong with one.

Knows PostgreSQL's settings and errors. Does not know what the tables hold.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum, auto
from socket import SHUT_RDWR, socket
from typing import Any, TypeAlias

import psycopg
from msgspec import Struct
from psycopg.conninfo import conninfo_to_dict

from anew.engine.secret_texts import MASK
from anew.environment import PASSWORD_VARIABLE, withdrawn
from anew.errors import ConfigError
from anew.store import StoreError
from anew.stores.postgres.values import teach

Connection: TypeAlias = psycopg.AsyncConnection[tuple[Any, ...]]

APPLICATION_NAME = "anew"
# The oldest that PostgreSQL's makers still fix.
SERVER_VERSION_MIN = 14
CONNECT_SECONDS_MAX = 5
# The longest statement of ours takes milliseconds. This is for a server in trouble.
STATEMENT_SECONDS_MAX = 15
LOCK_SECONDS_MAX = 10
IDLE_IN_TRANSACTION_SECONDS_MAX = 30
# A dead peer is noticed after about 10 + 3 × 5 seconds of silence, and after 10 if it owes us an
# acknowledgement.
KEEPALIVE_IDLE_SECONDS = 10
KEEPALIVE_INTERVAL_SECONDS = 5
KEEPALIVE_PROBES = 3
UNACKNOWLEDGED_MILLISECONDS_MAX = 10_000
# A statement is prepared when it comes for the sixth time.
PREPARE_AFTER = 5
DETAIL_CHARS_MAX = 300
# Also where the server's own default would lose, with its power, what it said was committed.
DURABLE = "synchronous_commit=on"
# Keeps `durable_v1` of sql/postgres from seeing to that: the session has been told.
DURABLE_AS_SET = "anew.synchronous_commit=session"

_NETWORK = {
    "application_name": APPLICATION_NAME,
    "connect_timeout": CONNECT_SECONDS_MAX,
    "keepalives_idle": KEEPALIVE_IDLE_SECONDS,
    "keepalives_interval": KEEPALIVE_INTERVAL_SECONDS,
    "keepalives_count": KEEPALIVE_PROBES,
    "tcp_user_timeout": UNACKNOWLEDGED_MILLISECONDS_MAX,
}
# The server is to notice as soon that we are gone, and let go of what was locked for us.
_SESSION = {
    "statement_timeout": f"{STATEMENT_SECONDS_MAX}s",
    "lock_timeout": f"{LOCK_SECONDS_MAX}s",
    "idle_in_transaction_session_timeout": f"{IDLE_IN_TRANSACTION_SECONDS_MAX}s",
    "tcp_keepalives_idle": KEEPALIVE_IDLE_SECONDS,
    "tcp_keepalives_interval": KEEPALIVE_INTERVAL_SECONDS,
    "tcp_keepalives_count": KEEPALIVE_PROBES,
    "tcp_user_timeout": UNACKNOWLEDGED_MILLISECONDS_MAX,
}

_PORT = re.compile(r"\d*(,\d*)*")


class Recovery(Enum):
    """What can be done about an error."""

    RECONNECT = auto()  # make another connection, and do it again
    RETRY = auto()  # do it again
    RAISE = auto()  # it will not pass


class ConnectionInfo(Struct, frozen=True):
    """Where the database is. `text` has no secrets; `parts`, those of its URL, may have."""

    text: str
    parts: Mapping[str, Any]
    is_pooled: bool = False
    is_durable: bool = True

    @property
    def password(self) -> str:
        return str(self.parts.get("password") or "")

    def __repr__(self) -> str:
        return f"ConnectionInfo({self.text})"


# Others are doing the same: their turn first.
_AGAIN = frozenset({"40001", "40P01", "55P03"})
_LOST = frozenset({"57P01", "57P02", "57P03", "57P05", "53300", "25P03"})

# What a server says that will say so again. Everything else it, or the network, says while a
# connection is made may pass.
_REFUSALS = (
    (
        re.compile(r"password authentication failed|no password supplied|authentication failed"),
        "the user name or password is wrong",
        "Check both in the URL (or the environment), and the rules in pg_hba.conf",
    ),
    (
        re.compile(r"no pg_hba\.conf entry|pg_hba\.conf rejects"),
        "its rules do not let this user or machine in",
        "Add a line for it to pg_hba.conf, or use another user",
    ),
    (
        re.compile(r'database ".*" does not exist'),
        "there is no such database",
        "Create it (createdb), or name another",
    ),
    (
        re.compile(r'role ".*" (does not exist|is not permitted to log in)'),
        "there is no such user",
        "Create the role, or name another",
    ),
    (
        re.compile(r"permission denied for database"),
        "the user may not connect to it",
        "GRANT CONNECT on the database to the user",
    ),
    (
        re.compile(r"certificate|does not support SSL"),
        "an encrypted connection cannot be made",
        "Check sslmode and the certificates in the URL",
    ),
)

# What happened, and what to do, by the code of the error; the longest that fits is told.
_ADVICE = {
    "53100": ("the disk is full", "Free some space on the server and try again"),
    "53200": ("the server is out of memory", "Give it more, or lower its settings"),
    "25006": (
        "it can only be read",
        "Name the primary server, or add target_session_attrs=read-write to the URL",
    ),
    "42501": ("permission is denied", "Grant the user all rights on the schema `anew`"),
    "57014": (
        f"a statement took longer than {STATEMENT_SECONDS_MAX} seconds",
        "Look at the load and the locks of the server",
    ),
    "3F000": ("the schema anew is missing", "Start `anew serve`, which creates it"),
    "42P01": ("a table is missing", "Restore the schema anew from a backup"),
    "42883": ("a function is missing", "Restore the schema anew from a backup"),
    "XX001": ("its data is damaged", "Restore it from a backup"),
    "XX002": ("an index is damaged", "REINDEX the database, or restore it from a backup"),
}


def connection_info(url: str, *, is_pooled: bool, is_durable: bool = True) -> ConnectionInfo:
    """ConfigError if it cannot be read; what libpq says about that could repeat the password.

    `is_durable`: a commit is on disk when it returns, unless the URL says otherwise.
    """
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        raise _unreadable() from None
    host = parts.get("host") or parts.get("hostaddr") or "localhost"
    port = str(parts.get("port") or 5432)
    name = str(parts.get("dbname") or parts.get("user") or "")
    if not _PORT.fullmatch(port) or "@" in name:
        # A password with a / or @ in it has made libpq take its rest for something else.
        raise _unreadable()
    return ConnectionInfo(f"{host}:{port}/{name}", parts, is_pooled, is_durable)


def _unreadable() -> ConfigError:
    return ConfigError(
        "the URL of the PostgreSQL database cannot be read. It has the form "
        "postgresql://user:password@host:port/database, with other characters than letters "
        "and digits in the password written as %XX."
    )


async def connect(place: ConnectionInfo, *, is_reader: bool = False) -> Connection:
    """One that commits each statement by itself. Errors are psycopg's, but for an old server."""
    # What is sent by hand is UTF-8, whatever the environment says.
    settings: dict[str, Any] = {**_NETWORK, **_password(), **place.parts, "client_encoding": "UTF8"}
    if not place.is_pooled:
        # A pooler does not pass them on. Those of the URL come last, and count.
        ours = _options(is_reader=is_reader, is_durable=place.is_durable)
        settings["options"] = f"{ours} {place.parts.get('options') or ''}"
    connection = await psycopg.AsyncConnection.connect(
        **settings,
        autocommit=True,
        # Behind a pooler, the next statement may reach a server process that did not prepare it.
        prepare_threshold=None if place.is_pooled else PREPARE_AFTER,
    )
    found = connection.info.server_version // 10_000
    if found < SERVER_VERSION_MIN:
        await connection.close()
        raise StoreError(
            f"PostgreSQL at {place.text} is version {found}, and Anew needs "
            f"{SERVER_VERSION_MIN} or newer. Upgrade the server, or name another."
        )
    teach(connection)
    return connection


def _password() -> dict[str, str]:
    """What libpq would have found in the environment; the URL's counts before it."""
    found = withdrawn(PASSWORD_VARIABLE)
    return {} if found is None else {"password": found}


def _options(*, is_reader: bool, is_durable: bool) -> str:
    settings: dict[str, object] = dict(_SESSION)
    if is_reader:
        # A plan for any run would have to lock every partition before it looks at one.
        settings["plan_cache_mode"] = "force_custom_plan"
    chosen = [f"{name}={value}" for name, value in settings.items()]
    chosen += [DURABLE_AS_SET, DURABLE] if is_durable else [DURABLE_AS_SET]
    return " ".join(f"-c {one}" for one in chosen)


def recovery_of(error: BaseException) -> Recovery:
    """Whether to do again what raised this. All that we do is safe to do again."""
    if isinstance(error, psycopg.Error):
        code = error.sqlstate
        if code in _AGAIN:
            return Recovery.RETRY
        if code is not None:
            return Recovery.RECONNECT if code in _LOST or code.startswith("08") else Recovery.RAISE
        if not isinstance(error, psycopg.OperationalError) or _refusal(str(error)):
            return Recovery.RAISE
    return Recovery.RECONNECT


def store_error(place: ConnectionInfo, error: BaseException) -> StoreError:
    """The error a person gets: what, where, what to do, and PostgreSQL's own words."""
    detail = _detail(place, error)
    code = error.sqlstate if isinstance(error, psycopg.Error) else None
    known = _ADVICE.get(code or "") or _refusal(detail)
    if known is not None:
        return StoreError(f"PostgreSQL at {place.text}: {known[0]} ({detail}). {known[1]}.")
    if recovery_of(error) is Recovery.RAISE:
        return StoreError(f"PostgreSQL at {place.text}: {type(error).__name__}: {detail}.")
    return StoreError(
        f"PostgreSQL at {place.text} cannot be reached ({detail}). "
        "Check that it runs, its address, and the network; then try again."
    )


def hang_up(connection: Connection) -> None:
    """Whoever waits on it is told at once. To cancel them would be to ask the server again."""
    with suppress(OSError, psycopg.Error), socket(fileno=os.dup(connection.fileno())) as end:
        end.shutdown(SHUT_RDWR)


def _refusal(text: str) -> tuple[str, str] | None:
    for pattern, what, remedy in _REFUSALS:
        if pattern.search(text):
            return what, remedy
    return None


def _detail(place: ConnectionInfo, error: BaseException) -> str:
    """On one line, and never with the password."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    text = lines[0].strip().rstrip(".")[:DETAIL_CHARS_MAX]
    return text.replace(place.password, MASK) if place.password else text
