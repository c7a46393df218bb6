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
from anew.store import RunRow, StoredProgram
from anew.surfaces.api import shapes
from anew.surfaces.api.documents import Source
from anew.surfaces.api.endpoint import Asked, Endpoint, Reply
from anew.surfaces.api.problems import Refusal
from anew.surfaces.api.programs import register_source, stored
from anew.values import Object

# Paths of documents, by digest, so that a list of runs asks for each once.
PATHS_KEPT_MAX = 10_000
_PATHS: dict[str, str] = {}

# Clients write the number as a text, too.
VersionText = Annotated[str, Meta(pattern=r"^(latest|[1-9][0-9]{0,8})$")]
Version = shapes.Version | VersionText | None


class ResourceAsked(Struct):
    path: shapes.Name
    version: Version = None


class ResourceSent(Struct):
    """`content` is YAML, or YAML in base64."""

    content: str
    resource_type: str = "Playbook"


class ResourcesAsked(Struct):
    resource_type: str | None = None


async def find(asked: Asked, path: str, version: Version = None) -> StoredProgram:
    """By the name of a program, else by the path in its document."""
    number = None if version in (None, "latest") else int(version)
    catalog = asked.engine.database.catalog
    found = await catalog.find(path, number)
    if found is not None:
        return found
    for program in await catalog.programs():
        if path_of(program) == path:
            return await stored(asked, program.name, number)
    raise Refusal("not-found", f"no program with the path {path[:200]!r} is registered")


async def path_of_run(asked: Asked, row: RunRow) -> str:
    """The path of the program that a run is pinned to."""
    known = _PATHS.get(row.digest)
    if known is not None:
        return known
    program = await asked.engine.database.catalog.get(row.digest)
    if program is None or program.path is None:
        return row.program
    if len(_PATHS) >= PATHS_KEPT_MAX:
        _PATHS.clear()
    return _PATHS.setdefault(row.digest, program.path)


def path_of(program: StoredProgram) -> str:
    """`metadata.path` of a playbook, else the program's name."""
    return program.path or program.name


async def register(asked: Asked) -> Reply:
    sent = await asked.json(ResourceSent)
    answer = (await register_source(asked, Source(_plain(sent.content)))).content
    program = await stored(asked, answer["name"], answer["version"])
    return Reply({"status": "success", "message": _message(program)} | entry(program), 201)


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


async def list_catalog(asked: Asked) -> Reply:
    await asked.json(ResourcesAsked, ResourcesAsked())
    programs = await asked.engine.database.catalog.programs()
    return Reply({"entries": [entry(program) for program in programs]})


async def resource(asked: Asked) -> Reply:
    return await _resource(asked, await asked.json(ResourceAsked))


async def playbook(asked: Asked) -> Reply:
    return await _resource(asked, asked.query(ResourceAsked))


async def _resource(asked: Asked, wanted: ResourceAsked) -> Reply:
    program = await find(asked, wanted.path, wanted.version)
    return Reply(entry(program) | {"content": program.source})


TAG = "noetl"
BODY = ("too-large", "not-json")
_REGISTER = ("/api/catalog/register", "/api/catalog/playbook")
ENDPOINTS = (
    *(
        Endpoint(
            "POST",
            path,
            register,
            "Register a document",
            TAG,
            {201: shapes.Json},
            body=ResourceSent,
            refusals=("bad-document", *BODY),
        )
        for path in _REGISTER
    ),
    Endpoint(
        "GET",
        "/api/catalog/playbook",
        playbook,
        "Show a document",
        TAG,
        {200: shapes.Json},
        query=ResourceAsked,
        refusals=("not-found",),
    ),
    Endpoint(
        "POST",
        "/api/catalog/list",
        list_catalog,
        "List programs",
        TAG,
        {200: shapes.Json},
        body=ResourcesAsked,
        has_optional_body=True,
        refusals=BODY,
    ),
    Endpoint(
        "POST",
        "/api/catalog/resource",
        resource,
        "Show a document",
        TAG,
        {200: shapes.Json},
        body=ResourceAsked,
        refusals=("not-found", *BODY),
    ),
)
