"""Turn a credential's data into what libpq needs to connect.

Holds secrets for the length of a call: nothing here may put a value into a message.
"""

from __future__ import annotations

from collections.abc import Mapping

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from anew.tools.sql.failure import wrong_input
from anew.values import Value

_ADDRESSES = ("dsn", "url", "conninfo", "db_conn_string")
_OTHER_NAMES = {
    "database": "dbname",
    "username": "user",
    "db_host": "host",
    "db_port": "port",
    "db_user": "user",
    "db_password": "password",
    "db_name": "dbname",
}
# What people keep beside the connection itself.
_REMARKS = frozenset({"type", "name", "description", "schema", *_ADDRESSES})


def conninfo_of(auth: Value, database: Value) -> str:
    """A connection string; raises `SqlFailure` of kind `config` that says what is wrong."""
    if auth is None:
        raise wrong_input("auth is missing: name a credential with the data of the connection")
    if isinstance(auth, str):
        auth = {"dsn": auth}
    if not isinstance(auth, Mapping):
        raise wrong_input("auth must be a credential with host, user, password, … or with dsn")
    if database is not None and not isinstance(database, str):
        raise wrong_input("database is the name of a database")
    return _conninfo(auth, {} if database is None else {"dbname": database})


def _conninfo(auth: Mapping[str, Value], over: Mapping[str, str]) -> str:
    address = next((auth[key] for key in _ADDRESSES if auth.get(key)), "")
    if not isinstance(address, str):
        raise wrong_input("the credential's dsn is not text")
    known = {**_read(address), **_fields_of(auth), **over}
    if not known:
        raise wrong_input("the credential holds nothing to connect with: it needs host, user, …")
    try:
        return make_conninfo("", **known)
    except ProgrammingError:
        odd = sorted(name for name in known if not _is_known(name))
        raise wrong_input(
            f"the credential has fields PostgreSQL does not know: {', '.join(odd)}"
        ) from None


def _read(address: str) -> dict[str, str]:
    try:
        return {k: str(v) for k, v in conninfo_to_dict(address).items() if v is not None}
    except ProgrammingError:
        # libpq's own message may quote the password.
        raise wrong_input(
            "the credential's dsn cannot be read: "
            "write postgresql://user:password@host:port/database or key=value pairs"
        ) from None


def _fields_of(auth: Mapping[str, Value]) -> dict[str, str]:
    fields = {
        _OTHER_NAMES.get(key, key): str(value)
        for key, value in auth.items()
        if key not in _REMARKS and value is not None and value != ""
    }
    schema = auth.get("schema")
    if schema and "options" not in fields:
        fields["options"] = f"-csearch_path={schema}"
    return fields


def _is_known(name: str) -> bool:
    try:
        make_conninfo("", **{name: ""})
    except ProgrammingError:
        return False
    return True
