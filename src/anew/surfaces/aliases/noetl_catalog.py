"""The catalog as clients of NoETL know it: programs by path.

A path is the name of a program, or the `path` in the document's metadata, which the catalog keeps
beside it: no stored document is read here.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from typing import Annotated

from msgspec import Meta, Struct

from anew.engine.moments import moment_text
from anew.runtime.program_names import find_program
from anew.store import RunRow, StoredProgram
from anew.surfaces.api import shapes
from anew.surfaces.api.documents import DocumentSource
from anew.surfaces.api.endpoint import Endpoints, JsonResponse
from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.programs import registered_row, stored
from anew.surfaces.api.request import ApiRequest
from anew.values import Object

# Paths of documents, by digest, so that a list of runs asks for each once.
PATHS_KEPT_MAX = 10_000
_PATHS: dict[str, str] = {}

# Clients write the number as a text, too.
VersionText = Annotated[str, Meta(pattern=r"^(latest|[1-9][0-9]{0,8})$")]
Version = shapes.Version | VersionText | None
ENDPOINTS = Endpoints("noetl", base="")


class ResourceQuery(Struct):
    path: shapes.Name
    version: Version = None


class RegisterRequest(Struct):
    """`content` is YAML, or YAML in base64."""

    content: str
    resource_type: str = "Playbook"


class ResourcesRequest(Struct):
    resource_type: str | None = None


async def find(request: ApiRequest, path: str, version: Version = None) -> StoredProgram:
    """By the name of a program, else by the path in its document."""
    number = None if version in (None, "latest") else int(version)
    found = await find_program(request.engine.database.catalog, path, number)
    if found is not None:
        return found
    which = repr(path[:200]) if number is None else f"{path[:200]!r} and version {number}"
    raise ApiError("not-found", f"no program with the path {which} is registered")


async def path_of_run(request: ApiRequest, row: RunRow) -> str:
    """The path of the program that a run is pinned to."""
    known = _PATHS.get(row.digest)
    if known is not None:
        return known
    program = await request.engine.database.catalog.get(row.digest)
    if program is None or program.path is None:
        return row.program
    if len(_PATHS) >= PATHS_KEPT_MAX:
        _PATHS.clear()
    return _PATHS.setdefault(row.digest, program.path)


def path_of(program: StoredProgram) -> str:
    """`metadata.path` of a playbook, else the program's name."""
    return program.path or program.name


@ENDPOINTS.post(
    ("/api/catalog/register", "/api/catalog/playbook"),
    "Register a document",
    shapes.Json,
    status=201,
    body=RegisterRequest,
    problems=("bad-document", "conflict"),
)
async def register(request: ApiRequest) -> JsonResponse:
    sent = await request.json(RegisterRequest)
    row = await registered_row(request, DocumentSource(_plain(sent.content)))
    program = await stored(request, row["name"], row["version"])
    return JsonResponse({"status": "success", "message": _message(program)} | entry(program), 201)


def _message(program: StoredProgram) -> str:
    return f"Resource {path_of(program)!r} version {program.version} registered."


def _plain(content: str) -> str:
    """A document. No document has only the letters of base64, however its lines are broken."""
    try:
        return b64decode("".join(content.split()), validate=True).decode()
    except (binascii.Error, ValueError):
        return content


def entry(program: StoredProgram) -> Object:
    return {
        "path": path_of(program),
        "name": program.name,
        "version": program.version,
        "catalog_id": program.digest,
        "kind": "Playbook",
        "created_at": moment_text(program.registered_at),
    }


@ENDPOINTS.post(
    "/api/catalog/list",
    "List programs",
    shapes.Json,
    body=ResourcesRequest,
    has_optional_body=True,
)
async def list_catalog(request: ApiRequest) -> JsonResponse:
    await request.json(ResourcesRequest, ResourcesRequest())
    programs = await request.engine.database.catalog.programs()
    return JsonResponse({"entries": [entry(program) for program in programs]})


@ENDPOINTS.post(
    "/api/catalog/resource",
    "Show a document",
    shapes.Json,
    body=ResourceQuery,
    problems=("not-found", "conflict"),
)
async def resource(request: ApiRequest) -> JsonResponse:
    return await _resource(request, await request.json(ResourceQuery))


@ENDPOINTS.get(
    "/api/catalog/playbook",
    "Show a document",
    shapes.Json,
    query=ResourceQuery,
    problems=("not-found", "conflict"),
)
async def playbook(request: ApiRequest) -> JsonResponse:
    return await _resource(request, request.query(ResourceQuery))


async def _resource(request: ApiRequest, wanted: ResourceQuery) -> JsonResponse:
    program = await find(request, wanted.path, wanted.version)
    return JsonResponse(entry(program) | {"content": program.source})
