"""Add, list and remove credentials. A value goes in and never comes out."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from starlette.responses import Response

from anew.surfaces.api.endpoint import Endpoints, JsonResponse
from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.request import ApiRequest
from anew.surfaces.api.shapes import Name

ENDPOINTS = Endpoints("credentials")


class CredentialRequest(Struct, forbid_unknown_fields=True):
    name: Name
    type: Annotated[str, Meta(min_length=1)]
    data: Any
    description: str | None = None
    tags: Any = None


class CredentialRow(Struct, rename={"origin": "from"}):
    """Never a value."""

    name: str
    type: str
    origin: str


class CredentialList(Struct):
    credentials: list[CredentialRow]


class CredentialTaken(Struct):
    """`short` names the secrets that are too short to be hidden everywhere."""

    name: str
    type: str
    short: list[str]


@ENDPOINTS.post(
    "/credentials",
    "Seal a credential with the server's key",
    CredentialTaken,
    status=201,
    body=CredentialRequest,
)
async def add(request: ApiRequest) -> JsonResponse:
    """Seal a credential, in place of one of the same name."""
    from anew.credentials.credential import check_name, read_credential
    from anew.credentials.redaction import short_fields
    from anew.credentials.sealing import next_version, seal_credential

    sent = await request.json(CredentialRequest)
    name = check_name(sent.name)
    text = msgspec.json.encode({"type": sent.type, "data": sent.data})
    credential = read_credential(text, "the body", ref=name)
    key = request.service.need_key()
    database, seen = request.engine.database, request.engine.keychain.seen
    now = await next_version(database.vault, name, key, seen=seen, now=database.clock.now())
    await database.vault.seal(seal_credential(name, credential, key, now=now))
    seen.note(name, now)
    short = list(short_fields(credential))
    return JsonResponse({"name": name, "type": credential.type, "short": short}, 201)


@ENDPOINTS.get("/credentials", "List names and types", CredentialList)
async def list_credentials(request: ApiRequest) -> JsonResponse:
    stored = await request.engine.database.vault.names()
    rows = [{"name": row.name, "type": row.kind, "from": "store"} for row in stored]
    return JsonResponse({"credentials": sorted(rows, key=lambda row: row["name"])})


@ENDPOINTS.delete("/credentials/{name:path}", "Forget a credential", status=204)
async def remove(request: ApiRequest) -> Response:
    name, engine = request.path("name"), request.engine
    if not await engine.database.vault.forget(name):
        raise ApiError(
            "not-found", f"there is no credential {name[:128]!r} in the credential store"
        )
    engine.keychain.seen.note_removed(name, engine.database.clock.now())
    return Response(status_code=204)
