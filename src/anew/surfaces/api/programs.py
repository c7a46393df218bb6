"""Register documents, list them, and check them without running anything."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from anew.runtime.json_rows import program_row
from anew.runtime.program_moves import moves_row, moves_to
from anew.store import StoredProgram
from anew.surfaces.api.documents import DocumentSource
from anew.surfaces.api.endpoint import Endpoints, JsonResponse
from anew.surfaces.api.problems import ApiError
from anew.surfaces.api.request import ApiRequest
from anew.surfaces.api.shapes import DocumentFinding, Empty, MisfitRow, RunText, Version
from anew.values import Object
from anew.views.findings import finding_row, in_file_order

VERSIONS_PAGE_MAX = 200
# Names may have slashes in them.
_NAMED = "/programs/{name:path}"
ENDPOINTS = Endpoints("programs")


class Registered(Struct):
    name: str
    version: int
    digest: str
    findings: list[DocumentFinding]
    runs: RunMoves


class StuckRun(Struct):
    run: RunText
    reasons: list[MisfitRow]


class RunMoves(Struct):
    """Which unfinished runs of the name can continue under this version, newest first."""

    movable: list[RunText]
    stuck: list[StuckRun]
    has_more: bool


class ProgramRow(Struct):
    name: str
    version: int
    digest: str
    file: str
    registered_at: str


class ProgramShown(ProgramRow):
    document: str
    dialect: str | None
    files: dict[str, str]


class ProgramList(Struct):
    programs: list[ProgramRow]


class ProgramQuery(Struct, forbid_unknown_fields=True):
    version: Version | None = None


class VersionsQuery(Struct, forbid_unknown_fields=True):
    limit: Annotated[int, Meta(ge=1, le=VERSIONS_PAGE_MAX)] = 50
    before: Version | None = None


class VersionPage(Struct):
    """The newest first; `next` is the `before` of the next page."""

    versions: list[ProgramRow]
    next: int | None


class CheckRequest(DocumentSource, forbid_unknown_fields=True):
    """`strict`: with the findings of `anew check --strict`."""

    strict: bool = False


@ENDPOINTS.post(
    "/programs",
    "Register a document under its name",
    Registered,
    status=201,
    body=DocumentSource,
    problems=("bad-document", "conflict"),
)
async def register(request: ApiRequest) -> JsonResponse:
    """Keep a document as the newest version of its name."""
    return JsonResponse(await registered_row(request, await request.json(DocumentSource)), 201)


async def registered_row(request: ApiRequest, source: DocumentSource) -> Object:
    compiled = await request.service.compiler.inspect(source)
    document, engine = compiled.checked(), request.engine
    return {
        "name": document.program.name,
        "version": await engine.programs.register(document),
        "digest": document.program.digest,
        "findings": [finding_row(found) for found in in_file_order(compiled.findings)],
        "runs": moves_row(await moves_to(engine.database, engine.programs, document)),
    }


@ENDPOINTS.get("/programs", "List programs, the newest version of each", ProgramList)
async def list_programs(request: ApiRequest) -> JsonResponse:
    request.query(Empty)
    found = await request.engine.database.catalog.programs()
    return JsonResponse({"programs": [program_row(program) for program in found]})


@ENDPOINTS.get(
    f"{_NAMED}/versions", "List the versions of a program", VersionPage, query=VersionsQuery
)
async def list_versions(request: ApiRequest) -> JsonResponse:
    """The versions of a program, newest first."""
    wanted, name = request.query(VersionsQuery), request.path("name")
    newest = (await stored(request, name)).version
    last = newest if wanted.before is None else min(newest, wanted.before - 1)
    first = max(1, last - wanted.limit + 1)
    catalog = request.engine.database.catalog
    found = [await catalog.find(name, version) for version in range(last, first - 1, -1)]
    rows = [program_row(program) for program in found if program is not None]
    return JsonResponse({"versions": rows, "next": first if first > 1 else None})


@ENDPOINTS.get(_NAMED, "Show a program with its document", ProgramShown, query=ProgramQuery)
async def show(request: ApiRequest) -> JsonResponse:
    wanted = request.query(ProgramQuery)
    return JsonResponse(program_shown(await stored(request, request.path("name"), wanted.version)))


def program_shown(program: StoredProgram) -> Object:
    """A program with its document."""
    more = {"document": program.source, "dialect": program.dialect, "files": dict(program.files)}
    return program_row(program) | more


async def stored(request: ApiRequest, name: str, version: int | None = None) -> StoredProgram:
    """A registered program; ApiError when there is none of this name and version."""
    found = await request.engine.database.catalog.find(name, version)
    if found is None:
        which = f"{name[:80]!r}" if version is None else f"{name[:80]!r} version {version}"
        raise ApiError("not-found", f"no program {which} is registered")
    return found


@ENDPOINTS.post(
    "/check", "Find every problem in a document", list[DocumentFinding], body=CheckRequest
)
async def check(request: ApiRequest) -> JsonResponse:
    """Every finding in a document, as `anew check --json` prints them; errors are findings too."""
    sent = await request.json(CheckRequest)
    compiled = await request.service.compiler.inspect(sent)
    found = in_file_order([*compiled.findings, *(compiled.strict if sent.strict else ())])
    return JsonResponse([finding_row(finding) for finding in found])
