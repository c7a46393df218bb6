"""Programs and sealed credentials: small tables that change rarely."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from anew.store import SealedCredential, StoredProgram
from anew.stores.postgres.connection import Connection
from anew.stores.postgres.values import from_text, to_text

_PROGRAM = """
SELECT digest, name, 0::bigint, source, file, kept_at, dialect, files, path
FROM anew.programs WHERE digest = %s
"""
_ADD_PROGRAM = """
INSERT INTO anew.programs (digest, name, source, file, kept_at, dialect, files, path)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (digest) DO UPDATE SET path = EXCLUDED.path
WHERE programs.path IS NULL AND EXCLUDED.path IS NOT NULL
"""
_VERSION = """
SELECT digest, versions.name, version, source, file, registered_at, dialect, files, path
FROM anew.versions JOIN anew.programs USING (digest)
"""
# Registering is rare: those of all names wait for each other, so that versions count up.
_ALONE = "LOCK TABLE anew.versions IN SHARE ROW EXCLUSIVE MODE"
_ADD_VERSION = """
INSERT INTO anew.versions (name, version, digest, registered_at)
SELECT %(name)s, 1 + coalesce(max(version), 0), %(digest)s, %(at)s
FROM anew.versions WHERE name = %(name)s
"""
_FIND = f"""
{_VERSION} WHERE versions.name = %s AND version = coalesce(%s, version)
ORDER BY version DESC LIMIT 1
"""
_NEWEST = f"""
{_VERSION} WHERE version = (
    SELECT max(version) FROM anew.versions AS every WHERE every.name = versions.name
)
ORDER BY versions.name
"""
_CREDENTIAL = "SELECT name, kind, sealed, created_at FROM anew.credentials"
_SEAL = """
INSERT INTO anew.credentials (name, kind, sealed, created_at) VALUES (%s, %s, %s, %s)
ON CONFLICT (name) DO UPDATE SET
    kind = EXCLUDED.kind, sealed = EXCLUDED.sealed, created_at = EXCLUDED.created_at
"""


async def keep_program(connection: Connection, program: StoredProgram) -> None:
    texts = (program.digest, program.name, program.source, program.file)
    files = msgspec.json.encode(program.files).decode() if program.files else None
    more = (_maybe(to_text, program.dialect), files, _maybe(to_text, program.path))
    values = (*map(to_text, texts), program.registered_at, *more)
    await connection.execute(_ADD_PROGRAM, values)


async def register_program(connection: Connection, program: StoredProgram) -> StoredProgram:
    async with connection.transaction():
        await keep_program(connection, program)
        await connection.execute(_ALONE)
        newest = await find_program(connection, program.name, version=None)
        if newest is None or newest.digest != program.digest:
            names = {"name": to_text(program.name), "digest": to_text(program.digest)}
            await connection.execute(_ADD_VERSION, {**names, "at": program.registered_at})
            newest = await find_program(connection, program.name, version=None)
    assert newest is not None
    return newest


async def get_program(connection: Connection, digest: str) -> StoredProgram | None:
    cursor = await connection.execute(_PROGRAM, (to_text(digest),), binary=True)
    row = await cursor.fetchone()
    return _program(row) if row is not None else None


async def find_program(
    connection: Connection, name: str, *, version: int | None
) -> StoredProgram | None:
    cursor = await connection.execute(_FIND, (to_text(name), version), binary=True)
    row = await cursor.fetchone()
    return _program(row) if row is not None else None


async def newest_programs(connection: Connection) -> list[StoredProgram]:
    cursor = await connection.execute(_NEWEST, binary=True)
    return [_program(row) for row in await cursor.fetchall()]


def _program(row: tuple[Any, ...]) -> StoredProgram:
    digest, name, version, source, file, at, dialect, files, path = row
    return StoredProgram(
        digest=from_text(digest),
        name=from_text(name),
        version=version,
        source=from_text(source),
        file=from_text(file),
        registered_at=at,
        dialect=_maybe(from_text, dialect),
        files=msgspec.json.decode(files, type=dict[str, str]) if files is not None else {},
        path=_maybe(from_text, path),
    )


def _maybe(convert: Callable[[str], str], text: str | None) -> str | None:
    return convert(text) if text is not None else None


async def seal(connection: Connection, credential: SealedCredential) -> None:
    names = (to_text(credential.name), to_text(credential.kind))
    await connection.execute(_SEAL, (*names, credential.sealed, credential.created_at))


async def sealed(connection: Connection, name: str) -> SealedCredential | None:
    statement = f"{_CREDENTIAL} WHERE name = %s"
    row = await (await connection.execute(statement, (to_text(name),), binary=True)).fetchone()
    return _credential(row) if row is not None else None


async def sealed_names(connection: Connection) -> list[SealedCredential]:
    cursor = await connection.execute(f"{_CREDENTIAL} ORDER BY name", binary=True)
    return [_credential(row) for row in await cursor.fetchall()]


async def forget(connection: Connection, name: str) -> bool:
    statement = "DELETE FROM anew.credentials WHERE name = %s"
    return (await connection.execute(statement, (to_text(name),))).rowcount > 0


def _credential(row: tuple[Any, ...]) -> SealedCredential:
    name, kind, secret, created_at = row
    return SealedCredential(from_text(name), from_text(kind), bytes(secret), created_at)
