"""Programs and sealed credentials: small tables that change rarely."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from anew.store import SealedCredential, StoredProgram
from anew.stores.sql.dialect import Row, SqlDialect, SqlSession, Steps, maybe

_PROGRAM = """
SELECT digest, name, 0, source, file, kept_at, dialect, files, path, tools
FROM anew.programs WHERE digest = ?
"""
_ADD_PROGRAM = """
INSERT INTO anew.programs (digest, name, source, file, kept_at, dialect, files, path, tools)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (digest) DO UPDATE SET path = excluded.path
WHERE programs.path IS NULL AND excluded.path IS NOT NULL
"""
_VERSION = """
SELECT digest, versions.name, version, source, file, registered_at, dialect, files, path, tools
FROM anew.versions JOIN anew.programs USING (digest)
"""
_ADD_VERSION = """
INSERT INTO anew.versions (name, version, digest, registered_at)
SELECT ?, 1 + coalesce(max(version), 0), ?, ? FROM anew.versions WHERE name = ?
"""
_FIND = f"""
{_VERSION} WHERE versions.name = ? AND version = coalesce(?, version)
ORDER BY version DESC LIMIT 1
"""
_IS_NEWEST = """
version = (SELECT max(version) FROM anew.versions AS every WHERE every.name = versions.name)
"""
_NEWEST = f"{_VERSION} WHERE {_IS_NEWEST} ORDER BY versions.name"
_AT_PATH = f"{_VERSION} WHERE path = ? AND {_IS_NEWEST} ORDER BY versions.name"
_CREDENTIAL = "SELECT name, kind, sealed, created_at FROM anew.credentials"
_SEAL = """
INSERT INTO anew.credentials (name, kind, sealed, created_at) VALUES (?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET
    kind = excluded.kind, sealed = excluded.sealed, created_at = excluded.created_at
"""
_FORGET = "DELETE FROM anew.credentials WHERE name = ? RETURNING name"


class SqlCatalog:
    """Programs."""

    def __init__(self, session: SqlSession) -> None:
        self._session = session

    async def keep(self, program: StoredProgram) -> None:
        await self._session.write(_keep, program)

    async def register(self, program: StoredProgram) -> StoredProgram:
        return await self._session.transact(_register, program)

    async def get(self, digest: str) -> StoredProgram | None:
        return await self._session.read(_get, digest)

    async def find(self, name: str, version: int | None = None) -> StoredProgram | None:
        return await self._session.read(_find, name, version)

    async def at_path(self, path: str) -> list[StoredProgram]:
        return await self._session.read(_at_path, path)

    async def programs(self) -> list[StoredProgram]:
        return await self._session.read(_newest)


class SqlVault:
    """Credentials."""

    def __init__(self, session: SqlSession) -> None:
        self._session = session

    async def seal(self, credential: SealedCredential) -> None:
        await self._session.write(_seal, credential)

    async def sealed(self, name: str) -> SealedCredential | None:
        return await self._session.read(_sealed, name)

    async def names(self) -> list[SealedCredential]:
        return await self._session.read(_names)

    async def forget(self, name: str) -> bool:
        return await self._session.write(_forget, name)


def _keep(dialect: SqlDialect, program: StoredProgram) -> Steps[None]:
    to_text = dialect.to_text
    names = (program.digest, program.name, program.source, program.file)
    files, tools = _json(program.files), _json(program.tools)
    more = (maybe(to_text, program.dialect), files, maybe(to_text, program.path), tools)
    yield _ADD_PROGRAM, (*map(to_text, names), program.registered_at, *more)


def _register(dialect: SqlDialect, program: StoredProgram) -> Steps[StoredProgram]:
    yield from _keep(dialect, program)
    if dialect.lock_versions:
        # Registering is rare: those of all names wait for each other, so that versions count up.
        yield dialect.lock_versions, ()
    newest = yield from _find(dialect, program.name, None)
    if newest is None or newest.digest != program.digest:
        name, digest = dialect.to_text(program.name), dialect.to_text(program.digest)
        yield _ADD_VERSION, (name, digest, program.registered_at, name)
        newest = yield from _find(dialect, program.name, None)
    assert newest is not None
    return newest


def _get(dialect: SqlDialect, digest: str) -> Steps[StoredProgram | None]:
    rows = yield _PROGRAM, (dialect.to_text(digest),)
    return _program(dialect, rows[0]) if rows else None


def _find(dialect: SqlDialect, name: str, version: int | None) -> Steps[StoredProgram | None]:
    rows = yield _FIND, (dialect.to_text(name), version)
    return _program(dialect, rows[0]) if rows else None


def _at_path(dialect: SqlDialect, path: str) -> Steps[list[StoredProgram]]:
    rows = yield _AT_PATH, (dialect.to_text(path),)
    return [_program(dialect, row) for row in rows]


def _newest(dialect: SqlDialect) -> Steps[list[StoredProgram]]:
    rows = yield _NEWEST, ()
    return [_program(dialect, row) for row in rows]


def _program(dialect: SqlDialect, row: Row) -> StoredProgram:
    *names, version, source, file, at, chosen, files, path, tools = row
    digest, name, source, file = map(dialect.from_text, (*names, source, file))
    chosen, path = maybe(dialect.from_text, chosen), maybe(dialect.from_text, path)
    more = (chosen, _texts(files), path, _texts(tools))
    return StoredProgram(digest, name, version, source, file, at, *more)


def _json(texts: Mapping[str, str]) -> str | None:
    return msgspec.json.encode(texts).decode() if texts else None


def _texts(kept: str | None) -> dict[str, str]:
    return {} if kept is None else msgspec.json.decode(kept, type=dict[str, str])


def _seal(dialect: SqlDialect, credential: SealedCredential) -> Steps[None]:
    names = (dialect.to_text(credential.name), dialect.to_text(credential.kind))
    yield _SEAL, (*names, credential.sealed, credential.created_at)


def _sealed(dialect: SqlDialect, name: str) -> Steps[SealedCredential | None]:
    rows = yield f"{_CREDENTIAL} WHERE name = ?", (dialect.to_text(name),)
    return _credential(dialect, rows[0]) if rows else None


def _names(dialect: SqlDialect) -> Steps[list[SealedCredential]]:
    rows = yield f"{_CREDENTIAL} ORDER BY name", ()
    return [_credential(dialect, row) for row in rows]


def _forget(dialect: SqlDialect, name: str) -> Steps[bool]:
    rows = yield _FORGET, (dialect.to_text(name),)
    return bool(rows)


def _credential(dialect: SqlDialect, row: Row) -> SealedCredential:
    name, kind, sealed, created_at = row
    from_text = dialect.from_text
    return SealedCredential(from_text(name), from_text(kind), bytes(sealed), created_at)
