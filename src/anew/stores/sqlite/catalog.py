"""Programs and sealed credentials: small tables that change rarely."""

from __future__ import annotations

from typing import Any

import apsw
import msgspec

from anew.store import SealedCredential, StoredProgram

_PROGRAM = """
SELECT digest, name, 0, source, file, kept_at, dialect, files, path
FROM programs WHERE digest = ?
"""
_ADD_PROGRAM = """
INSERT INTO programs (digest, name, source, file, kept_at, dialect, files, path)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (digest) DO UPDATE SET path = excluded.path
WHERE path IS NULL AND excluded.path IS NOT NULL
"""
_VERSION = """
SELECT digest, versions.name, version, source, file, registered_at, dialect, files, path
FROM versions JOIN programs USING (digest)
"""
_ADD_VERSION = """
INSERT INTO versions (name, version, digest, registered_at)
SELECT ?1, 1 + coalesce(max(version), 0), ?2, ?3 FROM versions WHERE name = ?1
"""
_FIND = f"""
{_VERSION} WHERE versions.name = ?1 AND (?2 IS NULL OR version = ?2)
ORDER BY version DESC LIMIT 1
"""
_NEWEST = f"""
{_VERSION} WHERE version = (
    SELECT max(version) FROM versions AS every WHERE every.name = versions.name
)
ORDER BY versions.name
"""
_CREDENTIAL = "SELECT name, kind, sealed, created_at FROM credentials"


def keep_program(connection: apsw.Connection, program: StoredProgram) -> None:
    files = msgspec.json.encode(program.files).decode() if program.files else None
    connection.execute(
        _ADD_PROGRAM,
        (
            program.digest,
            program.name,
            program.source,
            program.file,
            program.registered_at,
            program.dialect,
            files,
            program.path,
        ),
    )


def register_program(connection: apsw.Connection, program: StoredProgram) -> StoredProgram:
    keep_program(connection, program)
    newest = find_program(connection, program.name, None)
    if newest is None or newest.digest != program.digest:
        connection.execute(_ADD_VERSION, (program.name, program.digest, program.registered_at))
        newest = find_program(connection, program.name, None)
    assert newest is not None
    return newest


def get_program(connection: apsw.Connection, digest: str) -> StoredProgram | None:
    row = connection.execute(_PROGRAM, (digest,)).fetchone()
    return _program(row) if row is not None else None


def find_program(
    connection: apsw.Connection, name: str, version: int | None
) -> StoredProgram | None:
    row = connection.execute(_FIND, (name, version)).fetchone()
    return _program(row) if row is not None else None


def newest_programs(connection: apsw.Connection) -> list[StoredProgram]:
    return [_program(row) for row in connection.execute(_NEWEST)]


def _program(row: tuple[Any, ...]) -> StoredProgram:
    digest, name, version, source, file, at, dialect, files, path = row
    texts = msgspec.json.decode(files, type=dict[str, str]) if files is not None else {}
    return StoredProgram(digest, name, version, source, file, at, dialect, texts, path)


def seal(connection: apsw.Connection, credential: SealedCredential) -> None:
    row = (credential.name, credential.kind, credential.sealed, credential.created_at)
    connection.execute("INSERT OR REPLACE INTO credentials VALUES (?, ?, ?, ?)", row)


def sealed(connection: apsw.Connection, name: str) -> SealedCredential | None:
    row = connection.execute(f"{_CREDENTIAL} WHERE name = ?", (name,)).fetchone()
    return SealedCredential(*row) if row is not None else None


def sealed_names(connection: apsw.Connection) -> list[SealedCredential]:
    return [SealedCredential(*row) for row in connection.execute(f"{_CREDENTIAL} ORDER BY name")]


def forget(connection: apsw.Connection, name: str) -> bool:
    connection.execute("DELETE FROM credentials WHERE name = ?", (name,))
    return connection.changes() > 0
