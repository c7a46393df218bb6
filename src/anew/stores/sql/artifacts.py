"""Values that tasks keep by name. What happens to those of a run that goes is in the schema."""

from __future__ import annotations

from anew.store import NewArtifact, StoredArtifact
from anew.store.artifacts import owner_of_run
from anew.stores.sql.dialect import SqlDialect, SqlSession, Steps

_OF_KEY = """
SELECT version, attempt FROM anew.artifacts WHERE owner = ? AND name = ? AND key = ?
"""
_NEWEST = """
SELECT version, checksum, data FROM anew.artifacts
WHERE owner = ? AND name = ? AND version = coalesce(?, version) ORDER BY version DESC LIMIT 1
"""
_LAST = "SELECT coalesce(max(version), 0) FROM anew.artifacts WHERE owner = ? AND name = ?"
_ADD = """
INSERT INTO anew.artifacts (owner, name, version, run, key, attempt, checksum, data)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_REPLACE = """
UPDATE anew.artifacts SET attempt = ?, checksum = ?, data = ?
WHERE owner = ? AND name = ? AND version = ?
"""
# Older versions of a program's name whose run is gone: each was the newest when that went.
_DROP_LEFT = """
DELETE FROM anew.artifacts
WHERE owner = ? AND name = ? AND version < ?
    AND NOT EXISTS (SELECT 1 FROM anew.runs WHERE runs.run = artifacts.run)
"""


class SqlArtifacts:
    """Of a database in SQL."""

    def __init__(self, session: SqlSession) -> None:
        self._session = session

    async def put(self, artifact: NewArtifact) -> int:
        return await self._session.transact(_put, artifact)

    async def get(self, owner: str, name: str, version: int | None = None) -> StoredArtifact | None:
        return await self._session.read(_get, owner, name, version)


def _put(dialect: SqlDialect, new: NewArtifact) -> Steps[int]:
    owner, name, key = map(dialect.to_text, (new.owner, new.name, new.key))
    if dialect.lock_name:
        # So that the versions of a name count up, whoever else keeps one.
        yield dialect.lock_name, (f"{owner}\n{name}",)
    known = yield _OF_KEY, (owner, name, key)
    if known:
        ((version, attempt),) = known
        # A worker that was given up may still be at it, with what an earlier attempt gave.
        if new.attempt >= attempt:
            values = (new.attempt, new.checksum, new.data, owner, name, version)
            yield _REPLACE, values
        return int(version)
    ((last,),) = yield _LAST, (owner, name)
    added = new.version if new.version is not None else int(last) + 1
    yield _ADD, (owner, name, added, new.run, key, new.attempt, new.checksum, new.data)
    if new.owner != owner_of_run(new.run):
        yield _DROP_LEFT, (owner, name, added)
    return added


def _get(
    dialect: SqlDialect, owner: str, name: str, version: int | None
) -> Steps[StoredArtifact | None]:
    rows = yield _NEWEST, (dialect.to_text(owner), dialect.to_text(name), version)
    return StoredArtifact(rows[0][0], rows[0][1], bytes(rows[0][2])) if rows else None
