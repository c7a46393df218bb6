"""Add, list and remove credentials. A value goes in and never comes out."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from anew.surfaces.api import shapes
from anew.surfaces.api.endpoint import Asked, Endpoint, Reply
from anew.surfaces.api.problems import Refusal


async def add(asked: Asked) -> Reply:
    """Seal a credential, in place of one of the same name."""
    from anew.credentials.credential import check_name, read_credential
    from anew.credentials.redaction import short_fields
    from anew.credentials.sealing import next_version, seal_credential

    sent = await asked.json(shapes.CredentialSent)
    name = check_name(sent.name)
    text = msgspec.json.encode({"type": sent.type, "data": sent.data})
    credential = read_credential(text, "the body", ref=name)
    key = asked.service.need_key()
    database, seen = asked.engine.database, asked.engine.keychain.seen
    now = await next_version(database.vault, name, key, seen=seen, now=database.clock.now())
    await database.vault.seal(seal_credential(name, credential, key, now=now))
    seen.note(name, now)
    short = list(short_fields(credential))
    return Reply({"name": name, "type": credential.type, "short": short}, 201)


async def list_credentials(asked: Asked) -> Reply:
    stored = await asked.engine.database.vault.names()
    rows = [{"name": row.name, "type": row.kind, "from": "store"} for row in stored]
    return Reply({"credentials": sorted(rows, key=lambda row: row["name"])})


async def remove(asked: Asked) -> Response:
    name, engine = asked.path("name"), asked.engine
    if not await engine.database.vault.forget(name):
        raise Refusal("not-found", f"there is no credential {name[:128]!r} in the credential store")
    engine.keychain.seen.note_removed(name, engine.database.clock.now())
    return Response(status_code=204)


_TAG = "credentials"
ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/v1/credentials",
        add,
        "Seal a credential with the server's key",
        _TAG,
        {201: shapes.CredentialTaken},
        body=shapes.CredentialSent,
        refusals=("too-large", "not-json"),
    ),
    Endpoint(
        "GET",
        "/api/v1/credentials",
        list_credentials,
        "List names and types",
        _TAG,
        {200: shapes.CredentialList},
    ),
    Endpoint(
        "DELETE",
        "/api/v1/credentials/{name:path}",
        remove,
        "Forget a credential",
        _TAG,
        {204: None},
        refusals=("not-found",),
    ),
)
