"""The states of guards that are read, listed, or changed without a commit."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from anew.store import GuardWrite, StoredGuard
from anew.stores.refusals import stale_guard
from anew.stores.sql.dialect import Row, SqlDialect, SqlSession, Steps

# Of scopes that one statement names.
_READ_MAX = 500
_LISTED = "SELECT scope, token, state FROM anew.guards ORDER BY scope LIMIT ?"
_TOKEN = "SELECT token FROM anew.guards WHERE scope = ?"
_CHANGE = """
INSERT INTO anew.guards (scope, token, state) VALUES (?, ?, ?)
ON CONFLICT (scope) DO UPDATE SET token = excluded.token, state = excluded.state
"""


class SqlGuards:
    """Of a database in SQL."""

    def __init__(self, session: SqlSession) -> None:
        self._session = session

    async def read(self, scopes: Collection[str]) -> list[StoredGuard]:
        asked, found = list(scopes), []
        for start in range(0, len(asked), _READ_MAX):
            found += await self._session.read(_read, asked[start : start + _READ_MAX])
        return found

    async def listed(self, limit: int = 1000) -> list[StoredGuard]:
        return await self._session.read(_listed, limit)

    async def write(self, writes: Sequence[GuardWrite]) -> None:
        await self._session.transact(_write, writes)


def _read(dialect: SqlDialect, scopes: Sequence[str]) -> Steps[list[StoredGuard]]:
    marks = ", ".join("?" * len(scopes))
    statement = f"SELECT scope, token, state FROM anew.guards WHERE scope IN ({marks})"
    rows = yield statement, [dialect.to_text(scope) for scope in scopes]
    return _guards(dialect, rows)


def _listed(dialect: SqlDialect, limit: int) -> Steps[list[StoredGuard]]:
    rows = yield _LISTED, (limit,)
    return _guards(dialect, rows)


def _guards(dialect: SqlDialect, rows: Sequence[Row]) -> list[StoredGuard]:
    return [StoredGuard(dialect.from_text(scope), token, state) for scope, token, state in rows]


def _write(dialect: SqlDialect, writes: Sequence[GuardWrite]) -> Steps[None]:
    """Everything is looked at before anything is written: the transaction may be shared."""
    for write in sorted(writes, key=lambda write: write.scope):
        scope = dialect.to_text(write.scope)
        if dialect.lock_name:
            yield dialect.lock_name, (f"guard {scope}",)
        rows = yield _TOKEN, (scope,)
        if (rows[0][0] if rows else None) != write.expected:
            raise stale_guard(write.scope)
    for write in writes:
        if write.token is not None:
            yield _CHANGE, (dialect.to_text(write.scope), write.token, write.state)
